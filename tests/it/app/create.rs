//! Creators on many instances that are killed again and again: what was acknowledged is there, under
//! its own code, and nobody else's.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::{join, join_all};
use kurz_test_support::http::Http;
use kurz_test_support::instances::Instances;
use kurz_test_support::servers::Redis;
use kurz_test_support::{TestServer, links};
use reqwest::Method;
use serde_json::{Value, json};

const CREATORS: usize = 64;
const KILLS: usize = 20;

/// An acknowledged link: workspace, code, target and strategy.
type LinkOrigin = (String, String, String, String);

/// Make links by every strategy until `stop`.
async fn create(
    number: usize,
    clients: Arc<Mutex<Vec<Http>>>,
    stop: Arc<AtomicBool>,
) -> Vec<LinkOrigin> {
    let mut made = Vec::new();
    for round in 0_usize.. {
        if stop.load(Ordering::Acquire) {
            break;
        }
        let http = clients.lock().unwrap()[(number + round) % 3].clone();
        let own = format!("https://example.com/{number}/{round}");
        // The same URL for all of them, a few hundred times over.
        let same = format!("https://example.com/same/{}", round / 8);
        let (workspace, target, strategy) = match round % 6 {
            0 => ("team", &same, "deterministic"),
            1 => ("team", &own, "deterministic"),
            2 | 3 => ("main", &own, "counter"),
            4 => ("main", &own, "random"),
            _ => ("team", &own, "custom"),
        };
        let mut body = json!({ "original_url": target, "strategy": strategy });
        if strategy == "custom" {
            body["custom_code"] = json!(format!("c-{number}-{round}"));
        }
        let answer = http.try_send(Method::POST, &links::path(workspace), Some(&body)).await;
        // Without an answer nobody knows, and nothing was promised.
        let Ok(answer) = answer else { continue };
        if answer.status == 503 {
            continue;
        }
        assert!([200, 201].contains(&answer.status), "{}: {}", answer.status, answer.text());
        let link: Value = answer.json();
        assert_eq!(link["original_url"], **target);
        let code = links::code(&link).to_owned();
        made.push((workspace.to_owned(), code, target.clone(), strategy.to_owned()));
    }
    made
}

// threats: F1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_kills_of_instances_and_no_code_is_given_twice() {
    let redis = Redis::start();
    let mut instances = TestServer::builder().redis(&redis.url()).start_instances(3);
    let clients = |instances: &Instances| (0..3).map(|at| instances.http(at)).collect::<Vec<_>>();
    let shared = Arc::new(Mutex::new(clients(&instances)));
    let stop = Arc::new(AtomicBool::new(false));
    let creating = join_all((0..CREATORS).map(|number| {
        let (shared, stop) = (Arc::clone(&shared), Arc::clone(&stop));
        tokio::runtime::Handle::current().spawn(create(number, shared, stop))
    }));
    let killing = async {
        for kill in 0..KILLS {
            tokio::time::sleep(Duration::from_millis(100)).await;
            tokio::task::block_in_place(|| {
                instances.kill(kill % 3);
                instances.start_one(kill % 3);
            });
            *shared.lock().unwrap() = clients(&instances);
        }
        stop.store(true, Ordering::Release);
    };
    let (made, ()) = join(creating, killing).await;
    let made: Vec<LinkOrigin> = made.into_iter().flat_map(Result::unwrap).collect();
    eprintln!("{} acknowledged links over {KILLS} kills", made.len());
    assert!(made.len() > 20 * KILLS, "only {} links", made.len());

    let mut targets: HashMap<(&str, &str), &str> = HashMap::new();
    let mut codes: HashMap<&str, &str> = HashMap::new();
    for (workspace, code, target, strategy) in &made {
        let before = targets.insert((workspace, code), target);
        assert!(before.is_none_or(|before| before == target), "{code} leads to two places");
        if strategy == "deterministic" {
            let before = codes.insert(target, code);
            assert!(before.is_none_or(|before| before == code), "{target} has two codes");
        }
    }
    let http = instances.http(0);
    let there = targets.iter().map(|((workspace, code), target)| {
        let (http, path) = (http.clone(), format!("{}/{code}", links::path(workspace)));
        async move { (http.get(&path).await.expect(200).json()["original_url"] == **target, path) }
    });
    let there: Vec<_> = there.collect();
    let mut all = Vec::new();
    for part in chunks(there, 64) {
        all.extend(join_all(part).await);
    }
    for (right, path) in all {
        assert!(right, "{path} leads elsewhere");
    }
}

fn chunks<T>(all: Vec<T>, size: usize) -> Vec<Vec<T>> {
    let mut parts: Vec<Vec<T>> = Vec::new();
    for one in all {
        match parts.last_mut().filter(|part| part.len() < size) {
            Some(part) => part.push(one),
            None => parts.push(vec![one]),
        }
    }
    parts
}
