//! What a workspace keeps about visitors, and removing details that are there.

use crate::app::{Action, App, AppError, AuditDetail, FieldError, Resource};
use crate::store::{EventTask, EventTaskKind, Subject, WorkspacePrivacy};
use kurz_core::account::{Act, Caller};
use kurz_core::analytics::{AnalyticsMode, Dimension, TimeRange};
use kurz_core::code::WorkspaceId;
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;

/// Networks and panels that a workspace may list.
const MOST_NETWORKS: usize = 256;

impl App {
    /// What a workspace says itself about visitors.
    pub async fn privacy(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
    ) -> Result<WorkspacePrivacy, AppError> {
        self.enter(caller, id, Act::Look).await?;
        let found = self.parts.store.find_privacy(id).await?;
        found.ok_or(AppError::NotFound(Resource::Workspace))
    }

    /// Change what a workspace keeps about visitors. A narrower mode is carried out on what is there within the
    /// hour.
    pub async fn change_privacy(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
        privacy: &WorkspacePrivacy,
    ) -> Result<(), AppError> {
        self.enter(caller, id, Act::Manage).await?;
        self.check_privacy(privacy)?;
        let store = &self.parts.store;
        let before = store.find_privacy(id).await?;
        let before = before.ok_or(AppError::NotFound(Resource::Workspace))?;
        let policy = self.parts.policy.analytics;
        let narrower = policy.mode_with(privacy.mode) < policy.mode_with(before.mode);
        let task = if narrower { Some(self.narrowing(id.clone(), None).await?) } else { None };
        let fields = [
            ("mode", privacy.mode != before.mode),
            ("keep", privacy.keep != before.keep),
            ("honour", privacy.honour != before.honour),
            ("exclude", privacy.exclude != before.exclude),
            ("panels_off", privacy.panels_off != before.panels_off),
        ];
        let fields = fields.into_iter().filter(|(_, changed)| *changed);
        let fields = fields.map(|(name, _)| name.to_owned()).collect();
        let detail = AuditDetail { fields, ..AuditDetail::default() };
        let change =
            self.audit_with(caller, Subject::workspace(id), Action::Edited, detail).await?;
        let now = self.parts.clock.now();
        if !store.set_privacy(id, privacy, task.as_ref(), &change, now).await? {
            return Err(AppError::NotFound(Resource::Workspace));
        }
        self.modes_changed().await;
        Ok(())
    }

    /// How much one link says is kept about its visitors; `None`: what its workspace says.
    pub async fn link_mode(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
        code: &str,
    ) -> Result<Option<AnalyticsMode>, AppError> {
        let link = self.show_link(caller, id, code).await?.link.id;
        let mode = self.parts.store.find_link_mode(link).await?;
        mode.ok_or(AppError::NotFound(Resource::Link))
    }

    /// Set how much is kept about the visitors of one link; `None`: what its workspace says.
    pub async fn change_link_mode(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
        code: &str,
        mode: Option<AnalyticsMode>,
    ) -> Result<(), AppError> {
        self.enter(caller, id, Act::Manage).await?;
        self.check_mode(mode)?;
        let link = self.show_link(caller, id, code).await?.link.id;
        let task = self.narrowing(id.clone(), Some(link)).await?;
        let detail = AuditDetail { fields: vec!["analytics".to_owned()], ..AuditDetail::default() };
        let change = self.audit_with(caller, Subject::link(link), Action::Edited, detail).await?;
        let now = self.parts.clock.now();
        if !self.parts.store.set_link_mode(link, mode, Some(&task), &change, now).await? {
            return Err(AppError::NotFound(Resource::Link));
        }
        self.modes_changed().await;
        Ok(())
    }

    /// Have the details of a workspace, or of one of its links, removed within the hour; the number of clicks
    /// stays.
    pub async fn delete_analytics(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
        code: Option<&str>,
        range: TimeRange,
    ) -> Result<(), AppError> {
        self.enter(caller, id, Act::Manage).await?;
        if range.from >= range.to {
            let detail = "`from` must be before `to`";
            return Err(FieldError::new("from", "range-invalid", detail).into());
        }
        let link = match code {
            Some(code) => Some(self.show_link(caller, id, code).await?.link.id),
            None => None,
        };
        let subject = link.map_or_else(|| Subject::workspace(id), Subject::link);
        let note = format!("{} to {}", range.from, range.to);
        let detail = AuditDetail { note: Some(note), ..AuditDetail::default() };
        let change = self.audit_with(caller, subject, Action::DetailsDeleted, detail).await?;
        let TimeRange { from, to } = range;
        let task = EventTask {
            kind: EventTaskKind::Delete,
            from,
            to,
            ..self.narrowing(id.clone(), link).await?
        };
        Ok(self.parts.store.insert_event_task(&task, Some(&change)).await?)
    }

    /// The task that removes from the events of a workspace, or a link, what is not to be kept.
    pub(super) async fn narrowing(
        &self,
        workspace: WorkspaceId,
        link: Option<LinkId>,
    ) -> Result<EventTask, AppError> {
        let now = self.parts.clock.now();
        Ok(EventTask {
            id: self.parts.store.take_numbers("event_task", 1).await?,
            kind: EventTaskKind::Narrow,
            workspace,
            link,
            from: Timestamp::from_ms(0),
            // Some clocks are ahead.
            to: now.plus(std::time::Duration::from_hours(24)),
            requested_at: now,
        })
    }

    fn check_privacy(&self, privacy: &WorkspacePrivacy) -> Result<(), AppError> {
        self.check_mode(privacy.mode)?;
        let networks = privacy.exclude.as_deref().unwrap_or_default();
        let is_network = |text: &String| {
            text.parse::<ipnet::IpNet>().is_ok_and(|network| network.prefix_len() > 0)
                || text.parse::<std::net::IpAddr>().is_ok()
        };
        if networks.len() > MOST_NETWORKS || !networks.iter().all(is_network) {
            let detail = "a list of at most 256 IP addresses and networks, such as 203.0.113.0/24";
            return Err(FieldError::new("exclude", "analytics-invalid", detail).into());
        }
        let panels = privacy.panels_off.as_deref().unwrap_or_default();
        if panels.len() > 64 || panels.iter().any(|name| Dimension::parse(name).is_none()) {
            let detail = "a list of names of dimensions, such as city";
            return Err(FieldError::new("panels_off", "analytics-invalid", detail).into());
        }
        let honoured = |word: &str| matches!(word, "gpc" | "dnt" | "none");
        if privacy.honour.as_ref().is_some_and(|text| !text.split(',').all(honoured)) {
            let detail = "gpc, dnt, both with a comma between, or none";
            return Err(FieldError::new("honour", "analytics-invalid", detail).into());
        }
        Ok(())
    }

    /// Nothing is wider than what the server keeps.
    fn check_mode(&self, mode: Option<AnalyticsMode>) -> Result<(), AppError> {
        let server = self.parts.policy.analytics.mode;
        if mode.is_none_or(|mode| mode <= server) {
            return Ok(());
        }
        let detail = format!("this server keeps no more than `{}`", server.as_str());
        Err(FieldError::new("mode", "mode-too-wide", detail).into())
    }

    /// The mode is in every cached link; this is rare enough to start over.
    async fn modes_changed(&self) {
        self.event_links.lock().await.clear();
        self.invalidate_all_links();
    }
}
