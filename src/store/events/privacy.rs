//! What workspaces and links keep about visitors. `None` everywhere means: what the server says.

use crate::store::driver::{Outcome, Step, statements};
use crate::store::events::tasks::{EventTask, task_step};
use crate::store::text::Piece::{Params, Text};
use crate::store::text::text;
use crate::store::value::{SqlRow, SqlValue};
use crate::store::workspaces::read_id;
use crate::store::{Error, NewAuditEntry, Store, audit};
use kurz_core::analytics::AnalyticsMode;
use kurz_core::code::WorkspaceId;
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;
use std::time::Duration;

statements! {
    FIND = "select analytics_mode, events_keep, honour, excluded_networks, panels_off
        from workspaces where id = $1 and deleted_at is null";
    SET = "update workspaces set analytics_mode = $1, events_keep = $2, honour = $3,
            excluded_networks = $4, panels_off = $5, updated_at = $6
        where id = $7 and deleted_at is null returning id";
    /// Also of deleted workspaces: their events are kept no longer than they were to be.
    KEEPING = "select id, analytics_mode, events_keep from workspaces
        where id > $1 and (analytics_mode is not null or events_keep is not null)
        order by id limit $2";
    KEEPING_OF = "select id, analytics_mode, events_keep from workspaces where id = $1";
    LINK_MODES = text!(
        Text("select l.id, l.workspace, l.analytics_mode, w.analytics_mode, w.excluded_networks,
                w.honour,
                case when l.plan_at is null then null
                    else (select p.plan from link_plans p where p.link_id = l.id) end
            from links l join workspaces w on w.id = l.workspace where l.id in ("),
        Params(1, LINKS_AT_ONCE),
        Text(")"),
    );
    LINK_MODE = "select analytics_mode from links where id = $1 and purged_at is null";
    SET_LINK_MODE = "update links set analytics_mode = $1, updated_at = $2, version = version + 1
        where id = $3 and purged_at is null returning id";
}

/// The links that [`Store::list_link_modes`] looks for at a time.
pub const LINKS_AT_ONCE: usize = 90;

/// The privacy settings of a workspace, as they are stored: lists have a line for each entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkspacePrivacy {
    pub mode: Option<AnalyticsMode>,
    /// How long events are kept.
    pub keep: Option<Duration>,
    pub honour: Option<String>,
    /// Networks whose clicks stand apart.
    pub exclude: Option<Vec<String>>,
    /// Names of dimensions that are not shown.
    pub panels_off: Option<Vec<String>>,
}

/// How long a workspace keeps events, where it says so itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceKeeping {
    pub workspace: WorkspaceId,
    pub mode: Option<AnalyticsMode>,
    pub keep: Option<Duration>,
}

/// Whose a link is, and what is kept about its visitors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkMode {
    pub link: LinkId,
    pub workspace: WorkspaceId,
    /// The narrower of the link's and the workspace's own.
    pub mode: Option<AnalyticsMode>,
    /// Networks whose clicks stand apart in this workspace.
    pub exclude: Vec<String>,
    /// What the workspace honours beside the server.
    pub honour: Option<String>,
    /// The document of its plan, if it has one.
    pub plan: Option<String>,
}

impl Store {
    pub async fn find_privacy(&self, id: &WorkspaceId) -> Result<Option<WorkspacePrivacy>, Error> {
        let row = self.db.find(FIND, &[SqlValue::text(id.as_str())]).await?;
        row.map(|row| read_privacy(&row)).transpose()
    }

    /// Store the privacy settings of a workspace, and a task that carries them out on the events that are
    /// there; `false` when there is no such workspace.
    pub async fn set_privacy(
        &self,
        id: &WorkspaceId,
        privacy: &WorkspacePrivacy,
        task: Option<&EventTask>,
        change: &NewAuditEntry,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let params = [
            privacy.mode.map(AnalyticsMode::as_str).into(),
            privacy.keep.map(crate::store::locks::ms).into(),
            privacy.honour.as_deref().into(),
            lines(privacy.exclude.as_ref()),
            lines(privacy.panels_off.as_ref()),
            now.into(),
            SqlValue::text(id.as_str()),
        ];
        let mut steps = vec![Step::new(SET, params).or_undo(), audit::step(change)];
        steps.extend(task.map(task_step));
        Ok(matches!(self.db.batch(steps).await?, Outcome::Done(_)))
    }

