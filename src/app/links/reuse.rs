//! Reuse of existing links: a request for the same URL in the same workspace with a deterministic code,
//! or for the same target under the same chosen code, is answered from memory, as the store would answer.
//!
//! The link itself is known for a day, until it changes; who may have it is asked each time. Its
//! counts are read again when they are older than a second, by one read without a transaction; a
//! store that is away keeps nobody from what is known.

use crate::app::links::create::{Created, LinkRequest, maker};
use crate::app::links::draft::Draft;
use crate::app::workspaces::EnteredWorkspace;
use crate::app::{App, AppError, MAIN};
use crate::cache::ReusableLink;
use crate::store::Workspace;
use kurz_core::account::{Act, Caller, Reach, access};
use kurz_core::code::WorkspaceId;
use kurz_core::link::{Link, Status};

pub(super) enum Repeated {
    /// All of it exists, and this is it.
    Known(Vec<Created>),
    Unknown(CheckedDrafts),
}

/// The first requests of a call, checked in a workspace as it was known, so that making their links need
/// not check them again.
#[derive(Default)]
pub(super) struct CheckedDrafts {
    workspace: Option<Workspace>,
    drafts: Vec<Result<Draft, AppError>>,
}

impl CheckedDrafts {
    /// The drafts, unless the workspace has changed since.
    pub(super) fn in_workspace(self, workspace: &Workspace) -> Vec<Result<Draft, AppError>> {
        if self.workspace.as_ref() == Some(workspace) { self.drafts } else { Vec::new() }
    }
}

impl App {
    /// What all of `requests` ask for, if all of it is known to exist and the caller may have it.
    pub(super) async fn repeat(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
        requests: &[LinkRequest],
    ) -> Result<Repeated, AppError> {
        let unknown = Repeated::Unknown(CheckedDrafts::default());
        // What is made without an account is new each time; a plan is compared by the store's way.
        if caller.is_anonymous() || requests.iter().any(|request| !request.plan.is_empty()) {
            return Ok(unknown);
        }
        let Some(workspace) = self.memberships.workspace(id) else { return Ok(unknown) };
        let entry = EnteredWorkspace { workspace, exists: true, reach: Reach::All };
        let (drafts, known) = self.known_links(caller, &entry, requests);
        if known.len() < requests.len() {
            let workspace = Some(entry.workspace);
            return Ok(Repeated::Unknown(CheckedDrafts { workspace, drafts }));
        }
        let role = self.role(caller, id, true).await?;
        let place = access::WorkspaceRole { workspace: id, is_main: id.as_str() == MAIN, role };
        access::in_workspace(caller, &place, Act::CreateLinks)?;

        let mut links = Vec::with_capacity(known.len());
        for (draft, known) in drafts.iter().flatten().zip(known) {
            let Some(link) = self.as_of_now(draft, known).await else { return Ok(unknown) };
            links.push(link);
        }
        let count = u64::try_from(links.len()).unwrap_or_default();
        let asked = links.len();
        let shown = self.show(&entry.workspace, links);
        if shown.len() != asked {
            return Ok(unknown);
        }
        metrics::counter!("kurz_links_reused_total").increment(count);
        let created = |link| Created { link, is_new: false, claim_token: None };
        Ok(Repeated::Known(shown.into_iter().map(created).collect()))
    }

    /// The requests up to the first whose link is not known, each checked, and the links of those before
    /// it.
    fn known_links(
        &self,
        caller: &Caller,
        entry: &EnteredWorkspace,
        requests: &[LinkRequest],
    ) -> (Vec<Result<Draft, AppError>>, Vec<ReusableLink>) {
        let maker = maker(caller, entry);
        let now = self.parts.clock.now();
        let (mut drafts, mut links) = (Vec::new(), Vec::new());
        for request in requests {
            let mut draft = Draft::check(self, &maker, request, now);
            let known = draft.as_mut().ok().and_then(|draft| self.known_link(entry, draft));
            drafts.push(draft);
            let Some(known) = known else { break };
            links.push(known);
        }
        (drafts, links)
    }

    /// The link that a draft asks for, if it is known.
    fn known_link(&self, entry: &EnteredWorkspace, draft: &mut Draft) -> Option<ReusableLink> {
        let code = draft.foreseen_code(self)?;
        let known = self.parts.reuse.find(entry.workspace.id.as_str(), code.as_str())?;
        self.fits(draft, &known.link).then_some(known)
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
        let generation = self.parts.reuse.generation();
        let Ok(found) = self.parts.store.find_link(workspace, code).await else {
            return Some(Link::clone(&known.link));
        };
        let link = found.filter(|link| self.fits(draft, link));
        match &link {
            Some(link) => self.parts.reuse.keep(generation, link.clone()),
            None => self.parts.reuse.invalidate(workspace.as_str(), code.as_str()),
        }
        link
    }
}
