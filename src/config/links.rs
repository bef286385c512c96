//! Defaults for links, unless a workspace or a link sets its own, and restrictions on targets. `link`
//! applies them.
//!
//! Invariant: "no limit" and "never" are `None`, not zero.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::setting::settings;
use super::value_parser::{address, choice, number, path, span, web_url};

/// A hundred years: no clock overflows.
const LONGEST: Duration = Duration::from_hours(24 * 36_500);

/// Whether a link may lead to loopback, private and link-local addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrivateTargets {
    /// Yes: teams shorten addresses of their intranet.
    Allow,
    /// No: creating such a link fails.
    Refuse,
}

/// Whether a link's target can be changed after creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Targets {
    /// Yes, by those who may edit the link.
    Editable,
    /// No.
    Fixed,
}

settings! {
    /// Defaults and restrictions for links.
    pub(crate) struct Links {
        /// How often a link may be followed in a UTC calendar month.
        "hit_limit" => hit_limit: Option<u64> =
            number(0..=1_000_000_000_000_u64).zero_is_none("0 = off").or("10000"),
        /// After how long a link of the counter strategy expires, if its owner is signed in.
        "counter_ttl" => counter_ttl: Option<Duration> =
            span(Duration::ZERO..=LONGEST).zero_is_none("0 = never expires").or("365d"),
        /// Whether links may lead to loopback, private and link-local addresses.
        "private_targets" => private_targets: PrivateTargets =
            choice([("allow", PrivateTargets::Allow), ("refuse", PrivateTargets::Refuse)])
                .or("allow"),
        /// Whether a link's target can be changed after creation.
        "targets" => targets: Targets =
            choice([("editable", Targets::Editable), ("fixed", Targets::Fixed)]).or("editable"),
        /// How long a host that a workspace gave up is kept from other workspaces; administrators
        /// of the server may reassign it at once.
        "host_quarantine" => host_quarantine: Duration = span(Duration::ZERO..=LONGEST).or("30d"),
        /// The DNS server that is asked, over TCP, for the TXT records that prove hosts.
        "dns_resolver" => dns_resolver: Option<SocketAddr> =
            address().or_none("the first one that /etc/resolv.conf names"),
        /// Where `/` of the main host leads, instead of the front page. The pages stay at `/app`.
        "home_url" => home_url: Option<String> = web_url().or_none("the front page"),
        /// Where unknown codes of the main host lead, instead of the page that says so.
        "not_found_url" => not_found_url: Option<String> = web_url().or_none("a page with 404"),
        /// Where paths of the main host lead that can be no code and are no page.
        "invalid_code_url" => invalid_code_url: Option<String> =
            web_url().or_none("a page with 404"),
        /// A file of hosts and addresses that no link may lead to, one per line; it is read again
        /// when it changes.
        "blocklist" => blocklist: Option<PathBuf> = path().or_none("none: nothing is blocked"),
    }
}
