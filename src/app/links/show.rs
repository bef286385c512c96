//! A link with what follows from it now: its short URL, its status and its hit limit.

use crate::app::links::short_url::short_url;
use crate::app::{App, AppError, Resource};
use crate::store::Workspace;
use kurz_core::account::{Act, Caller, access};
use kurz_core::code::{Canonical, Code, WorkspaceId, canonicalise};
use kurz_core::link::{AddressKey, Link, LinkId, Reason, Status, idn};
use kurz_core::plan::{PlanDocument, PlanWarning};
use kurz_core::time::Timestamp;

/// A link and what follows from it at this moment.
#[derive(Clone, Debug)]
pub struct ShownLink {
    pub link: Link,
    pub short_url: String,
    pub status: Status,
    /// Why it does not redirect, if it is withheld.
    pub withheld: Option<Reason>,
    /// Whether its target's host may be taken for another.
    pub is_lookalike: bool,
    /// Hits a month; 0: any number.
    pub hit_limit: i64,
    pub hits_this_month: i64,
    /// Until when it can be restored for certain, if it is deleted.
    pub restorable_until: Option<Timestamp>,
    /// What decides where its visitors are sent beyond its target.
    pub plan: PlanDocument,
    /// Tests of the plan that are always unknown on this server.
    pub warnings: Vec<PlanWarning>,
}

/// Where a link leads, as far as strangers may know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destinations {
    /// To its target.
    One,
    /// Depending on the visitor, to these hosts.
    Several(Vec<String>),
    /// Only those with the password are told.
    Protected,
}

impl ShownLink {
    /// A plan that cannot be read says nothing, and the link leads nowhere.
    pub fn destinations(&self) -> Destinations {
        let Some(plan) = &self.link.plan else { return Destinations::One };
        let Ok(document) = PlanDocument::from_json(&plan.document) else {
            return Destinations::Protected;
        };
        if document.password.is_some() {
            return Destinations::Protected;
        }
        if document.rules.is_empty() && document.split.is_none() {
            return Destinations::One;
        }
        let urls = document.urls();
        let chosen = urls
            .iter()
            .filter(|(field, _)| field.starts_with("rules") || field.starts_with("split"));
        let urls = std::iter::once(self.link.target.as_str()).chain(chosen.map(|(_, url)| *url));
        let mut hosts: Vec<String> = Vec::new();
        for host in urls.filter_map(|url| Some(canonicalise(url).ok()?.host().to_owned())) {
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        Destinations::Several(hosts)
    }
}

impl App {
    /// A link that exists, deleted ones included.
    pub(crate) async fn find_link(
        &self,
        workspace: &WorkspaceId,
        code: &str,
    ) -> Result<Link, AppError> {
        let missing = AppError::NotFound(Resource::Link);
        let Some(code) = Code::parse(code) else { return Err(missing) };
        let found = self.parts.store.find_link(workspace, &code).await?;
        found.filter(|link| link.purged_at.is_none()).ok_or(missing)
    }

    /// A link that the caller may do `act` with, and its workspace.
    pub(crate) async fn reach_link(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
        act: Act,
    ) -> Result<(Workspace, Link), AppError> {
        let (workspace, reach) = self.enter(caller, workspace, act).await?;
        let link = match self.find_link(&workspace.id, code).await {
            Err(AppError::NotFound(_)) => return Err(self.missed_in(caller, &workspace.id)),
            found => found?,
        };
        access::to_link(reach, link.owner)?;
        Ok((workspace, link))
    }

    /// A link, to look at. Deleted ones are shown as such: they can still be restored.
    pub async fn show_link(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
    ) -> Result<ShownLink, AppError> {
        let (workspace, link) = self.reach_link(caller, workspace, code, Act::ReadLinks).await?;
        let shown = self.show(&workspace, vec![link]).pop();
        shown.ok_or(AppError::NotFound(Resource::Link))
    }

    /// The workspace and code of a link, by its number. Says nothing about the link itself.
    pub async fn locate_link(&self, id: LinkId) -> Result<(WorkspaceId, Code), AppError> {
        let found = self.parts.store.find_link_by_id(id).await?;
        let link = found.filter(|link| link.purged_at.is_none() && link.deleted_at.is_none());
        let link = link.ok_or(AppError::NotFound(Resource::Link))?;
        Ok((link.workspace, link.code))
    }

