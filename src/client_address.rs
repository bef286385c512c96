//! The address of the client that sent a request, behind trusted proxies. Rate limits and the audit log
//! use it.
//!
//! Invariant: headers of a peer that is not a trusted proxy are ignored. Of trusted proxies, only
//! `X-Forwarded-For` is read, from the right: the nearest proxy appends there, and what the client sent
//! is further left. `Forwarded`, `X-Real-IP`, `X-Forwarded-Host` and `X-Forwarded-Proto` are never read,
//! since a proxy that does not set them passes on the client's values.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::FromRequestParts;
use http::header::HeaderName;
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use ipnet::IpNet;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address of the client. The server adds it to the extensions of each request before the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientAddress(pub IpAddr);

impl ClientAddress {
    /// All clients whose address is not known share this one.
    pub const UNKNOWN: Self = Self(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
}

impl<S: Send + Sync> FromRequestParts<S> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().copied().unwrap_or(Self::UNKNOWN))
    }
}

/// Networks of both kinds. An IPv4 address and the same one mapped into IPv6 are equal.
#[derive(Clone, Debug, Default)]
pub struct Networks(Vec<IpNet>);

impl Networks {
    pub fn new(networks: impl IntoIterator<Item = IpNet>) -> Self {
        Self(networks.into_iter().map(canonical).collect())
    }

    pub fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// The proxies whose `X-Forwarded-For` is trusted.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies(Networks);

impl TrustedProxies {
    /// Trust all addresses of `networks`.
    pub fn new(networks: impl IntoIterator<Item = IpNet>) -> Self {
        Self(Networks::new(networks))
    }

    /// Whether `address` is in a trusted network.
    pub fn trust(&self, address: IpAddr) -> bool {
        self.0.contain(address)
    }

    /// The client of a request with these headers over a connection from `peer`: the peer itself, or,
    /// when that is a trusted proxy, the right-most address in `X-Forwarded-For` that is not one, or the
    /// left-most if all are. An item that is not an address ends the search: the address to its right is
    /// the client.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> ClientAddress {
        let fields = headers.get_all(X_FORWARDED_FOR).iter().rev();
        self.client_of(peer, fields.map(HeaderValue::as_bytes))
    }

    /// The same with the values of its fields `X-Forwarded-For`, the last one first.
    pub fn client_of<'a>(
        &self,
        peer: IpAddr,
        last_first: impl Iterator<Item = &'a [u8]>,
    ) -> ClientAddress {
        let mut client = peer.to_canonical();
        if !self.trust(client) {
            return ClientAddress(client);
        }
        let items = last_first.flat_map(|field| field.rsplit(|byte| *byte == b','));
        for item in items {
            let Some(address) = parse(item) else { break };
            client = address;
            if !self.trust(address) {
                break;
            }
        }
        ClientAddress(client)
    }
}

/// An address, optionally with a port.
fn parse(item: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(item).ok()?.trim_matches([' ', '\t']);
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let address = bare.unwrap_or(text).parse().ok();
    let address = address.or_else(|| text.parse().ok().map(|socket: SocketAddr| socket.ip()));
    address.map(|address: IpAddr| address.to_canonical())
}

