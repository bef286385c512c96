//! Which addresses are never dialled, and the proof that one is not among them. Pure: it looks
//! nothing up and knows no names.
//!
//! Invariant: what is special to IANA is forbidden, also where the registry calls it reachable, and
//! an IPv6 address that carries an IPv4 address is forbidden whatever it carries: host translates it,
//! and to where, cannot be known from here. A NAT64 prefix out of an operator's own space looks like
//! any other address; whoever runs one keeps it away from kurz by other means.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The IPv4 special-purpose registry, and addresses that mean something inside a cloud only.
const FORBIDDEN_V4: &[([u8; 4], u32)] = &[
    ([0, 0, 0, 0], 8),        // this network
    ([10, 0, 0, 0], 8),       // private
    ([100, 64, 0, 0], 10),    // shared by carriers; Alibaba's metadata at 100.100.100.200
    ([127, 0, 0, 0], 8),      // loopback
    ([161, 26, 0, 0], 16),    // IBM Cloud: services seen from inside
    ([166, 8, 0, 0], 14),     // IBM Cloud: services seen from inside
    ([168, 63, 129, 16], 32), // Azure: the host of a virtual machine; in no special range
    ([169, 254, 0, 0], 16),   // link-local; the metadata of most clouds at 169.254.169.254
    ([172, 16, 0, 0], 12),    // private
    ([192, 0, 0, 0], 24),     // protocol assignments; Oracle's metadata at 192.0.0.192
    ([192, 0, 2, 0], 24),     // documentation
    ([192, 31, 196, 0], 24),  // AS112
    ([192, 52, 193, 0], 24),  // AMT
    ([192, 88, 99, 0], 24),   // relays of 6to4
    ([192, 168, 0, 0], 16),   // private
    ([192, 175, 48, 0], 24),  // AS112
    ([198, 18, 0, 0], 15),    // benchmarks
    ([198, 51, 100, 0], 24),  // documentation
    ([203, 0, 113, 0], 24),   // documentation
    ([224, 0, 0, 0], 4),      // multicast
    ([240, 0, 0, 0], 4),      // reserved, and broadcast
];

/// All that is global unicast. Outside of it: loopback, mapped and compatible IPv4, NAT64, discard,
/// segment routing, unique local (with the metadata of AWS at `fd00:ec2::254` and of Google at
/// `fd20:ce::254`), link-local, site-local, multicast.
const GLOBAL_V6: ([u16; 8], u32) = ([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// What is special inside of it.
const FORBIDDEN_V6: &[([u16; 8], u32)] = &[
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), // protocols: Teredo, benchmarks, AMT, AS112, ORCHID, DRIP
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), // documentation
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), // 6to4
    ([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48), // AS112
    ([0x3ffe, 0, 0, 0, 0, 0, 0, 0], 16), // 6bone, given back
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), // documentation
];

/// Whether `address` must never be dialled for somebody else.
pub fn is_forbidden(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            FORBIDDEN_V4.iter().any(|&(network, length)| within_v4(address, network, length))
        }
        IpAddr::V6(address) => {
            let (network, length) = GLOBAL_V6;
            !within_v6(address, network, length)
                || FORBIDDEN_V6.iter().any(|&(network, length)| within_v6(address, network, length))
                || is_isatap(address)
        }
    }
}

/// ISATAP writes an IPv4 address behind `0:5efe` into the lower half of any prefix.
fn is_isatap(address: Ipv6Addr) -> bool {
    matches!(address.segments(), [_, _, _, _, 0 | 0x0200, 0x5efe, _, _])
}

fn within_v4(address: Ipv4Addr, network: [u8; 4], length: u32) -> bool {
    let differing = address.to_bits() ^ Ipv4Addr::from(network).to_bits();
    differing.leading_zeros() >= length
}

fn within_v6(address: Ipv6Addr, network: [u16; 8], length: u32) -> bool {
    let differing = address.to_bits() ^ Ipv6Addr::from(network).to_bits();
    differing.leading_zeros() >= length
}

/// An address and a port that may be dialled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vetted(SocketAddr);

impl Vetted {
    /// Every answer of one lookup, or `None` when any of them is forbidden: a host that mixes good
    /// and bad addresses means harm.
    pub(super) fn all(addresses: &[IpAddr], port: u16) -> Option<Vec<Self>> {
        let allowed = addresses.iter().all(|&address| !is_forbidden(address));
        allowed.then(|| addresses.iter().map(|&ip| Self(SocketAddr::new(ip, port))).collect())
    }

