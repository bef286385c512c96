//! One link at a time, by many concurrent callers: through the library, and over HTTP.

use std::sync::Arc;

use kurz::app::{App, LinkRequest};
use kurz::clock::Stopwatch;
use kurz_core::account::Caller;
use kurz_core::link::Strategy;
use tokio::task::JoinSet;

use crate::figures::{Table, rate};
use crate::stores::{Kind, Kurz, Place};
use crate::{ROUNDS, cpu, http, input};

const CREATORS: usize = 64;
/// Links of one creator in a round.
const EACH: usize = 250;
const STRATEGIES: [Strategy; 4] =
    [Strategy::Deterministic, Strategy::Random, Strategy::Counter, Strategy::Custom];
/// The durable rate of the fastest other shortener over HTTP, with as many connections.
const PEER: f64 = 2_936.0;

pub(crate) async fn run(place: &Place, kinds: &[Kind]) {
    let mut rates = Table::new(STRATEGIES.map(Strategy::as_str));
    let mut costs = Table::new(STRATEGIES.map(Strategy::as_str));
    for round in 0..ROUNDS {
        let mut stores = Vec::new();
        for kind in kinds {
            stores.push((*kind, place.fresh(*kind, &format!("single{round}")).await));
        }
        // Each strategy begins some round, on the smallest tables.
        let order = (0..STRATEGIES.len()).cycle().skip(round).take(STRATEGIES.len());
        for column in order {
            let strategy = STRATEGIES.get(column).copied().expect("it is one of them");
            for (kind, kurz) in &stores {
                let requests: Vec<_> =
                    (0..CREATORS).map(|_| input::requests(strategy, EACH)).collect();
                let library = through_library(kurz.app(), &requests, true).await;
                let repeats = match strategy {
                    Strategy::Deterministic | Strategy::Custom => {
                        Some(through_library(kurz.app(), &requests, false).await)
                    }
                    Strategy::Random | Strategy::Counter => None,
                };
                let (http, cpu_us) = over_http(kurz, strategy).await;
                let name = kind.name();
                rates.add(&format!("{name}, library, links/s"), column, library);
                rates.add(&format!("{name}, HTTP, links/s"), column, http);
                if let Some(repeats) = repeats {
                    rates.add(
                        &format!("{name}, library, the same again, links/s"),
                        column,
                        repeats,
                    );
                    rates.add(&format!("{name}, library, × first time"), column, repeats / library);
                }
                costs.add(&format!("{name}, server CPU, µs a request"), column, cpu_us);
                if *kind == Kind::Sqlite {
                    rates.add("SQLite, HTTP, × chhoto-url's 2,936/s", column, http / PEER);
                }
            }
        }
        for (_, kurz) in stores {
            kurz.stop().await;
        }
    }
    let links = 2 * CREATORS * EACH * STRATEGIES.len();
    println!("Single creation, {CREATORS} creators, {links} links a round\n\n{}", rates.text());
    println!("Over HTTP (without PostgreSQL's own processes)\n\n{}", costs.text());
}

/// Links a second: new ones, or those that exist.
async fn through_library(app: &Arc<App>, requests: &[Vec<LinkRequest>], are_new: bool) -> f64 {
    let requests = requests.to_vec();
    let watch = Stopwatch::start();
    let mut creators = JoinSet::new();
    for requests in requests {
        let app = Arc::clone(app);
        creators.spawn(async move {
            let workspace = input::workspace();
            for request in &requests {
                let created = app.create_link(&Caller::OPEN, &workspace, request).await;
                assert_eq!(created.expect("the request is sound").is_new, are_new);
            }
        });
    }
    creators.join_all().await;
    rate(CREATORS * EACH, watch.elapsed())
}

/// Links a second, and the server's CPU time in microseconds a request.
async fn over_http(kurz: &Kurz, strategy: Strategy) -> (f64, f64) {
    let mut clients = Vec::new();
    for _ in 0..CREATORS {
        let requests = input::requests(strategy, EACH);
        let requests = requests.iter().map(http::create).collect::<Vec<_>>();
        clients.push((http::Client::connect(kurz.address()).await, requests));
    }
    let cpu = cpu::server();
    let watch = Stopwatch::start();
    let mut creators = JoinSet::new();
    for (mut client, requests) in clients {
        creators.spawn(async move {
            for request in &requests {
                client.send(request).await;
            }
        });
    }
    creators.join_all().await;
    let took = watch.elapsed();
    let cpu = cpu::server().saturating_sub(cpu);
    (rate(CREATORS * EACH, took), 1e6 / rate(CREATORS * EACH, cpu))
}
