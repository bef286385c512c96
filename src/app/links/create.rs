//! Making links: one or a thousand, the same way.
//!
//! Each draft tries its code; the store's unique indexes decide. A draft that found its code or its
//! URL taken looks at who has it: the same link (then that one is the answer), a dead link of the
//! same URL (then it comes back), or another link (then the next code is tried). All that are
//! left try again together, a bounded number of times.

use std::collections::HashMap;

use crate::app::links::draft::{Draft, Maker};
use crate::app::links::reuse::{CheckedDrafts, Repeated};
use crate::app::workspaces::{EnteredWorkspace, main_id};
use crate::app::{App, AppError, MAIN, ShownLink};
use crate::cache::Generation;
use crate::store::{Error, Inserted, InsertedLink, MonthlyLinkLimit, NewLink, Workspace};
use kurz_core::account::{Caller, Reach, Refused};
use kurz_core::code::{Code, WorkspaceId};
use kurz_core::link::{Link, LinkFieldChanges, LinkId, LinkOrigin, Month, Status, Strategy};
use kurz_core::plan::PlanChanges;
use kurz_core::time::Timestamp;

/// Rounds after which a batch that still finds its codes taken is given up: more than any strategy
/// has attempts, with room for races.
const ROUNDS: u32 = 24;

#[derive(Clone, Debug, Default)]
pub struct LinkRequest {
    pub original_url: String,
    /// A code of the caller's choice.
    pub custom_code: Option<String>,
    /// How to make the code, if not as the workspace does.
    pub strategy: Option<Strategy>,
    /// How long a random code is, if not as the server says.
    pub length: Option<u8>,
    pub fields: LinkFieldChanges,
    /// The fields of its plan.
    pub plan: PlanChanges,
}

/// A link that was asked for.
#[derive(Clone, Debug)]
pub struct Created {
    pub link: ShownLink,
    /// Whether it was made just now.
    pub is_new: bool,
    /// What makes it somebody's own, if it is nobody's. Shown this once.
    pub claim_token: Option<String>,
}

/// A link that counted against a monthly limit.
#[derive(Clone, Debug)]
pub struct Metered {
    pub created: Created,
    /// How many links the user may make in a month; `None`: any number.
    pub limit: Option<i64>,
    /// How many of them are left.
    pub left: Option<i64>,
}

/// Where a request of a batch stands.
enum Slot {
    Pending(Box<Draft>),
    /// Asks for a chosen code that an earlier one of the batch asks for as well: what becomes of
    /// that one decides.
    Waiting(Box<Draft>, usize),
    /// The same as an earlier one of the batch.
    SameAs(usize),
    /// The link, and the claim token if it is new and nobody's.
    Done(Box<Link>, bool, Option<String>),
    Refused(AppError),
}

impl App {
    /// Make one link. Without an account: in `main`, for some hours, with a token to claim it.
    pub async fn create_link(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        request: &LinkRequest,
    ) -> Result<Created, AppError> {
        let requests = std::slice::from_ref(request);
        let none = Err(AppError::NoFreeCode(0));
        let checked = match self.repeat(caller, workspace, requests).await? {
            Repeated::Known(mut created) => return created.pop().map_or(none, Ok),
            Repeated::Unknown(checked) => checked,
        };
        let entry = self.enter_to_create(caller, workspace).await?;
        let admitted = self.admit_links(caller, 1)?;
        let made = self.make(&maker(caller, &entry), requests, checked, false, None).await;
        admitted.settle(1, &made);
        made?.pop().unwrap_or(none)
    }

    /// Make one link in `main` that counts against the user's links of the month.
    pub async fn create_metered_link(
        &self,
        caller: &Caller,
        request: &LinkRequest,
    ) -> Result<Metered, AppError> {
        if caller.is_anonymous() {
            return Err(Refused::Unauthenticated.into());
        }
        let entry = self.enter_to_create(caller, &main_id()).await?;
        let limit = Some(self.parts.policy.user_link_limit).filter(|limit| *limit > 0);
        let month = Month::of(self.parts.clock.now());
        let meter =
            limit.zip(caller.owner()).map(|(limit, user)| MonthlyLinkLimit { user, month, limit });
        let maker = maker(caller, &entry);
        let admitted = self.admit_links(caller, 1)?;
        let requests = std::slice::from_ref(request);
        let made = self.make(&maker, requests, CheckedDrafts::default(), false, meter).await;
        admitted.settle(1, &made);
        let created = made?.pop().unwrap_or(Err(AppError::NoFreeCode(0)))?;
        let left = match meter {
            None => None,
            Some(MonthlyLinkLimit { user, month, limit }) => {
                Some((limit - self.parts.store.links_in_month(user, month).await?).max(0))
            }
        };
        Ok(Metered { created, limit: meter.map(|meter| meter.limit), left })
    }

