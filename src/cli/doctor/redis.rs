//! Redis, if there is one: does it answer, and will it keep what is counted there?

use super::Finding;
use crate::config::Config;
use crate::redis::Redis;

const CHECK: &str = "redis";

pub(super) async fn check(config: &Config) -> Vec<Finding> {
    let Some(url) = &config.redis.url else { return Vec::new() };
    let redis = Redis::new(url.clone(), config.store.tls_ca.clone());
    let connected = redis.connect("kurz:doctor").await;
    let worries = match connected {
        Ok(_) => redis.worries().await,
        Err(error) => Err(error),
    };
    match worries {
        Err(error) => {
            let detail = format!("{url}: {error}; check that it runs and that KURZ_REDIS names it");
            vec![Finding::problem(CHECK, detail)]
        }
        Ok(worries) if worries.is_empty() => {
            vec![Finding::ok(CHECK, format!("Redis at {url} answers"))]
        }
        Ok(worries) => worries.into_iter().map(|worry| Finding::warning(CHECK, worry)).collect(),
    }
}
