//! Where a link answers: the shortest address that works.

use crate::config::PublicUrl;
use kurz_core::link::Link;

/// The shortest address of a link whose workspace has the hosts `hosts`. Of two equally short
/// ones, the workspace's own host wins.
pub(crate) fn short_url(public: &PublicUrl, link: &Link, hosts: &[String]) -> String {
    let code = link.code.as_str();
    let own = hosts.iter().map(|host| format!("{}/{code}", public.at_host(host)));
    let bare = link.main_since.map(|_| format!("{public}/{code}"));
    let always = format!("{public}/w/{}/{code}", link.workspace);
    own.chain(bare).chain([always.clone()]).min_by_key(String::len).unwrap_or(always)
}