    /// Make links; for each its own result, in order. With `all_or_none` nothing is stored unless
    /// every one succeeds, and the first refusal is the answer for all. A workspace that does not
    /// exist is made with its first link: the way of open servers.
    pub async fn create_links(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        requests: &[LinkRequest],
        all_or_none: bool,
    ) -> Result<Vec<Result<Created, AppError>>, AppError> {
        let checked = match self.repeat(caller, workspace, requests).await? {
            Repeated::Known(created) => return Ok(created.into_iter().map(Ok).collect()),
            Repeated::Unknown(checked) => checked,
        };
        let entry = self.enter_to_create(caller, workspace).await?;
        if entry.reach == Reach::Nobodys {
            return Err(Refused::Unauthenticated.into());
        }
        let admitted = self.admit_links(caller, requests.len())?;
        let made = self.make(&maker(caller, &entry), requests, checked, all_or_none, None).await;
        admitted.settle(requests.len(), &made);
        made
    }

    async fn make(
        &self,
        maker: &Maker<'_>,
        requests: &[LinkRequest],
        checked: CheckedDrafts,
        all_or_none: bool,
        meter: Option<MonthlyLinkLimit>,
    ) -> Result<Vec<Result<Created, AppError>>, AppError> {
        let requests = &*self.hash_passwords(requests).await?;
        let now = self.parts.clock.now();
        let generation = self.parts.reuse.generation();
        let drafts = checked.in_workspace(maker.workspace);
        let rest = requests.iter().skip(drafts.len());
        let rest = rest.map(|request| Draft::check(self, maker, request, now));
        let slot = |draft| match draft {
            Ok(draft) => Slot::Pending(Box::new(draft)),
            Err(error) => Slot::Refused(error),
        };
        let mut slots: Vec<Slot> = drafts.into_iter().chain(rest).map(slot).collect();
        for slot in &mut slots {
            if let Slot::Pending(draft) = slot
                && let Err(error) =
                    self.check_visitor_rules(&maker.workspace.id, draft.link.plan.as_ref()).await
            {
                *slot = Slot::Refused(error);
            }
        }
        let pending = slots.iter().filter(|slot| matches!(slot, Slot::Pending(_))).count();
        if pending == 0 || (all_or_none && pending < slots.len()) {
            return self.results(maker.workspace, slots, all_or_none);
        }
        if !maker.exists {
            self.ensure_workspace(&maker.workspace.id).await?;
        }
        let ids = self.link_ids.take(&self.parts.store, requests.len()).await?;
        for (slot, id) in slots.iter_mut().zip(ids) {
            if let Slot::Pending(draft) = slot {
                draft.link.id = LinkId(id);
                if let Err(error) = draft.next_code(self, false).await {
                    *slot = Slot::Refused(error);
                }
            }
        }
        for _ in 0..ROUNDS {
            self.part_twins(&mut slots, all_or_none).await;
            let refused = slots.iter().any(|slot| matches!(slot, Slot::Refused(_)));
            if all_or_none && refused {
                break;
            }
            if !self.store_pending(&mut slots, all_or_none, meter).await? {
                break;
            }
        }
        self.remember(generation, &slots);
        self.results(maker.workspace, slots, all_or_none)
    }

    /// Keep what may be asked for again under the same code.
    fn remember(&self, generation: Generation, slots: &[Slot]) {
        for slot in slots {
            if let Slot::Done(link, ..) = slot
                && matches!(link.strategy, Strategy::Deterministic | Strategy::Custom)
            {
                self.parts.reuse.keep(generation, Link::clone(link));
            }
        }
    }

    /// Of two drafts of a batch that ask for the same code, let one go first. Where it is all or
    /// none, two URLs for one chosen code are one too many whatever becomes of the first.
    async fn part_twins(&self, slots: &mut [Slot], all_or_none: bool) {
        let mut codes: HashMap<Code, usize> = HashMap::new();
        for at in 0..slots.len() {
            while let Some(Slot::Pending(draft)) = slots.get(at) {
                let Some(&first) = codes.get(draft.code()) else {
                    codes.insert(draft.code().clone(), at);
                    break;
                };
                let same = match slots.get(first) {
                    Some(Slot::Pending(other)) => {
                        // Of two with plans the second is refused: they may differ.
                        draft.link.plan.is_none()
                            && draft.would_be(&other.link.canonical_hash, &other.link.target)
                    }
                    _ => false,
                };
                let Some(slot) = slots.get_mut(at) else { break };
                let Slot::Pending(draft) = slot else { break };
                if same {
                    *slot = Slot::SameAs(first);
                } else if draft.link.strategy == Strategy::Custom && !all_or_none {
                    *slot = Slot::Waiting(draft.clone(), first);
                } else if let Err(error) = draft.next_code(self, true).await {
                    *slot = Slot::Refused(error);
                }
            }
        }
    }

