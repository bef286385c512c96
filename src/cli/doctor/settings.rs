//! The settings: each is within its bounds, or they could not be read at all; do they fit together?

use std::net::IpAddr;

use super::Finding;
use crate::clicks::classify::channel::ChannelTable;
use crate::clicks::classify::geo_file::GeoFile;
use crate::clock::Clock;
use crate::config::{self, Cache, Config, PublicUrl, size};
use crate::net::tls_reload::TlsReloader;
use crate::server::blocklist_file;
use kurz_core::code::counter::Scramble;

const CHECK: &str = "configuration";

/// What TLS needs, as a server would find it now.
pub(super) fn check_tls(config: &Config, clock: &Clock) -> Option<Finding> {
    match TlsReloader::open(&config.net, clock.now()) {
        Ok(None) => None,
        Ok(Some(_)) => {
            Some(Finding::ok("tls", "certificate and key belong together and are valid"))
        }
        Err(error) => Some(Finding::problem("tls", error)),
    }
}

/// The block list, as a server would find it now.
pub(super) fn check_blocklist(config: &Config) -> Option<Finding> {
    let path = config.links.blocklist.as_deref()?;
    Some(match blocklist_file::read(path) {
        Ok(list) => Finding::ok("block list", format!("{} hosts and ranges", list.len())),
        Err(error) => Finding::problem("block list", error),
    })
}

/// The files that clicks are classified by, as a server would find them now.
pub(super) fn check_classification(config: &Config, clock: &Clock) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(path) = &config.analytics.geo_file {
        findings.push(match GeoFile::open(path) {
            Ok(file) if file.is_old(clock.now()) => Finding::warning(
                "geo file",
                format!(
                    "its data are of {}, older than 60 days: put a newer file in its place, kurz reads it \
                     by itself",
                    file.built_at()
                ),
            ),
            Ok(file) => Finding::ok("geo file", format!("its data are of {}", file.built_at())),
            Err(error) => Finding::problem("geo file", error),
        });
    }
    if let Some(path) = &config.analytics.channels {
        findings.push(match ChannelTable::with_file(path) {
            Ok(_) => Finding::ok("channels", "the file can be read"),
            Err(error) => Finding::problem("channels", error),
        });
    }
    findings
}

pub(super) fn check(config: &Config) -> Vec<Finding> {
    let net = &config.net;
    let everywhere = !net.listen.ip().is_loopback();
    let mut findings = vec![
        Finding::ok(CHECK, "every setting is within its bounds"),
        Finding::ok(CHECK, cache_size(&config.cache)),
    ];
    if everywhere && config.access.open {
        findings.push(Finding::warning(
            CHECK,
            format!(
                "open mode on {}: everybody who reaches it may change every link; keep it in a \
                 closed network, or listen on 127.0.0.1 (KURZ_LISTEN)",
                net.listen
            ),
        ));
    }
    if everywhere && net.public_url.is_none() {
        findings.push(Finding::warning(
            CHECK,
            format!(
                "short URLs will begin with {}: set KURZ_PUBLIC_URL to the address that visitors use",
                net.public_url_at(net.listen)
            ),
        ));
    }
    if let Some(admin) = net.admin_listen.address().filter(|admin| !admin.ip().is_loopback()) {
        findings.push(Finding::warning(
            CHECK,
            format!("/metrics answers everybody who reaches {admin}: set KURZ_ADMIN_LISTEN"),
        ));
    }
    let public = everywhere || net.public_url.as_ref().is_some_and(is_public);
    if public && config.codes.counter_scramble == Scramble::Affine {
        findings.push(Finding::warning(
            CHECK,
            "anybody who has one counter code can compute all others: for a public server set \
             KURZ_COUNTER_SCRAMBLE=feistel, which hides their order and number (docs/CODES.md says \
             what each hides); older links keep their codes",
        ));
    }
    // The client subcommands read these.
    let client = config::environment().and_then(config::ClientConfig::read);
    findings.extend(client.err().map(|error| Finding::problem(CHECK, error)));
    findings
}

/// Whether a URL is meant for others than this machine.
fn is_public(url: &PublicUrl) -> bool {
    let host = url.host().trim_matches(['[', ']']);
    let is_loopback = host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    !is_loopback && host != "localhost" && !host.ends_with(".localhost")
}

fn cache_size(cache: &Cache) -> String {
    let bytes = size::print(cache.link_bytes());
    let source = if cache.bytes.is_some() {
        "as KURZ_CACHE_BYTES says"
    } else {
        "chosen by the machine's memory; KURZ_CACHE_BYTES sets another size"
    };
    format!("cached links use at most {bytes} ({source})")
}
