//! Sums of the clicks of all workspaces, for administrators of the server.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::time::timeout;

use crate::app::analytics::day_scan::FoldScope;
use crate::app::analytics::engine::TIME_LIMIT;
use crate::app::analytics::question::{QuestionContext, read_question};
use crate::app::{App, AppError, FieldError, MAIN};
use crate::store::ListScope;
use kurz_core::account::Caller;
use kurz_core::analytics::{AnalyticsReport, Dimension};
use kurz_core::time::Timestamp;

/// Workspaces that are read at a time.
const PART: i64 = 1_000;
/// The most workspaces that are summed.
const MOST: usize = 100_000;
/// Where the range `all` begins at the earliest.
const LONGEST_DAYS: i64 = 3_650;
const DAY_MS: i64 = 86_400_000;

impl App {
    /// What is known about all clicks on the server.
    pub async fn platform_analytics(
        &self,
        caller: &Caller,
        parameters: &[(String, String)],
    ) -> Result<AnalyticsReport, AppError> {
        Self::require_admin(caller)?;
        let now = self.parts.clock.now();
        let mut scopes = Vec::new();
        let mut since = now;
        loop {
            let after = scopes.last().map_or("", |scope: &FoldScope| scope.workspace.as_str());
            let part = self.parts.store.list_workspaces(after, PART).await?;
            let is_last = part.len() < usize::try_from(PART).unwrap_or(0);
            for workspace in part {
                since = since.min(workspace.created_at);
                let list = if workspace.id.as_str() == MAIN {
                    ListScope::Main
                } else {
                    ListScope::Workspace(workspace.id.clone())
                };
                scopes.push(FoldScope {
                    workspace: workspace.id,
                    list,
                    link: None,
                    is_filtered: false,
                });
            }
            if is_last || scopes.len() >= MOST {
                break;
            }
        }
        let since = since.max(Timestamp::from_ms(now.as_ms() - LONGEST_DAYS * DAY_MS));
        let context = QuestionContext { now, since, link: None };
        let pairs = parameters.iter().map(|(name, value)| (&**name, &**value));
        let query = read_question(pairs, &context)?;
        let is_of_links = |dimension: Dimension| !matches!(dimension, Dimension::Text(_));
        let filters = query.filters.iter().map(|filter| filter.dimension);
        if query.groups.iter().copied().chain(filters).any(is_of_links) {
            let detail = "links and tags belong to workspaces: ask about a workspace";
            return Err(FieldError::new("group", "analytics-invalid", detail).into());
        }
        for scope in &mut scopes {
            scope.is_filtered = !query.filters.is_empty();
        }
        let answer = async {
            let _running = self.analytics.questions.wait(caller.owner()).await?;
            let logged = Arc::new(self.read_event_log().await?);
            self.assemble(&scopes, &query, Vec::new(), &HashMap::new(), &logged).await
        };
        timeout(TIME_LIMIT, answer).await.unwrap_or(Err(AppError::AnalyticsSlow))
    }
}
