//! ClickHouse, if events are copied there: does it answer, and has it a table for them?

use super::Finding;
use crate::clickhouse::{ClickHouse, ClickHouseError};
use crate::config::{ClickHouseUrl, Config};

const CHECK: &str = "clickhouse";

pub(super) async fn check(config: &Config) -> Option<Finding> {
    let url = config.analytics.clickhouse.as_ref()?;
    Some(look(url, config).await.unwrap_or_else(|error| {
        let detail = format!(
            "{url}: {error}; check that it runs and that KURZ_CLICKHOUSE names it, with a user and a database"
        );
        Finding::problem(CHECK, detail)
    }))
}

async fn look(url: &ClickHouseUrl, config: &Config) -> Result<Finding, ClickHouseError> {
    let clickhouse = ClickHouse::new(url, config.store.tls_ca.as_deref())?;
    let version = clickhouse.version().await?;
    Ok(if clickhouse.has_table().await? {
        Finding::ok(CHECK, format!("ClickHouse {version} at {url} answers"))
    } else {
        let detail = "has no table for events yet: `kurz migrate` or the next start makes it";
        Finding::warning(CHECK, format!("ClickHouse {version} at {url} {detail}"))
    })
}
