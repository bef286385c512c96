//! Looks whether the file of the store is still where it was opened: a file that was moved away or replaced
//! goes on being written, and what is in it is lost at the end.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::app::App;

const EVERY: Duration = Duration::from_secs(10);

/// Look until `stop`, and say once when it is gone and once when it is back.
pub(crate) async fn run(app: Arc<App>, stop: CancellationToken) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut displaced = false;
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        match app.check_store_file().await {
            Err(error) if !displaced => {
                displaced = true;
                tracing::error!(%error, "the store's file is not where it was opened");
            }
            Ok(()) if displaced => {
                displaced = false;
                tracing::info!("the store's file is where it was opened again");
            }
            _ => {}
        }
    }
}
