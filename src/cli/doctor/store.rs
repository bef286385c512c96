//! The store: is it there, does it answer, is it up to date and complete? It is opened only when
//! opening changes nothing.

use super::Finding;
use crate::config::StoreConfig;
use crate::store::{self, Error, ListedPlan, SchemaState, Store};
use kurz_core::link::LinkId;
use kurz_core::plan::{CompileContext, Plan, PlanDocument};
use kurz_core::time::Timestamp;

/// Plans that are read at a time.
const PLANS_AT_ONCE: i64 = 1_000;

const CHECK: &str = "store";

/// The findings, and the store if it can be opened.
pub(super) async fn check(config: &StoreConfig) -> (Option<Store>, Vec<Finding>) {
    let url = &config.url;
    match Store::inspect(config).await {
        Err(error) => (None, vec![Finding::problem(CHECK, error)]),
        Ok(SchemaState::Missing) => {
            let detail =
                format!("the store {url} is empty: `kurz serve` fills it at its first start");
            (None, vec![Finding::ok(CHECK, detail)])
        }
        Ok(SchemaState::Behind(steps)) => {
            let steps = steps.join(", ");
            let detail = format!(
                "the tables of {url} are behind this version ({steps}): make a backup, then run \
                 `kurz migrate`, or start `kurz serve`, which does the same"
            );
            (None, vec![Finding::warning(CHECK, detail)])
        }
        Ok(SchemaState::Current) => match open(config).await {
            Ok((store, finding)) => (Some(store), vec![finding]),
            Err(error) => (None, vec![Finding::problem(CHECK, error)]),
        },
    }
}

async fn open(config: &StoreConfig) -> Result<(Store, Finding), Error> {
    let url = &config.url;
    let store = Store::open(config).await?;
    store.ping().await?;
    let finding = if store.has_unfinished_copy().await? {
        let detail =
            format!("the store {url} holds an unfinished copy: run the same `kurz copy` again");
        Finding::problem(CHECK, detail)
    } else {
        look_through(config, &store).await?
    };
    Ok((store, finding))
}

/// Every page of a file, and every link of either database.
async fn look_through(config: &StoreConfig, store: &Store) -> Result<Finding, Error> {
    let url = &config.url;
    store::verify(url, u64::MAX)?;
    let mut damaged = store.list_damaged().await?;
    damaged.extend(list_unusable_plans(store).await?);
    damaged.sort_unstable();
    damaged.dedup();
    if damaged.is_empty() {
        return Ok(Finding::ok(
            CHECK,
            format!("the store {url} answers and is up to date, and is whole"),
        ));
    }
    let numbers: Vec<String> = damaged.iter().map(ToString::to_string).collect();
    let detail = format!(
        "links in {url} are not what was stored (number {}): restore a backup (`kurz backup --help` \
         says how), and look at the disk",
        numbers.join(", ")
    );
    Ok(Finding::problem(CHECK, detail))
}

/// Links whose plans cannot be compiled: visitors get 503.
async fn list_unusable_plans(store: &Store) -> Result<Vec<LinkId>, Error> {
    let (mut found, mut after) = (Vec::new(), LinkId(i64::MIN));
    loop {
        let plans = store.list_plans(after, PLANS_AT_ONCE).await?;
        let Some(last) = plans.last() else { return Ok(found) };
        after = last.link;
        let is_unusable = |listed: &&ListedPlan| {
            let ListedPlan { link, workspace, code, target, plan } = *listed;
            let now = Timestamp::from_ms(0);
            let (link, no_track) = (*link, None);
            let context = CompileContext { link, target, code, workspace, no_track, now };
            let document = PlanDocument::from_stored(&plan.document, &plan.keys);
            document.is_err()
                || document.is_ok_and(|document| Plan::compile(&document, &context).is_err())
        };
        found.extend(plans.iter().filter(is_unusable).map(|listed| listed.link));
    }
}
