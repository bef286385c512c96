//! Copies events to ClickHouse: every second what waits, every minute what was deleted or narrowed, and every hour
//! it compares what is there with the store. While ClickHouse is away it tries ever more rarely.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use crate::app::{App, CopyCheck, CopyError};

const EVERY: Duration = Duration::from_secs(1);
const TASKS_EVERY: Duration = Duration::from_mins(1);
const DAYS_EVERY: Duration = Duration::from_hours(1);
/// How long no other instance looks after one did: less than the interval, so that it is not missed.
const LOCK_AT_LEAST: Duration = Duration::from_secs(50);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// How long the end of the process waits for the last blocks.
const AT_THE_END: Duration = Duration::from_secs(2);

/// Copy until `stop`.
pub(crate) async fn run(app: Arc<App>, stop: CancellationToken) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut due = LookTimes { tasks: Instant::now(), days: None };
    let mut pause = Duration::ZERO;
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        let copying = copy(&app, &mut due, &stop);
        // ClickHouse itself says in the log when it fails, once.
        match stop.run_until_cancelled(copying).await {
            None => break,
            Some(Ok(())) => pause = Duration::ZERO,
            Some(Err(error)) => {
                tracing::debug!(%error, "events were not copied to ClickHouse");
                pause = (pause * 2).clamp(EVERY, LONGEST_PAUSE);
                let waited = stop.run_until_cancelled(tokio::time::sleep(pause)).await;
                if waited.is_none() {
                    break;
                }
            }
        }
    }
    let _ = timeout(AT_THE_END, app.copy_waiting_events()).await;
}

/// When something was looked at for the last time.
struct LookTimes {
    tasks: Instant,
    days: Option<Instant>,
}

async fn copy(app: &App, due: &mut LookTimes, stop: &CancellationToken) -> Result<(), CopyError> {
    app.copy_waiting_events().await?;
    if due.tasks.elapsed() < TASKS_EVERY {
        return Ok(());
    }
    let days = due.days.is_none_or(|last| last.elapsed() >= DAYS_EVERY);
    let check = if days { CopyCheck::Days } else { CopyCheck::Tasks };
    let is_done = app.check_copies(check, LOCK_AT_LEAST, stop).await?;
    due.tasks = Instant::now();
    if days && is_done {
        due.days = Some(due.tasks);
    }
    Ok(())
}
