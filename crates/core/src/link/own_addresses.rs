//! Whether a URL is one of this server's own short addresses, in any spelling: a link to a link could
//! loop, or hide its target.
//!
//! Hosts are compared as a whole and in canonical form, never as substrings. Invariant: only addresses
//! that this server answers itself count: another port of the same machine is another server.

use std::net::{IpAddr, SocketAddr};

use crate::code::short_path::{self, PathTarget};
use crate::code::{Canonical, Reserved};

/// The addresses of this server that it knows.
#[derive(Clone, Debug)]
pub struct OwnAddresses {
    main_host: String,
    ports: Vec<u16>,
    bound: SocketAddr,
}

impl OwnAddresses {
    /// The server whose main host is reached at `main_host` and `port`, and which listens at `bound`.
    pub fn new(main_host: &str, port: u16, bound: SocketAddr) -> Self {
        let mut ports = vec![port, bound.port()];
        if matches!(port, 80 | 443) {
            // The default ports of http and https belong together: the one redirects to the other.
            ports.extend([80, 443]);
        }
        Self { main_host: bare(main_host).to_owned(), ports, bound }
    }

    /// Whether `target` is a short address of this server or its preview, even if no such link exists.
    /// `is_workspace` tells whether a host belongs to a workspace.
    pub fn has(
        &self,
        target: &Canonical,
        is_workspace: impl FnOnce(&str) -> bool,
        reserved: &Reserved,
    ) -> bool {
        let Some(short) = short_path::parse(target.path()) else { return false };
        let is_page = match short.target {
            PathTarget::Bare { code } => reserved.contains(code),
            PathTarget::Workspace { .. } => false,
        };
        !is_page && self.answers(target, is_workspace)
    }

    /// Whether this server answers `target`, whatever its path.
    pub fn answers(&self, target: &Canonical, is_workspace: impl FnOnce(&str) -> bool) -> bool {
        let (host, port) = (bare(target.host()), target.effective_port());
        let is_named = host == self.main_host || is_workspace(host);
        (is_named && self.ports.contains(&port)) || self.listens_at(host, port)
    }

    /// Whether a request for `host`, without a port, is for this server and not for a foreign name that
    /// somebody made resolve to it: the main host, loopback, the address it listens on. A server that
    /// listens on all addresses takes any address, since only names can be made to resolve.
    pub fn has_host(&self, host: &str) -> bool {
        let host = bare(host);
        if host == self.main_host || host == "localhost" || host.ends_with(".localhost") {
            return true;
        }
        let own = self.bound.ip().to_canonical();
        address_of(host)
            .is_some_and(|address| address.is_loopback() || address == own || own.is_unspecified())
    }

    /// Whether this is the socket that the server listens on.
    fn listens_at(&self, host: &str, port: u16) -> bool {
        if port != self.bound.port() {
            return false;
        }
        let own = self.bound.ip().to_canonical();
        let is_near = own.is_loopback() || own.is_unspecified();
        if host == "localhost" || host.ends_with(".localhost") {
            return is_near;
        }
        let Some(address) = address_of(host) else { return false };
        // A connection to the unspecified address reaches a server on all addresses or on loopback.
        address == own
            || (is_near && address.is_unspecified())
            || (own.is_unspecified() && address.is_loopback())
    }
}

