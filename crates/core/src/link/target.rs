//! Which canonical URLs are allowed as targets.

use std::net::{Ipv4Addr, Ipv6Addr};

use thiserror::Error;

use crate::code::{Canonical, UrlError};

/// Why a well-formed URL is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TargetError {
    /// No server can have it: port 0, or a name that DNS cannot hold.
    #[error(transparent)]
    Unreachable(#[from] UrlError),
    /// A private address, which the operator does not allow.
    #[error("the URL leads to a private address, which this server does not allow")]
    PrivateAddress,
    /// One of this server's own short addresses.
    #[error("the URL is a short address of this server: name the place that it leads to")]
    SelfReference,
    #[error("the URL leads to a host or address that is on this server's block list")]
    Blocked,
}

impl TargetError {
    /// The stable name of the error.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unreachable(error) => error.code(),
            Self::PrivateAddress => "url-private-address",
            Self::SelfReference => "url-self-reference",
            Self::Blocked => "url-blocked",
        }
    }
}

/// Check a target; `private` says whether private addresses are allowed.
pub fn check(canonical: &Canonical, private: bool) -> Result<(), TargetError> {
    canonical.check_reachable()?;
    if private || !is_private(canonical.host()) { Ok(()) } else { Err(TargetError::PrivateAddress) }
}

fn is_private(host: &str) -> bool {
    if let Some(literal) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return literal.parse().is_ok_and(is_private_v6);
    }
    if let Ok(address) = host.parse() {
        return is_private_v4(address);
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    name == "localhost" || name.ends_with(".localhost")
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [a, b, ..] = address.octets();
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || a == 0
        || (a == 100 && (64..128).contains(&b))
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    address.is_loopback()
        || address.is_unspecified()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        || address.to_ipv4_mapped().is_some_and(is_private_v4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::canonical::canonicalise;

    #[test]
    fn targets_that_are_not_allowed_are_refused() {
        let long = format!("https://{}.example/", "a".repeat(64));
        let cases = [
            ("https://example.com/", Ok(())),
            ("https://example.com:0/", Err(TargetError::Unreachable(UrlError::PortInvalid))),
            (long.as_str(), Err(TargetError::Unreachable(UrlError::HostInvalid))),
            ("http://0x7f.1/", Err(TargetError::PrivateAddress)),
            ("http://10.1.2.3/", Err(TargetError::PrivateAddress)),
            ("http://[::ffff:7f00:1]/", Err(TargetError::PrivateAddress)),
            ("http://[fd00::1]/", Err(TargetError::PrivateAddress)),
            ("http://LOCALHOST./", Err(TargetError::PrivateAddress)),
            ("http://8.8.8.8/", Ok(())),
        ];
        for (url, expected) in cases {
            let canonical = canonicalise(url).unwrap();
            assert_eq!(check(&canonical, false), expected, "{url}");
            let allowed = expected.or_else(|error| match error {
                TargetError::PrivateAddress => Ok(()),
                error => Err(error),
            });
            assert_eq!(check(&canonical, true), allowed, "{url}");
        }
    }
}
