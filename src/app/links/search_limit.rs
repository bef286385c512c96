//! How many searches run at the same time, for each account and in all. Further ones are refused: a search
//! costs more than any other read, and none of them may slow down redirects.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::app::AppError;
use kurz_core::account::UserId;

/// Accounts that are remembered before those without a search are forgotten.
const ACCOUNTS: usize = 1000;

/// How long a search waits for its turn.
const PATIENCE: Duration = Duration::from_secs(1);

/// Numbers of searches at the same time; 0: any number.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchLimitSettings {
    pub in_all: u32,
    pub per_account: u32,
}

#[derive(Debug)]
pub struct SearchLimit {
    in_all: Arc<Semaphore>,
    per_account: usize,
    patience: Duration,
    accounts: Mutex<HashMap<UserId, Arc<Semaphore>>>,
}

/// A search that is allowed to run, while this is held.
#[derive(Debug)]
pub(crate) struct RunningSearch {
    _in_all: OwnedSemaphorePermit,
    _of_account: Option<OwnedSemaphorePermit>,
}

impl SearchLimit {
    pub fn new(settings: SearchLimitSettings) -> Self {
        Self {
            in_all: Arc::new(Semaphore::new(count(settings.in_all))),
            per_account: count(settings.per_account),
            patience: PATIENCE,
            accounts: Mutex::default(),
        }
    }

    /// Begin a search of an account, or of somebody without one; refused when its turn does not come soon.
    /// Waiting also slows down clients that ask again and again: a refusal at once would cost the
    /// processor as much as they can send.
    pub(crate) async fn begin(&self, account: Option<UserId>) -> Result<RunningSearch, AppError> {
        timeout(self.patience, self.wait(account)).await.map_err(|_| AppError::TooManySearches)?
    }

    /// The same for somebody who waits for as long as it takes: an export.
    pub(crate) async fn wait(&self, account: Option<UserId>) -> Result<RunningSearch, AppError> {
        let closed = |_| AppError::TooManySearches;
        let of_account = match account.map(|account| self.account(account)) {
            Some(account) => Some(account.acquire_owned().await.map_err(closed)?),
            None => None,
        };
        let in_all = Arc::clone(&self.in_all).acquire_owned().await.map_err(closed)?;
        Ok(RunningSearch { _in_all: in_all, _of_account: of_account })
    }

    fn account(&self, account: UserId) -> Arc<Semaphore> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if accounts.len() >= ACCOUNTS {
            // One that is held elsewhere has a search, or is about to.
            accounts.retain(|_, searches| Arc::strong_count(searches) > 1);
        }
        let new = || Arc::new(Semaphore::new(self.per_account));
        Arc::clone(accounts.entry(account).or_insert_with(new))
    }
}

fn count(limit: u32) -> usize {
    match limit {
        0 => Semaphore::MAX_PERMITS,
        limit => usize::try_from(limit).unwrap_or(Semaphore::MAX_PERMITS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(in_all: u32, per_account: u32) -> SearchLimit {
        let limit = SearchLimit::new(SearchLimitSettings { in_all, per_account });
        SearchLimit { patience: Duration::ZERO, ..limit }
    }

    #[tokio::test]
    async fn searches_are_limited_by_account_and_in_all() {
        let limit = limit(3, 2);
        let (ada, bob) = (Some(UserId(1)), Some(UserId(2)));
        let first = limit.begin(ada).await.unwrap();
        let _second = limit.begin(ada).await.unwrap();
        assert!(matches!(limit.begin(ada).await, Err(AppError::TooManySearches)));
        let _third = limit.begin(bob).await.unwrap();
        assert!(
            limit.begin(bob).await.is_err() && limit.begin(None).await.is_err(),
            "three in all"
        );
        drop(first);
        limit.begin(ada).await.unwrap();
        let unlimited = self::limit(0, 0);
        let all = futures_util::future::join_all((0..30).map(|_| unlimited.begin(ada))).await;
        assert!(all.iter().all(Result::is_ok));
    }

    #[tokio::test]
    async fn accounts_without_a_search_are_forgotten() {
        let limit = limit(0, 1);
        let running = limit.begin(Some(UserId(0))).await.unwrap();
        for id in 1..5000 {
            limit.begin(Some(UserId(id))).await.unwrap();
        }
        assert!(limit.accounts.lock().unwrap().len() <= ACCOUNTS);
        assert!(limit.begin(Some(UserId(0))).await.is_err(), "one that searches is not forgotten");
        drop(running);
    }

    #[tokio::test]
    async fn an_export_waits_for_its_turn() {
        let limit = limit(1, 1);
        let running = limit.begin(None).await.unwrap();
        let mut waiting = Box::pin(limit.wait(Some(UserId(1))));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        drop(running);
        waiting.await.unwrap();
    }
}