/// Turn a network of IPv4-mapped IPv6 addresses into an IPv4 network.
fn canonical(network: IpNet) -> IpNet {
    let mapped = network.addr().to_canonical();
    let bits = network.prefix_len();
    let same = network.trunc();
    match (network, mapped) {
        (IpNet::V6(_), IpAddr::V4(_)) if bits >= 96 => {
            IpNet::new(mapped, bits - 96).map_or(same, |network| network.trunc())
        }
        _ => same,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn proxies(networks: &[&str]) -> TrustedProxies {
        TrustedProxies::new(networks.iter().map(|text| text.parse().unwrap()))
    }

    fn seen(proxies: &TrustedProxies, peer: &str, fields: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for field in fields {
            headers.append(X_FORWARDED_FOR, HeaderValue::from_str(field).unwrap());
        }
        proxies.client(ip(peer), &headers).0.to_string()
    }

    // threats: D3
    #[test]
    fn the_word_of_a_peer_that_is_not_trusted_is_ignored() {
        for proxies in [proxies(&[]), proxies(&["10.0.0.0/8", "fd00::/8"])] {
            for peer in ["192.0.2.1", "2001:db8::1", "127.0.0.1", "::1"] {
                for said in ["198.51.100.9", "10.0.0.1", "fd00::1", "127.0.0.1", "", "x"] {
                    assert_eq!(seen(&proxies, peer, &[said]), peer, "{said:?}");
                    assert_eq!(seen(&proxies, peer, &[said, said]), peer, "{said:?}");
                }
            }
        }
    }

    // threats: D3
    #[test]
    fn of_a_trusted_proxys_word_the_right_most_stranger_counts() {
        let proxies = proxies(&["10.0.0.0/8", "fd00::/8", "192.0.2.7/32"]);
        // What the client sent is left of what the proxy appended.
        let table: &[(&[&str], &str)] = &[
            (&[], "10.1.1.1"),
            (&["198.51.100.9"], "198.51.100.9"),
            (&["203.0.113.5, 198.51.100.9"], "198.51.100.9"),
            (&["203.0.113.5", "198.51.100.9"], "198.51.100.9"),
            (&["127.0.0.1, 198.51.100.9, 10.2.2.2"], "198.51.100.9"),
            (&["127.0.0.1, 198.51.100.9", "192.0.2.7,10.2.2.2"], "198.51.100.9"),
            (&["198.51.100.9 ,\t10.2.2.2 "], "198.51.100.9"),
            (&["198.51.100.9:4711"], "198.51.100.9"),
            (&["[2001:db8::9]:4711, fd00::2"], "2001:db8::9"),
            (&["[2001:db8::9]"], "2001:db8::9"),
            (&["2001:DB8:0::9"], "2001:db8::9"),
            (&["::ffff:198.51.100.9"], "198.51.100.9"),
            // All trusted: the left-most is the client.
            (&["10.3.3.3, 10.2.2.2"], "10.3.3.3"),
            // An invalid item hides what is left of it.
            (&["198.51.100.9, unknown, 10.2.2.2"], "10.2.2.2"),
            (&["198.51.100.9, , 10.2.2.2"], "10.2.2.2"),
            (&["198.51.100.9,"], "10.1.1.1"),
            (&["198.51.100.999"], "10.1.1.1"),
            (&["0x0a.1, 010.0.0.1"], "10.1.1.1"),
        ];
        for (fields, client) in table {
            assert_eq!(seen(&proxies, "10.1.1.1", fields), *client, "{fields:?}");
            assert_eq!(
                seen(&proxies, "::ffff:10.1.1.1", fields),
                *client,
                "a socket for both kinds shows IPv4 peers so: {fields:?}"
            );
        }
    }

    // threats: D3
    #[test]
    fn no_other_header_is_read() {
        let proxies = proxies(&["10.0.0.0/8"]);
        let names = ["forwarded", "x-real-ip", "x-client-ip", "true-client-ip", "x-forwarded-host"];
        for name in names {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_static("for=198.51.100.9"));
            assert_eq!(
                proxies.client(ip("10.1.1.1"), &headers),
                ClientAddress(ip("10.1.1.1")),
                "{name}"
            );
        }
    }

    #[test]
    fn a_network_is_what_its_prefix_says() {
        let proxies = proxies(&["10.1.2.3/8", "::ffff:192.0.2.0/120", "2001:db8::1/64"]);
        for inside in ["10.255.0.1", "::ffff:10.0.0.1", "192.0.2.200", "2001:db8::ffff:1"] {
            assert!(proxies.trust(ip(inside)), "{inside}");
        }
        for outside in ["11.0.0.1", "192.0.3.1", "2001:db8:0:1::1", "::1", "::10.0.0.1"] {
            assert!(!proxies.trust(ip(outside)), "{outside}");
        }
    }

    proptest::proptest! {
        // threats: D3
        #[test]
        fn nobody_gets_further_than_the_address_that_a_proxy_wrote(said in ".{0,200}") {
            // Whatever a client says, the proxy appends what it saw.
            let proxies = proxies(&["10.0.0.0/8"]);
            let mut headers = HeaderMap::new();
            if let Ok(value) = HeaderValue::from_str(&format!("{said}, 198.51.100.9")) {
                headers.insert(X_FORWARDED_FOR, value);
                proptest::prop_assert_eq!(
                    proxies.client(ip("10.1.1.1"), &headers),
                    ClientAddress(ip("198.51.100.9"))
                );
            }
        }
    }
}
