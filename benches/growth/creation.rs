//! Making links through the library: 64 callers at once, each link durable before it is answered.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kurz::app::LinkRequest;
use kurz::clock::{Clock, Stopwatch};
use kurz::entropy::Entropy;
use kurz::server::run::RunningServer;
use kurz_core::account::Caller;
use tokio::task::JoinSet;

use crate::figures::{Creation, median};
use kurz_test_support::prefilled;

const CALLERS: usize = 64;
/// Links of one caller in a round.
const EACH: usize = 250;
const ROUNDS: usize = 5;
/// Far from the numbers of the links that are there.
const FIRST: usize = 1_000_000_000;

pub(crate) fn measure(file: &Path) -> Creation {
    let runtime = prefilled::runtime();
    let creation = runtime.block_on(async {
        let program =
            RunningServer::start(&prefilled::config(file), Clock::system(), Entropy::os())
                .await
                .unwrap();
        // The first round reads from disk what is cached later.
        let mut rounds = Vec::new();
        for number in 0..=ROUNDS {
            rounds.push(round(&program, number).await);
        }
        program.shutdown().await.unwrap();
        let rates = rounds.iter().skip(1).map(|(rate, _)| *rate).collect();
        let costs = rounds.iter().skip(1).map(|(_, cost)| *cost).collect();
        Creation { per_second: median(rates), cpu_us: median(costs) }
    });
    runtime.shutdown_timeout(Duration::from_secs(5));
    creation
}

/// Links a second, and CPU time of the whole process in microseconds a link.
async fn round(program: &RunningServer, number: usize) -> (f64, f64) {
    let mut callers = JoinSet::new();
    let cpu = cpu_ms();
    let watch = Stopwatch::start();
    for caller in 0..CALLERS {
        let app = Arc::clone(program.app());
        callers.spawn(async move {
            let workspace = prefilled::workspace();
            for link in 0..EACH {
                let at = FIRST + (number * CALLERS + caller) * EACH + link;
                let request =
                    LinkRequest { original_url: prefilled::url(at), ..LinkRequest::default() };
                let created = app.create_link(&Caller::OPEN, &workspace, &request).await;
                assert!(created.unwrap().is_new);
            }
        });
    }
    callers.join_all().await;
    let links = (CALLERS * EACH) as f64;
    (links / watch.elapsed().as_secs_f64(), (cpu_ms() - cpu) * 1e3 / links)
}

/// CPU time of all threads of this process.
fn cpu_ms() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let rest = stat.rsplit_once(") ").map(|(_, rest)| rest).unwrap_or_default();
    // User and system time, in ticks of 10 ms.
    let ticks = rest.split(' ').skip(11).take(2).map(|field| field.parse::<f64>().unwrap());
    ticks.sum::<f64>() * 10.0
}