    /// A link as it is now, for somebody who may see it.
    pub(crate) async fn reload_link(
        &self,
        workspace: &Workspace,
        code: &str,
    ) -> Result<ShownLink, AppError> {
        let link = self.find_link(&workspace.id, code).await?;
        let shown = self.show(workspace, vec![link]).pop();
        shown.ok_or(AppError::NotFound(Resource::Link))
    }

    /// The link behind a short address, if it can be followed: for the preview.
    pub async fn preview(&self, key: &str) -> Result<ShownLink, AppError> {
        let missing = || AppError::NotFound(Resource::Link);
        let key = AddressKey::parse(key).ok_or_else(missing)?;
        let place = self.parts.store.find_redirect_row(&key).await?.ok_or_else(missing)?;
        let workspace = WorkspaceId::parse(&place.workspace).ok_or_else(missing)?;
        let workspace = self.workspace(&workspace).await?;
        let shown = self.reload_link(&workspace, &place.code).await?;
        if shown.status == Status::Deleted { Err(missing()) } else { Ok(shown) }
    }

    /// The workspace of a host, if it has one.
    pub fn workspace_of_host(&self, host: &str) -> Option<WorkspaceId> {
        self.parts.hosts.workspace(host)
    }

    /// Why a link is withheld, if it is.
    fn withheld(&self, link: &Link) -> Option<Reason> {
        if let Some(disabled) = &link.disabled {
            return Some(disabled.reason);
        }
        if self.parts.blocked.is_empty() {
            return None;
        }
        let plan = link.plan.as_ref().and_then(|plan| PlanDocument::from_json(&plan.document).ok());
        let planned = plan.as_ref().map(PlanDocument::urls).unwrap_or_default();
        let urls = planned.iter().map(|(_, url)| *url).chain([link.target.as_str()]);
        let mut hosts = urls.filter_map(|url| Some(canonicalise(url).ok()?.host().to_owned()));
        hosts.any(|host| self.parts.blocked.covers(&host)).then_some(Reason::Blocked)
    }

    /// What follows from links of one workspace.
    pub(crate) fn show(&self, workspace: &Workspace, links: Vec<Link>) -> Vec<ShownLink> {
        let hosts = self.parts.hosts.of_workspace(&workspace.id);
        let now = self.parts.clock.now();
        let default_limit = i64::try_from(self.parts.policy.hit_limit).unwrap_or(i64::MAX);
        let show = |link: Link| {
            let limit = link.fields.hit_limit.or(workspace.hit_limit).unwrap_or(default_limit);
            let withheld = self.withheld(&link);
            let status = link.status(self.parts.clock.latest(now))?;
            let is_shut = withheld.is_some() && status != Status::Deleted;
            let plan = Self::plan_document(link.plan.as_ref()).unwrap_or_default();
            Some(ShownLink {
                warnings: self.plan_warnings(&plan),
                plan,
                short_url: short_url(&self.parts.policy.public_url, &link, &hosts),
                status: if is_shut { Status::Disabled } else { status },
                withheld,
                is_lookalike: is_lookalike(&link.target),
                hit_limit: limit,
                hits_this_month: link.hits_this_month(now),
                restorable_until: link.restorable_until(self.parts.policy.purge_grace),
                link,
            })
        };
        links.into_iter().filter_map(show).collect()
    }
}

/// Whether a target's host may be taken for another.
fn is_lookalike(target: &str) -> bool {
    // Most are plain: no need to read the whole of them.
    let may_be = !target.is_ascii() || target.to_ascii_lowercase().contains("xn--");
    may_be && canonicalise(target).is_ok_and(|canonical| idn::is_suspicious(canonical.host()))
}

impl ShownLink {
    /// The target as it is safe to be looked at: in punycode when its host may be taken for another.
    pub fn visible_target(&self) -> String {
        let canonical = self.is_lookalike.then(|| canonicalise(&self.link.target).ok()).flatten();
        canonical.map_or_else(|| self.link.target.clone(), Canonical::into_string)
    }
}
