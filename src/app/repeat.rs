//! Asking again for what exists: the same URL in the same workspace with a deterministic code, or the
//! same target under the same chosen code. That is answered from memory, as the store would answer.
//!
//! The link itself is known for a day, until it changes; who may have it is asked each time. Its
//! counts are read again when they are older than a second, by one read without a transaction; a
//! store that is away keeps nobody from what is known.

use crate::app::create::{Created, LinkRequest, maker};
use crate::app::draft::Draft;
use crate::app::workspaces::Entry;
use crate::app::{App, AppError, MAIN};
use crate::cache::ReusableLink;
use kurz_core::account::{Act, Caller, Reach, access};
use kurz_core::code::WorkspaceId;
use kurz_core::link::{Link, Status};

impl App {
    /// What all of `requests` ask for, if all of it is known to exist and the caller may have it.
    /// `None` says nothing: then the store decides.
    pub(super) async fn repeat(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
        requests: &[LinkRequest],
    ) -> Result<Option<Vec<Created>>, AppError> {
        // What is made without an account is new each time.
        if caller.is_anonymous() {
            return Ok(None);
        }
        let Some(workspace) = self.seats.workspace(id) else { return Ok(None) };
        let entry = Entry { workspace, exists: true, reach: Reach::All };
        let Some(known) = self.known_links(caller, &entry, requests) else { return Ok(None) };
        let role = self.role(caller, id, true).await?;
        let place = access::WorkspaceRole { workspace: id, is_main: id.as_str() == MAIN, role };
        access::in_workspace(caller, &place, Act::CreateLinks)?;

        let mut links = Vec::with_capacity(known.len());
        for (draft, known) in known {
            let Some(link) = self.as_of_now(&draft, known).await else { return Ok(None) };
            links.push(link);
        }
        let count = u64::try_from(links.len()).unwrap_or_default();
        let asked = links.len();
        let shown = self.show(&entry.workspace, links);
        if shown.len() != asked {
            return Ok(None);
        }
        metrics::counter!("kurz_repeats_total").increment(count);
        let created = |link| Created { link, is_new: false, claim_token: None };
        Ok(Some(shown.into_iter().map(created).collect()))
    }

    /// The link for each request, if every one is known and fits.
    fn known_links(
        &self,
        caller: &Caller,
        entry: &Entry,
        requests: &[LinkRequest],
    ) -> Option<Vec<(Draft, ReusableLink)>> {
        let maker = maker(caller, entry);
        let now = self.parts.clock.now();
        let know = |request| {
            let mut draft = Draft::check(self, &maker, request, now).ok()?;
            let code = draft.foreseen_code(self)?;
            let known = self.parts.reuse.find(entry.workspace.id.as_str(), code.as_str())?;
            self.fits(&draft, &known.link).then_some((draft, known))
        };
        requests.iter().map(know).collect()
    }

    /// Whether a link is the answer to a draft: the same that the store's way asks.
    fn fits(&self, draft: &Draft, link: &Link) -> bool {
        let now = self.parts.clock.latest(self.parts.clock.now());
        draft.may_have(link) && draft.is_repeat_of(link) && link.status(now) == Some(Status::Active)
    }

    /// The link with counts that are not old; `None` when it is no longer what was asked for.
    async fn as_of_now(&self, draft: &Draft, known: ReusableLink) -> Option<Link> {
        if known.is_fresh {
            return Some(Link::clone(&known.link));
        }
        let Link { workspace, code, .. } = &*known.link;
        let moment = self.parts.reuse.generation();
        let Ok(found) = self.parts.store.find_link(workspace, code).await else {
            return Some(Link::clone(&known.link));
        };
        let link = found.filter(|link| self.fits(draft, link));
        match &link {
            Some(link) => self.parts.reuse.keep(moment, link.clone()),
            None => self.parts.reuse.forget(workspace.as_str(), code.as_str()),
        }
        link
    }
}
