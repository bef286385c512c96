//! What a page of analytics is about, and who asks: an account about a workspace or a link, or somebody with a share.

use crate::app::{App, AppError, LiveSums, OpenShare, ShownEvent};
use crate::web::analytics::cards::PageScope;
use kurz_core::account::Caller;
use kurz_core::analytics::orphans::OrphanReport;
use kurz_core::analytics::{AnalyticsQuery, AnalyticsReport, Dimension};
use kurz_core::code::WorkspaceId;

#[derive(Debug)]
pub(super) struct PageSubject {
    pub(super) asker: Asker,
    /// Dimensions that the workspace does not show.
    pub(super) hidden: Vec<Dimension>,
}

#[derive(Debug)]
pub(super) enum Asker {
    Account { caller: Box<Caller>, workspace: WorkspaceId, code: Option<String> },
    Share(Box<OpenShare>),
}

impl PageSubject {
    /// The question that parameters ask.
    pub(super) async fn question(
        &self,
        app: &App,
        pairs: &[(String, String)],
    ) -> Result<AnalyticsQuery, AppError> {
        match &self.asker {
            Asker::Account { caller, workspace, code } => {
                app.analytics_question(caller, workspace, code.as_deref(), pairs).await
            }
            Asker::Share(open) => app.shared_question(open, pairs).await,
        }
    }

    pub(super) async fn ask(
        &self,
        app: &App,
        query: &AnalyticsQuery,
    ) -> Result<AnalyticsReport, AppError> {
        match &self.asker {
            Asker::Account { caller, workspace, .. } => {
                app.analytics(caller, workspace, query).await
            }
            Asker::Share(open) => app.shared_analytics(open, query).await,
        }
    }

    /// The last half hour, minute by minute.
    pub(super) async fn live_sums(
        &self,
        app: &App,
        query: &AnalyticsQuery,
    ) -> Result<LiveSums, AppError> {
        match &self.asker {
            Asker::Account { caller, workspace, .. } => {
                app.live_sums(caller, workspace, query).await
            }
            Asker::Share(open) => app.live_sums(&Caller::OPEN, open.workspace(), query).await,
        }
    }

    /// The newest clicks one by one, where the workspace keeps such. A share shows sums only.
    pub(super) async fn last_clicks(
        &self,
        app: &App,
        query: &AnalyticsQuery,
        most: usize,
    ) -> Result<Vec<ShownEvent>, AppError> {
        let Asker::Account { caller, workspace, .. } = &self.asker else { return Ok(Vec::new()) };
        match app.read_events(caller, workspace, query, None).await {
            Ok(mut events) => events.next(app, most).await,
            Err(AppError::Invalid(_)) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Addresses that lead nowhere: of a workspace, to its members. A share does not name them.
    pub(super) async fn orphans(
        &self,
        app: &App,
        query: &AnalyticsQuery,
    ) -> Result<Option<OrphanReport>, AppError> {
        match &self.asker {
            Asker::Account { caller, workspace, code: None } => {
                Ok(Some(app.orphans(caller, workspace, query).await?))
            }
            Asker::Account { .. } | Asker::Share(_) => Ok(None),
        }
    }

    pub(super) fn shows(&self, dimension: Dimension) -> bool {
        let shared = match &self.asker {
            Asker::Account { code, .. } => code.is_none() || !is_of_links(dimension),
            Asker::Share(open) => open.shows(dimension),
        };
        shared && !self.hidden.contains(&dimension)
    }

    /// Those of the dimensions that are shown.
    pub(super) fn allowed(&self, dimensions: &[Dimension]) -> Vec<Dimension> {
        dimensions.iter().copied().filter(|dimension| self.shows(*dimension)).collect()
    }

    pub(super) fn scope(&self) -> PageScope {
        let code = match &self.asker {
            Asker::Account { code, .. } => code.as_deref(),
            Asker::Share(open) => open.code(),
        };
        if code.is_some() { PageScope::Link } else { PageScope::Workspace }
    }
}

/// Whether a dimension tells links apart.
const fn is_of_links(dimension: Dimension) -> bool {
    matches!(dimension, Dimension::Link | Dimension::Tag)
}
