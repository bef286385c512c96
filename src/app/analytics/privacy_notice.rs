//! The notice about what is kept of visitors, made from the settings in force.

use std::time::Duration;

use crate::app::{App, AppError};
use crate::config::Config;
use crate::store::WorkspacePrivacy;
use kurz_core::analytics::{AnalyticsMode, VisitorPeriod};
use kurz_core::code::WorkspaceId;

/// What is kept about visitors, by the settings in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivacyNotice {
    pub mode: AnalyticsMode,
    /// How long single clicks are kept; `None`: no longer than sums need them.
    pub events_keep: Option<Duration>,
    pub sums_keep: Duration,
    /// How long a visitor is recognised.
    pub period: VisitorPeriod,
    pub honours_gpc: bool,
    pub honours_dnt: bool,
    /// The query parameter that objects.
    pub no_track_param: Option<String>,
    /// Whether regions and cities can be known.
    pub has_geo_file: bool,
}

impl PrivacyNotice {
    pub(crate) fn of(config: &Config) -> Self {
        let analytics = &config.analytics;
        Self {
            mode: analytics.mode,
            events_keep: analytics.events_keep,
            sums_keep: analytics.sums_keep,
            period: analytics.visitor_period,
            honours_gpc: analytics.honour.gpc,
            honours_dnt: analytics.honour.dnt,
            no_track_param: analytics.no_track_param.clone(),
            has_geo_file: analytics.geo_file.is_some(),
        }
    }

    /// The same for a workspace that keeps less.
    #[must_use]
    pub fn narrowed(mut self, privacy: &WorkspacePrivacy) -> Self {
        self.mode = privacy.mode.map_or(self.mode, |mode| mode.min(self.mode));
        self.events_keep = match (self.events_keep, privacy.keep) {
            (Some(server), Some(own)) => Some(server.min(own)),
            (server, _) => server,
        };
        let honours = |wish: &str| {
            privacy.honour.as_ref().is_some_and(|own| own.split(',').any(|one| one == wish))
        };
        self.honours_gpc |= honours("gpc");
        self.honours_dnt |= honours("dnt");
        let hides = |name: &str| {
            privacy.panels_off.as_ref().is_some_and(|off| off.iter().any(|one| one == name))
        };
        self.has_geo_file &= !(hides("region") && hides("city"));
        self
    }
}

impl App {
    /// What is kept about visitors of a workspace's host, or of the main host.
    pub async fn privacy_notice(&self, host: &str) -> Result<PrivacyNotice, AppError> {
        let notice = self.parts.policy.privacy.clone();
        let Some(workspace) = self.workspace_of_host(host) else { return Ok(notice) };
        let own = self.parts.store.find_privacy(&workspace).await?;
        Ok(notice.narrowed(&own.unwrap_or_default()))
    }

    /// Names of the dimensions that a workspace does not show.
    pub async fn hidden_panels(&self, workspace: &WorkspaceId) -> Result<Vec<String>, AppError> {
        let found = self.parts.store.find_privacy(workspace).await?;
        Ok(found.and_then(|privacy| privacy.panels_off).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    #[test]
    fn a_notice_is_narrowed_by_the_workspace() {
        let server = PrivacyNotice {
            mode: AnalyticsMode::Events,
            events_keep: Some(DAY * 90),
            sums_keep: DAY * 730,
            period: VisitorPeriod::Day,
            honours_gpc: true,
            honours_dnt: true,
            no_track_param: None,
            has_geo_file: true,
        };
        let own = WorkspacePrivacy {
            mode: Some(AnalyticsMode::Aggregate),
            keep: Some(DAY * 7),
            ..WorkspacePrivacy::default()
        };
        let narrowed = server.clone().narrowed(&own);
        assert_eq!(
            (narrowed.mode, narrowed.events_keep),
            (AnalyticsMode::Aggregate, Some(DAY * 7))
        );
        assert_eq!(server.clone().narrowed(&WorkspacePrivacy::default()), server);
        let deaf = PrivacyNotice { honours_gpc: false, honours_dnt: false, ..server };
        let own =
            WorkspacePrivacy { honour: Some("dnt".to_owned()), ..WorkspacePrivacy::default() };
        let notice = deaf.narrowed(&own);
        assert_eq!((notice.honours_gpc, notice.honours_dnt), (false, true));
    }
}
