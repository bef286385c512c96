//! Sync: a link in `main` for each URL of a user's list. A URL that an earlier sync made a link for gets no second
//! one, also when two calls with the same list run at the same time.

use crate::app::links::create::{LinkRequest, maker};
use crate::app::links::draft::Draft;
use crate::app::workspaces::main_id;
use crate::app::{App, AppError};
use crate::store::{SyncOutcome, SyncedLink};
use kurz_core::account::{Caller, Refused};
use kurz_core::link::LinkId;

/// Rounds after which a list whose codes or URLs are taken again and again is given up.
const ROUNDS: u32 = 24;

impl App {
    /// Make the links that are missing, all or none; how many that were.
    pub async fn sync_links(
        &self,
        caller: &Caller,
        requests: &[LinkRequest],
    ) -> Result<usize, AppError> {
        let user = caller.owner().ok_or(Refused::Unauthenticated)?;
        let entry = self.enter_to_create(caller, &main_id()).await?;
        let maker = maker(caller, &entry);
        let now = self.parts.clock.now();
        let mut drafts = Vec::with_capacity(requests.len());
        for (at, request) in requests.iter().enumerate() {
            let draft = Draft::check(self, &maker, request, now)
                .map_err(|why| AppError::BatchRefused { at, why: Box::new(why) })?;
            drafts.push((draft.url_hash(), draft));
        }
        // In the order of their keys, so that two transactions want the same rows in the same order.
        drafts.sort_by_key(|(hash, _)| *hash);
        drafts.dedup_by_key(|(hash, _)| *hash);
        let asked = drafts.len();
        let admitted = self.admit_links(caller, asked)?;
        let made = self.insert_missing(user, &mut drafts).await;
        admitted.settle_count(asked, *made.as_ref().unwrap_or(&0));
        made
    }

    async fn insert_missing(
        &self,
        user: kurz_core::account::UserId,
        drafts: &mut Vec<([u8; 32], Draft)>,
    ) -> Result<usize, AppError> {
        let ids = self.link_ids.take(&self.parts.store, drafts.len()).await?;
        for ((_, draft), id) in drafts.iter_mut().zip(ids) {
            draft.link.id = LinkId(id);
            draft.next_code(self, false).await?;
        }
        let now = self.parts.clock.latest(self.parts.clock.now());
        for _ in 0..ROUNDS {
            if drafts.is_empty() {
                return Ok(0);
            }
            let links: Vec<SyncedLink<'_>> = drafts
                .iter()
                .map(|(url_hash, draft)| SyncedLink { link: &draft.link, url_hash: *url_hash })
                .collect();
            match self.parts.store.insert_synced(user, &links, now).await? {
                SyncOutcome::Stored(placed) => {
                    for (_, draft) in drafts.iter() {
                        let link = &draft.link;
                        // A visitor may have asked for the address before there was a link.
                        self.invalidate_redirects(link.workspace.as_str(), link.code.as_str());
                    }
                    return Ok(placed.len());
                }
                SyncOutcome::NoUser => return Err(Refused::Unauthenticated.into()),
                SyncOutcome::Undone { known, clashed } => {
                    for at in clashed.into_iter().filter(|at| !known.contains(at)) {
                        if let Some((_, draft)) = drafts.get_mut(at) {
                            draft.next_code(self, true).await?;
                        }
                    }
                    let mut at = 0;
                    drafts.retain(|_| {
                        at += 1;
                        !known.contains(&(at - 1))
                    });
                }
            }
        }
        Err(AppError::NoFreeCode(ROUNDS))
    }
}
