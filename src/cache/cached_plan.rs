//! The plan of a link in memory: compiled once, when the link is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::cache::ActiveBlocklist;
use crate::clicks::classify::shared_agent_parser::SharedAgentParser;
use crate::store::{Error, RedirectRow};
use kurz_core::code::canonicalise;
use kurz_core::plan::{
    CompileContext, FAILED_CHECKS_OF_DOWN, Needs, Plan, PlanDefaults, PlanDocument,
};
use kurz_core::time::Timestamp;

/// What all plans are compiled with.
#[derive(Clone, Debug, Default)]
pub struct PlanSettings {
    pub agents: Arc<SharedAgentParser>,
    /// The query parameter by which visitors ask not to be tracked.
    pub no_track_param: Option<String>,
}

/// A compiled plan, and what changes beside it.
#[derive(Debug)]
pub struct CachedPlan {
    pub plan: Plan,
    /// The version of the link.
    pub version: i64,
    pub title: Option<Box<str>>,
    /// Whether the link's target is down.
    pub is_down: bool,
    /// How often the link was followed, as far as this instance knows; counted only with a click limit.
    uses: AtomicU64,
}

/// A plan that was read from the store.
#[derive(Debug)]
pub(super) struct ReadPlan {
    pub(super) plan: Arc<CachedPlan>,
    /// Whether a URL of it is on the block list.
    pub(super) is_blocked: bool,
}

impl CachedPlan {
    /// Whether the click limit is used up, as far as this instance knows.
    pub fn is_used_up(&self) -> bool {
        let limit = self.plan.click_limit();
        limit > 0 && self.uses.load(Ordering::Relaxed) >= limit
    }

    /// The store has counted so many uses.
    pub fn note_uses(&self, uses: u64) {
        self.uses.fetch_max(uses, Ordering::Relaxed);
    }

    pub fn bytes(&self) -> usize {
        size_of::<Self>() - size_of::<Plan>()
            + self.plan.bytes()
            + self.title.as_deref().map_or(0, str::len)
    }
}

impl PlanSettings {
    /// The plan of a link, with what its workspace says; `None` where neither says anything.
    pub(super) async fn read(
        &self,
        row: &RedirectRow,
        blocked: &ActiveBlocklist,
        now: Timestamp,
    ) -> Result<Option<ReadPlan>, Error> {
        if row.plan.is_none() && row.defaults.is_none() {
            return Ok(None);
        }
        let damaged = |error: &dyn std::fmt::Display| {
            metrics::counter!("kurz_links_corrupt_total").increment(1);
            Error::Corrupt(format!("the plan of link {} cannot be used: {error}", row.id))
        };
        let document = match &row.plan {
            Some(stored) => PlanDocument::from_stored(&stored.document, &stored.keys),
            None => Ok(PlanDocument::default()),
        };
        let mut document = document.map_err(|error| damaged(&error))?;
        if let Some(defaults) = &row.defaults {
            let defaults = PlanDefaults::from_json(defaults).map_err(|error| damaged(&error))?;
            document = defaults.complete(&document);
        }
        if document.is_empty() {
            return Ok(None);
        }
        let context = CompileContext {
            link: row.id,
            target: &row.target,
            code: &row.code,
            workspace: &row.workspace,
            no_track: self.no_track_param.as_deref(),
            now,
        };
        let plan = Plan::compile(&document, &context).map_err(|error| damaged(&error))?;
        let mut is_blocked = false;
        for (_, url) in document.urls() {
            let canonical = canonicalise(url).map_err(|error| damaged(&error))?;
            is_blocked |= blocked.covers(canonical.host());
        }
        if plan.needs().has(Needs::AGENT) {
            self.prepare_agents().await;
        }
        let plan = CachedPlan {
            plan,
            version: row.version,
            title: row.title.as_deref().map(Into::into),
            is_down: row.failures >= FAILED_CHECKS_OF_DOWN,
            uses: AtomicU64::new(row.uses),
        };
        Ok(Some(ReadPlan { plan: Arc::new(plan), is_blocked }))
    }

    /// Compile the rules for user agents, which takes longer than a worker may be kept from other requests.
    async fn prepare_agents(&self) {
        if self.agents.is_ready() {
            return;
        }
        let agents = Arc::clone(&self.agents);
        let compiled = tokio::task::spawn_blocking(move || {
            agents.get();
        });
        // If it fails, the worker that needs the rules compiles them.
        let _ = compiled.await;
    }
}
