//! Reports of visitors, for administrators: the queue, and dismissing them.

use crate::app::{Action, App, AppError, AuditDetail, Resource, ShownLink};
use crate::store::{Report, Subject};
use kurz_core::account::Caller;
use kurz_core::code::WorkspaceId;
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;

/// Links in the queue that are shown at once, and reports of each.
const SHOWN: i64 = 50;
const SHOWN_OF_EACH: i64 = 20;

#[derive(Clone, Debug)]
pub struct ReportedLink {
    pub shown: ShownLink,
    pub count: i64,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    pub reports: Vec<Report>,
}

/// What is to be looked into.
#[derive(Clone, Debug)]
pub struct ReportQueue {
    /// The links, the most reported first.
    pub links: Vec<ReportedLink>,
    /// How many reports are open in all.
    pub open: i64,
}

impl App {
    /// What is to be looked into.
    pub async fn report_queue(&self, caller: &Caller) -> Result<ReportQueue, AppError> {
        Self::require_admin(caller)?;
        let store = &self.parts.store;
        let mut links = Vec::new();
        for reported in store.list_reported(SHOWN).await? {
            let Some(link) = store.find_link_by_id(reported.link).await? else { continue };
            let workspace = self.workspace(&link.workspace).await?;
            let Some(shown) = self.show(&workspace, vec![link]).pop() else { continue };
            links.push(ReportedLink {
                shown,
                count: reported.count,
                first_at: reported.first_at,
                last_at: reported.last_at,
                reports: store.list_reports(reported.link, SHOWN_OF_EACH).await?,
            });
        }
        Ok(ReportQueue { links, open: store.count_reports().await? })
    }

    /// Say that there is nothing to the reports of a link.
    pub async fn dismiss_reports(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
    ) -> Result<(), AppError> {
        Self::require_admin(caller)?;
        let link = self.find_link(workspace, code).await?;
        let count = self.settle_reports(link.id).await?;
        if count == 0 {
            return Err(AppError::NotFound(Resource::Report));
        }
        let detail = AuditDetail { count: Some(count), ..AuditDetail::default() };
        let change = self
            .audit_with(caller, Subject::link(link.id), Action::ReportsDismissed, detail)
            .await?;
        Ok(self.parts.store.insert_audit(&change).await?)
    }

    pub(crate) async fn settle_reports(&self, link: LinkId) -> Result<usize, AppError> {
        Ok(self.parts.store.settle_reports(link).await?)
    }
}