/// The IP address that a host is, if it is one.
fn address_of(host: &str) -> Option<IpAddr> {
    let literal = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    literal.unwrap_or(host).parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

/// A host without a final dot.
fn bare(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::canonicalise;

    #[track_caller]
    fn is_own(own: &OwnAddresses, url: &str) -> bool {
        let reserved = Reserved::from_routes(["/app/account", "/api/docs"]);
        own.has(&canonicalise(url).unwrap(), |host| host == "go.acme.example", &reserved)
    }

    #[test]
    fn a_request_is_for_this_server_under_its_own_names_alone() {
        let own = |bound: &str| OwnAddresses::new("kurz.example", 443, bound.parse().unwrap());
        let local = own("127.0.0.1:8080");
        for host in
            ["kurz.example", "kurz.example.", "localhost", "a.localhost", "127.0.0.1", "[::1]"]
        {
            assert!(local.has_host(host), "{host}");
        }
        for host in ["", "evil.example", "192.168.1.5", "localhost.evil.example", "notlocalhost"] {
            assert!(!local.has_host(host), "{host}");
        }
        assert!(own("192.168.1.5:80").has_host("192.168.1.5"));
        assert!(!own("192.168.1.5:80").has_host("192.168.1.6"));
        assert!(own("0.0.0.0:80").has_host("192.168.1.6"));
        assert!(!own("0.0.0.0:80").has_host("evil.example"));
    }

    fn public() -> OwnAddresses {
        OwnAddresses::new("kurz.example", 443, "10.0.0.7:8080".parse().unwrap())
    }

    // threats: A11
    #[test]
    fn an_own_short_address_is_recognised_in_every_spelling() {
        for url in [
            "https://kurz.example/promo",
            "http://kurz.example/promo",
            "HTTPS://KURZ.Example/promo",
            "https://kurz.example./promo",
            "https://kurz.example:443/promo",
            "https://kurz.example:80/promo",
            "http://kurz.example:8080/promo",
            "https://kurz.example/promo/",
            "https://kurz.example//promo",
            "https://kurz.example/a/../promo",
            "https://kurz.example/%70romo",
            "https://kurz.example/promo?x=1#y",
            "https://kurz.example/promo+",
            "https://kurz.example/w/acme/promo",
            "https://ｋｕｒｚ.example/promo",
            "https://kurz。example/promo",
            "https://go.acme.example/promo",
            "https://GO.acme.example.:443/promo",
            "http://10.0.0.7:8080/promo",
            "http://0xa.7:8080/promo",
            "http://[::ffff:10.0.0.7]:8080/promo",
        ] {
            assert!(is_own(&public(), url), "{url}");
        }
    }

    // threats: A11
    #[test]
    fn every_path_of_an_own_host_is_answered_here() {
        let answers = |url: &str| {
            public().answers(&canonicalise(url).unwrap(), |host| host == "go.acme.example")
        };
        for url in
            ["https://kurz.example/", "http://kurz.example/a/b", "https://GO.acme.example./?x"]
        {
            assert!(answers(url), "{url}");
        }
        for url in ["https://kurz.example:8443/", "https://acme.example/", "https://evil.example/"]
        {
            assert!(!answers(url), "{url}");
        }
    }

    // threats: A11
    #[test]
    fn what_only_looks_like_an_own_address_is_not_one() {
        for url in [
            "https://kurz.example.evil.example/promo",
            "https://evil.example/kurz.example",
            "https://evil.example/https://kurz.example/promo",
            "https://evil.example/?u=https://kurz.example/promo",
            "https://evilkurz.example/promo",
            "https://sub.kurz.example/promo",
            "https://acme.example/promo",
            "https://kurz.example:8443/promo",
            "https://kurz.example/",
            "https://kurz.example/app",
            "https://kurz.example/blog/2026/promo",
            "http://10.0.0.7/promo",
            "http://10.0.0.8:8080/promo",
            "http://127.0.0.1:8080/promo",
            "http://localhost:8080/promo",
        ] {
            assert!(!is_own(&public(), url), "{url}");
        }
    }

    // threats: A11
    #[test]
    fn a_server_on_loopback_or_on_all_addresses_recognises_itself() {
        let near = OwnAddresses::new("127.0.0.1", 8080, "127.0.0.1:8080".parse().unwrap());
        let wide = OwnAddresses::new("kurz.example", 443, "[::]:8080".parse().unwrap());
        for own in [near, wide] {
            for host in
                ["127.0.0.1", "2130706433", "localhost", "LOCALHOST.", "0", "[::ffff:7f00:1]"]
            {
                assert!(is_own(&own, &format!("http://{host}:8080/promo")), "{host}");
                assert!(!is_own(&own, &format!("http://{host}:9000/promo")), "{host}");
            }
        }
    }
}
