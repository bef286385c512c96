//! Links and hosts in memory, in front of the store: bounded, one load at a time per key, with negative
//! entries so that scans do not reach the store.
//!
//! - [`LinkCache`]: links by address key, for redirects; [`NearCache`]: the copy of one worker.
//! - [`CachedLink`]: one link with its answer and its [`CachedCounters`]; [`CachedPlan`]: its plan, if it has one.
//! - [`ReuseCache`]: links by what a creation asks for, so that repeating it needs no transaction.
//! - [`Hosts`]: hosts of workspaces. [`ActiveBlocklist`]: hosts that no link leads to.

mod active_blocklist;
mod cached_link;
mod cached_plan;
mod generation;
mod hosts;
mod links;
mod near;
mod reuse;

pub(crate) use active_blocklist::ActiveBlocklist;
pub(crate) use cached_link::{CachedLink, CachedLinkFields};
pub(crate) use cached_plan::{CachedPlan, PlanSettings};
pub(crate) use generation::Generation;
pub(crate) use generation::GenerationCache;
pub(crate) use hosts::Hosts;
pub(crate) use links::{Found, LinkCache, LinkCacheSizes, LinkDefaults};
pub(crate) use near::{CacheLookups, NearCache};
pub(crate) use reuse::{ReusableLink, ReuseCache};

use std::sync::Arc;

use crate::quota::LinkReservation;

/// The counters of a link, whose reservation redirects can wait for.
pub(crate) type CachedCounters = kurz_core::counters::LinkCounters<Arc<LinkReservation>>;
