//! The files by which phones know that an app opens the links of a host, from the plans of its workspace.

use crate::app::{App, AppError};
use kurz_core::code::WorkspaceId;
use kurz_core::link::LinkId;
use kurz_core::plan::{AppLinks, PlanDocument, apple_app_site_association, asset_links};

/// Plans that are read at a time.
const PAGE: i64 = 1_000;
/// Links with apps that a file is made of: more do not fit into it.
const MOST: usize = 10_000;

impl App {
    /// `apple-app-site-association` of a host; `None` where the host is no workspace's, or has no apps.
    pub async fn apple_app_file(&self, host: &str) -> Result<Option<String>, AppError> {
        let links = self.links_with_apps(host).await?;
        let paths = links.iter().map(|(path, app)| (path.as_str(), app));
        Ok(apple_app_site_association(paths).ok().filter(|_| !links.is_empty()))
    }

    /// `assetlinks.json` of a host, likewise.
    pub async fn android_app_file(&self, host: &str) -> Result<Option<String>, AppError> {
        let links = self.links_with_apps(host).await?;
        Ok(asset_links(links.iter().map(|(_, app)| app)).ok().filter(|_| !links.is_empty()))
    }

    /// The paths and apps of the links of a workspace's host.
    async fn links_with_apps(&self, host: &str) -> Result<Vec<(String, AppLinks)>, AppError> {
        let workspace: Option<WorkspaceId> = self.workspace_of_host(host);
        let (mut found, mut after) = (Vec::new(), LinkId(i64::MIN));
        let Some(workspace) = workspace else { return Ok(found) };
        while found.len() < MOST {
            let store = &self.parts.store;
            let page = store.list_workspace_plans(workspace.as_str(), after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.link;
            found.extend(page.into_iter().filter_map(|listed| {
                let document = PlanDocument::from_json(&listed.document).ok()?;
                Some((format!("/{}", listed.code), document.app?))
            }));
        }
        Ok(found)
    }
}
