//! The files by which phones learn which apps open which short addresses, made from the apps of all links of a host.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use thiserror::Error;

use super::document::AppLinks;

/// The most bytes of such a file: Apple reads no more.
pub const APP_FILE_BYTES: usize = 128 * 1024;

/// The apps of a host's links do not fit into a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the apps of this host's links fill more than {APP_FILE_BYTES} bytes: use fewer links with apps on one host"
)]
pub struct AppsTooMany;

#[derive(Serialize)]
struct SiteAssociation<'a> {
    applinks: AppLinksPart<'a>,
}

#[derive(Serialize)]
struct AppLinksPart<'a> {
    details: Vec<AppDetails<'a>>,
}

#[derive(Serialize)]
struct AppDetails<'a> {
    #[serde(rename = "appIDs")]
    app_ids: [&'a str; 1],
    components: Vec<PathComponent<'a>>,
}

#[derive(Serialize)]
struct PathComponent<'a> {
    #[serde(rename = "/")]
    path: &'a str,
}

/// `/.well-known/apple-app-site-association`, of paths of short addresses with their apps.
pub fn apple_app_site_association<'a>(
    links: impl Iterator<Item = (&'a str, &'a AppLinks)>,
) -> Result<String, AppsTooMany> {
    let mut apps: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (path, app) in links {
        if let Some(ios) = &app.ios {
            apps.entry(&ios.app_id).or_default().insert(path);
        }
    }
    let details = apps.into_iter().map(|(id, paths)| AppDetails {
        app_ids: [id],
        components: paths.into_iter().map(|path| PathComponent { path }).collect(),
    });
    let file = SiteAssociation { applinks: AppLinksPart { details: details.collect() } };
    bounded(serde_json::to_string(&file).unwrap_or_default())
}

#[derive(Serialize)]
struct AssetStatement<'a> {
    relation: [&'static str; 1],
    target: AssetTarget<'a>,
}

#[derive(Serialize)]
struct AssetTarget<'a> {
    namespace: &'static str,
    package_name: &'a str,
    sha256_cert_fingerprints: BTreeSet<&'a str>,
}

/// `/.well-known/assetlinks.json`, of the apps of links.
pub fn asset_links<'a>(apps: impl Iterator<Item = &'a AppLinks>) -> Result<String, AppsTooMany> {
    let mut prints: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for app in apps {
        if let Some(android) = &app.android {
            let known = prints.entry(&android.package).or_default();
            known.extend(android.sha256.iter().map(String::as_str));
        }
    }
    // Without a certificate nobody can prove anything.
    let prints = prints.into_iter().filter(|(_, prints)| !prints.is_empty());
    let file: Vec<_> = prints
        .map(|(package_name, sha256_cert_fingerprints)| AssetStatement {
            relation: ["delegate_permission/common.handle_all_urls"],
            target: AssetTarget {
                namespace: "android_app",
                package_name,
                sha256_cert_fingerprints,
            },
        })
        .collect();
    bounded(serde_json::to_string(&file).unwrap_or_default())
}

fn bounded(file: String) -> Result<String, AppsTooMany> {
    if file.len() <= APP_FILE_BYTES { Ok(file) } else { Err(AppsTooMany) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::document::{AndroidApp, IosApp};

    fn app(id: &str, package: &str, print: &str) -> AppLinks {
        let ios = IosApp { app_id: id.to_owned(), path: None, store_url: None };
        let android = AndroidApp {
            package: package.to_owned(),
            sha256: vec![print.to_owned()],
            path: None,
            store_url: None,
        };
        AppLinks { ios: Some(ios), android: Some(android) }
    }

    #[test]
    fn each_app_is_there_once_with_the_paths_of_its_links() {
        let apps =
            [app("T.one", "a.b", "AA"), app("T.one", "a.b", "BB"), app("T.two", "a.c", "AA")];
        let links = ["/x", "/y", "/x"].into_iter().zip(&apps);
        assert_eq!(
            apple_app_site_association(links).unwrap(),
            r#"{"applinks":{"details":[{"appIDs":["T.one"],"components":[{"/":"/x"},{"/":"/y"}]},{"appIDs":["T.two"],"components":[{"/":"/x"}]}]}}"#
        );
        let file = asset_links(apps.iter()).unwrap();
        assert!(
            file.contains(r#""package_name":"a.b","sha256_cert_fingerprints":["AA","BB"]"#),
            "{file}"
        );
        assert_eq!(asset_links(std::iter::empty()).unwrap(), "[]");
    }

    #[test]
    fn too_many_apps_are_refused() {
        let apps: Vec<_> = (0..10_000).map(|at| app(&format!("T.app{at}"), "a.b", "AA")).collect();
        let links = std::iter::repeat("/x").zip(&apps);
        assert_eq!(apple_app_site_association(links), Err(AppsTooMany));
    }
}