    /// One round: store what is pending, and look into what was in the way. `false` when nothing
    /// is pending any more.
    async fn store_pending(
        &self,
        slots: &mut [Slot],
        all_or_none: bool,
        meter: Option<MonthlyLinkLimit>,
    ) -> Result<bool, AppError> {
        let mut pending = Vec::new();
        let mut links: Vec<&NewLink> = Vec::new();
        let mut custom_code_limit = None;
        for (at, slot) in slots.iter().enumerate() {
            if let Slot::Pending(draft) = slot {
                pending.push(at);
                links.push(&draft.link);
                custom_code_limit = custom_code_limit.or(draft.custom_code_limit);
            }
        }
        if pending.is_empty() {
            return Ok(false);
        }
        let store = &self.parts.store;
        let inserted = match (meter, links.as_slice()) {
            (Some(meter), [link]) => store.insert_within_limit(link, meter).await?,
            _ => store.insert_links_within(&links, all_or_none, custom_code_limit).await?,
        };
        let missed: Vec<usize> = match inserted {
            Inserted::Gone => {
                // One of the two was deleted since the request was let in.
                if let Some(link) = links.first() {
                    self.invalidate_workspace(&link.workspace);
                    self.workspace(&link.workspace).await?;
                }
                return Err(AppError::InvalidToken);
            }
            Inserted::OverLimit => {
                let limit = meter.map_or(0, |meter| meter.limit);
                let seconds_left = Month::seconds_left(self.parts.clock.now());
                return Err(AppError::MonthlyLimit { limit, seconds_left });
            }
            Inserted::Undone(missed) => {
                missed.into_iter().filter_map(|at| pending.get(at).copied()).collect()
            }
            Inserted::Stored(placed) => {
                let placed: Vec<(usize, Option<InsertedLink>)> =
                    pending.into_iter().zip(placed).collect();
                self.settle(slots, &placed).await
            }
        };
        for at in missed {
            self.resolve(slots, at).await?;
        }
        for at in 0..slots.len() {
            let Some(Slot::Waiting(_, first)) = slots.get(at) else { continue };
            if !matches!(slots.get(*first), Some(Slot::Pending(_))) {
                self.resolve(slots, at).await?;
            }
        }
        Ok(slots.iter().any(|slot| matches!(slot, Slot::Pending(_) | Slot::Waiting(..))))
    }

    /// Look into what is in the way of a draft, and see what it becomes.
    async fn resolve(&self, slots: &mut [Slot], at: usize) -> Result<(), AppError> {
        let Some(slot) = slots.get_mut(at) else { return Ok(()) };
        let (Slot::Pending(draft) | Slot::Waiting(draft, _)) = slot else { return Ok(()) };
        *slot = match self.look_into(draft).await {
            Ok(None) => Slot::Pending(draft.clone()),
            Ok(Some(existing)) => Slot::Done(Box::new(existing), false, None),
            Err(AppError::Store(error)) => return Err(error.into()),
            Err(error) => Slot::Refused(error),
        };
        Ok(())
    }

    /// Mark what was stored; those that were not.
    async fn settle(
        &self,
        slots: &mut [Slot],
        placed: &[(usize, Option<InsertedLink>)],
    ) -> Vec<usize> {
        let mut missed = Vec::new();
        for (at, place) in placed {
            let Some(slot) = slots.get_mut(*at) else { continue };
            match (&slot, place) {
                (Slot::Pending(draft), Some(place)) => {
                    let link = draft.stored(*place);
                    let token = draft.claim_token.clone();
                    if draft.link.revive {
                        self.invalidate(&link).await;
                    } else {
                        // A visitor may have asked for the address before there was a link.
                        self.invalidate_redirects(link.workspace.as_str(), link.code.as_str());
                    }
                    *slot = Slot::Done(Box::new(link), true, token);
                }
                _ => missed.push(*at),
            }
        }
        missed
    }