    /// Workspaces that say themselves what they keep, in the order of their names, after `after`.
    pub async fn list_keeping(
        &self,
        after: &str,
        most: i64,
    ) -> Result<Vec<WorkspaceKeeping>, Error> {
        let rows = self.db.list(KEEPING, vec![SqlValue::text(after), SqlValue::Int(most)]).await?;
        rows.iter().map(read_keeping).collect()
    }

    /// The same of one workspace, also of one that is deleted.
    pub async fn find_keeping(&self, id: &WorkspaceId) -> Result<Option<WorkspaceKeeping>, Error> {
        let row = self.db.find(KEEPING_OF, &[SqlValue::text(id.as_str())]).await?;
        row.map(|row| read_keeping(&row)).transpose()
    }

    /// Workspace and mode of links, of which the first [`LINKS_AT_ONCE`] count. Links that do not exist
    /// are left out.
    pub async fn list_link_modes(&self, links: &[LinkId]) -> Result<Vec<LinkMode>, Error> {
        let Some(last) = links.last() else { return Ok(Vec::new()) };
        // The statement has a fixed number of parameters: the last link fills the rest.
        let filled = links.iter().chain(std::iter::repeat(last)).take(LINKS_AT_ONCE);
        let rows =
            self.db.list(LINK_MODES, filled.map(|link| SqlValue::Int(link.0)).collect()).await?;
        let read = |row: &SqlRow| {
            Ok(LinkMode {
                link: LinkId(row.int(0)?),
                workspace: read_id(row.text(1)?)?,
                mode: narrower(read_mode(row.opt_text(2)?)?, read_mode(row.opt_text(3)?)?),
                exclude: read_lines(row.opt_text(4)?).unwrap_or_default(),
                honour: row.opt_text(5)?.map(str::to_owned),
                plan: row.opt_text(6)?.map(str::to_owned),
            })
        };
        rows.iter().map(read).collect()
    }

    /// What one link says itself about its visitors; the outer `None` when it is gone.
    pub async fn find_link_mode(
        &self,
        link: LinkId,
    ) -> Result<Option<Option<AnalyticsMode>>, Error> {
        let row = self.db.find(LINK_MODE, &[SqlValue::Int(link.0)]).await?;
        row.map(|row| read_mode(row.opt_text(0)?)).transpose()
    }

    /// Set what one link keeps about its visitors, with a task that carries it out; `false` when it is
    /// gone.
    pub async fn set_link_mode(
        &self,
        link: LinkId,
        mode: Option<AnalyticsMode>,
        task: Option<&EventTask>,
        change: &NewAuditEntry,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let params = [mode.map(AnalyticsMode::as_str).into(), now.into(), SqlValue::Int(link.0)];
        let mut steps = vec![Step::new(SET_LINK_MODE, params).or_undo(), audit::step(change)];
        steps.extend(task.map(task_step));
        Ok(matches!(self.db.batch(steps).await?, Outcome::Done(_)))
    }
}

fn lines(list: Option<&Vec<String>>) -> SqlValue<'static> {
    list.map_or(SqlValue::Null, |list| SqlValue::owned(list.join("\n")))
}

fn read_lines(text: Option<&str>) -> Option<Vec<String>> {
    text.map(|text| text.lines().map(str::to_owned).collect())
}

fn read_keep(keep: Option<i64>) -> Option<Duration> {
    keep.map(|ms| Duration::from_millis(u64::try_from(ms).unwrap_or_default()))
}

fn read_privacy(row: &SqlRow) -> Result<WorkspacePrivacy, Error> {
    Ok(WorkspacePrivacy {
        mode: read_mode(row.opt_text(0)?)?,
        keep: read_keep(row.opt_int(1)?),
        honour: row.opt_text(2)?.map(str::to_owned),
        exclude: read_lines(row.opt_text(3)?),
        panels_off: read_lines(row.opt_text(4)?),
    })
}

fn read_keeping(row: &SqlRow) -> Result<WorkspaceKeeping, Error> {
    Ok(WorkspaceKeeping {
        workspace: read_id(row.text(0)?)?,
        mode: read_mode(row.opt_text(1)?)?,
        keep: read_keep(row.opt_int(2)?),
    })
}

pub(in crate::store) fn read_mode(text: Option<&str>) -> Result<Option<AnalyticsMode>, Error> {
    let Some(text) = text else { return Ok(None) };
    let mode = AnalyticsMode::parse(text);
    mode.map(Some).ok_or_else(|| Error::Corrupt(format!("`{text}` is no mode of analytics")))
}

/// The narrower of two modes, of which each may leave it to the other.
pub(in crate::store) fn narrower(
    one: Option<AnalyticsMode>,
    other: Option<AnalyticsMode>,
) -> Option<AnalyticsMode> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
