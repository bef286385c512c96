//! The network by which clients are limited.

use std::net::{IpAddr, Ipv6Addr};

/// An IPv4 address itself; of an IPv6 address its /64, since a subscriber has all of it. An IPv4-mapped
/// IPv6 address counts as IPv4.
#[inline]
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscriber_is_an_ipv4_address_or_an_ipv6_64() {
        let of = |text: &str| network(text.parse().unwrap()).to_string();
        assert_eq!(of("192.0.2.1"), "192.0.2.1");
        assert_eq!(of("::ffff:192.0.2.1"), "192.0.2.1");
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(of("2001:db8:1:3::"), "2001:db8:1:3::");
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