    /// A draft was in somebody's way. `Some`: that link is the answer. `None`: the draft has been
    /// changed, or the way is free by now, and it should try again.
    async fn look_into(&self, draft: &mut Draft) -> Result<Option<Link>, AppError> {
        let now = self.parts.clock.latest(self.parts.clock.now());
        let new = &draft.link;
        if new.strategy == Strategy::Deterministic
            && let Some(same) =
                self.parts.store.find_same(&new.workspace, &new.canonical_hash).await?
        {
            if !draft.may_have(&same) {
                return Err(AppError::UrlTaken);
            }
            if same.disabled.is_some() {
                return Err(AppError::LinkLocked);
            }
            draft.check_same_plan(&same, now)?;
            return Ok(adopt(draft, same, now));
        }
        let Some(other) = self.parts.store.find_link(&new.workspace, &new.code).await? else {
            self.check_custom_code_limit(draft.custom_code_limit).await?;
            // Only the bare code on the main host was in the way: it is another workspace's.
            if new.strategy == Strategy::Counter && new.wants_main {
                // Somebody may have chosen it there because it was to come; the next one is as short.
                draft.next_code(self, true).await?;
            } else {
                draft.link.wants_main = false;
            }
            return Ok(None);
        };
        let named = matches!(new.strategy, Strategy::Custom | Strategy::Deterministic);
        let alive = other.status(now) == Some(Status::Active);
        // A dead link may come back with another fragment; one that is alive keeps its own.
        let fits = !alive && other.canonical_hash == new.canonical_hash;
        // The code may be an alias of it: one that is dead does not come back under another code.
        if named
            && (alive || other.code == new.code)
            && draft.may_have(&other)
            && (fits || draft.would_be(&other.canonical_hash, &other.target))
        {
            if other.disabled.is_some() {
                return Err(AppError::LinkLocked);
            }
            draft.check_same_plan(&other, now)?;
            return Ok(adopt(draft, other, now));
        }
        if new.strategy == Strategy::Custom {
            return Err(AppError::CodeTaken);
        }
        metrics::counter!("kurz_code_collisions_total", "strategy" => new.strategy.as_str())
            .increment(1);
        tracing::warn!(
            workspace = %new.workspace, code = %new.code, strategy = %new.strategy,
            attempt = draft.attempt(), "a generated code is taken by another URL"
        );
        draft.next_code(self, true).await?;
        Ok(None)
    }

    /// Whether a custom code that nobody has was not stored because there were enough this month. The
    /// number only grows, so it is still what the store went by.
    pub(super) async fn check_custom_code_limit(
        &self,
        limit: Option<MonthlyLinkLimit>,
    ) -> Result<(), AppError> {
        let Some(MonthlyLinkLimit { user, month, limit }) = limit else {
            return Ok(());
        };
        if self.parts.store.custom_codes_in_month(user, month).await? < limit {
            return Ok(());
        }
        let seconds_left = Month::seconds_left(self.parts.clock.now());
        Err(AppError::CustomCodeLimit { limit, seconds_left })
    }

    fn results(
        &self,
        workspace: &Workspace,
        slots: Vec<Slot>,
        all_or_none: bool,
    ) -> Result<Vec<Result<Created, AppError>>, AppError> {
        if all_or_none {
            // What is still pending then was only waiting for the one that was refused.
            let first = slots.iter().enumerate().find_map(|(at, slot)| match slot {
                Slot::Refused(why) => Some((at, Box::new(why.clone()))),
                _ => None,
            });
            if let Some((at, why)) = first {
                return Err(AppError::BatchRefused { at, why });
            }
        }
        let mut results: Vec<Result<Created, AppError>> = Vec::with_capacity(slots.len());
        for slot in slots {
            results.push(match slot {
                Slot::Done(link, is_new, claim_token) => {
                    match self.show(workspace, vec![*link]).pop() {
                        Some(link) => Ok(Created { link, is_new, claim_token }),
                        None => Err(Error::Unavailable("the link was purged".to_owned()).into()),
                    }
                }
                Slot::SameAs(first) => match results.get(first) {
                    Some(Ok(created)) => Ok(Created { is_new: false, ..created.clone() }),
                    Some(Err(error)) => Err(error.clone()),
                    None => Err(AppError::NoFreeCode(0)),
                },
                Slot::Refused(error) => Err(error),
                Slot::Pending(draft) | Slot::Waiting(draft, _) => {
                    Err(AppError::NoFreeCode(draft.attempt()))
                }
            });
        }
        Ok(results)
    }
}

/// Who makes links, from who asks.
pub(crate) fn maker<'a>(caller: &Caller, entry: &'a EnteredWorkspace) -> Maker<'a> {
    Maker {
        workspace: &entry.workspace,
        exists: entry.exists,
        owner: caller.owner(),
        made: LinkOrigin {
            key: caller.key(),
            client: caller.client.map(|client| client.to_string()),
        },
        is_nobody: entry.reach == Reach::Nobodys,
        counted: caller
            .identity()
            .filter(|identity| !identity.is_admin)
            .map(|identity| identity.id),
        is_shared: caller.is_open() || entry.workspace.id.as_str() != MAIN,
    }
}

/// The link that a draft asks for exists: it is the answer, or, if it is dead, what the draft
/// becomes.
fn adopt(draft: &mut Draft, same: Link, now: Timestamp) -> Option<Link> {
    if same.status(now) == Some(Status::Active) {
        return Some(same);
    }
    draft.revive(same, now);
    None
}