    /// What to dial.
    pub const fn socket(self) -> SocketAddr {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    // threats: H1
    #[test]
    fn special_ranges_are_forbidden_from_the_first_address_to_the_last() {
        // first, last, and the neighbours outside where those are allowed
        let ranges = [
            ("0.0.0.0", "0.255.255.255", None, Some("1.0.0.0")),
            ("10.0.0.0", "10.255.255.255", Some("9.255.255.255"), Some("11.0.0.0")),
            ("100.64.0.0", "100.127.255.255", Some("100.63.255.255"), Some("100.128.0.0")),
            ("127.0.0.0", "127.255.255.255", Some("126.255.255.255"), Some("128.0.0.0")),
            ("161.26.0.0", "161.26.255.255", Some("161.25.255.255"), Some("161.27.0.0")),
            ("166.8.0.0", "166.11.255.255", Some("166.7.255.255"), Some("166.12.0.0")),
            ("168.63.129.16", "168.63.129.16", Some("168.63.129.15"), Some("168.63.129.17")),
            ("169.254.0.0", "169.254.255.255", Some("169.253.255.255"), Some("169.255.0.0")),
            ("172.16.0.0", "172.31.255.255", Some("172.15.255.255"), Some("172.32.0.0")),
            ("192.0.0.0", "192.0.0.255", Some("191.255.255.255"), Some("192.0.1.0")),
            ("192.0.2.0", "192.0.2.255", Some("192.0.1.255"), Some("192.0.3.0")),
            ("192.31.196.0", "192.31.196.255", Some("192.31.195.255"), Some("192.31.197.0")),
            ("192.52.193.0", "192.52.193.255", Some("192.52.192.255"), Some("192.52.194.0")),
            ("192.88.99.0", "192.88.99.255", Some("192.88.98.255"), Some("192.88.100.0")),
            ("192.168.0.0", "192.168.255.255", Some("192.167.255.255"), Some("192.169.0.0")),
            ("192.175.48.0", "192.175.48.255", Some("192.175.47.255"), Some("192.175.49.0")),
            ("198.18.0.0", "198.19.255.255", Some("198.17.255.255"), Some("198.20.0.0")),
            ("198.51.100.0", "198.51.100.255", Some("198.51.99.255"), Some("198.51.101.0")),
            ("203.0.113.0", "203.0.113.255", Some("203.0.112.255"), Some("203.0.114.0")),
            ("224.0.0.0", "255.255.255.255", Some("223.255.255.255"), None),
            ("::", "1fff:ffff::", None, Some("2000::")),
            ("2001::", "2001:1ff:ffff::", Some("2000:ffff::"), Some("2001:200::")),
            ("2001:db8::", "2001:db8:ffff::", Some("2001:db7::"), Some("2001:db9::")),
            ("2002::", "2002:ffff::", Some("2001:ffff::"), Some("2003::")),
            ("2620:4f:8000::", "2620:4f:8000:ffff::", Some("2620:4f:7fff::"), Some("2620:50::")),
            ("3ffe::", "3fff:fff:ffff::", Some("3ffd::"), Some("3fff:1000::")),
            ("4000::", "ffff:ffff::ffff", Some("3fff:ffff::"), None),
        ];
        for (first, last, before, after) in ranges {
            assert!(is_forbidden(ip(first)) && is_forbidden(ip(last)), "{first} to {last}");
            for outside in [before, after].into_iter().flatten() {
                assert!(!is_forbidden(ip(outside)), "{outside} is beside {first} to {last}");
            }
        }
    }

    // threats: H1
    #[test]
    fn metadata_and_embedded_addresses_are_forbidden_by_name() {
        for address in [
            "169.254.169.254",
            "169.254.170.2",
            "169.254.42.42",
            "169.254.0.23",
            "168.63.129.16",
            "100.100.100.200",
            "192.0.0.192",
            "fd00:ec2::254",
            "fd20:ce::254",
            "fd00:42::42",
            "::1",
            "::",
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:0:127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::808:808",
            "64:ff9b:1::a00:1",
            "100::1",
            "100:0:0:1::1",
            "2001:0:7f00:1::",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:30::1",
            "2002:7f00:1::",
            "2002:808:808::1",
            "2a00::5efe:7f00:1",
            "2a00::200:5efe:a00:1",
            "5f00::1",
            "fc00::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(is_forbidden(ip(address)), "{address}");
        }
    }

    #[test]
    fn addresses_of_the_public_internet_are_allowed() {
        for address in ["1.1.1.1", "8.8.8.8", "93.184.215.14", "2606:4700:4700::1111", "2a00::1"] {
            assert!(!is_forbidden(ip(address)), "{address}");
        }
    }

    #[test]
    fn one_forbidden_answer_refuses_them_all() {
        let good = ip("93.184.215.14");
        assert_eq!(Vetted::all(&[good, ip("10.0.0.1")], 80), None);
        let sockets = Vetted::all(&[good], 443).unwrap();
        assert_eq!(sockets[0].socket(), "93.184.215.14:443".parse().unwrap());
    }

    proptest! {
        #[test]
        fn whatever_the_standard_library_calls_local_is_forbidden(bits: u32, wide: u128) {
            let narrow = Ipv4Addr::from_bits(bits);
            let local = narrow.is_private() || narrow.is_loopback() || narrow.is_link_local()
                || narrow.is_multicast() || narrow.is_documentation() || narrow.is_unspecified();
            prop_assert!(!local || is_forbidden(narrow.into()));
            prop_assert!(is_forbidden(narrow.to_ipv6_mapped().into()));
            prop_assert!(is_forbidden(narrow.to_ipv6_compatible().into()));
            let wide = Ipv6Addr::from_bits(wide);
            let local = wide.is_unique_local() || wide.is_unicast_link_local()
                || wide.is_multicast() || wide.is_loopback() || wide.is_unspecified();
            prop_assert!(!local || is_forbidden(wide.into()));
        }
    }
}
