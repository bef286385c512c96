//! The block list: hosts and addresses that no link may lead to. A line is a host name, which includes
//! its subdomains, an address, or a range of addresses (`192.0.2.0/24`); `#` begins a
//! comment.
//!
//! Sized for a million lines: the names are sorted and concatenated in one string, so that each costs
//! its own length and four bytes. Invariant: names are in canonical form and without a dot at their
//! end, ranges are sorted and neither overlap nor touch.

use std::net::IpAddr;

use thiserror::Error;

use crate::code::canonicalise;

/// The most bytes of a list: the offsets of names have 32 bits.
pub const MOST_BYTES: usize = 256 << 20;

/// The most characters of an invalid line that are shown.
const SHOWN: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "line {number} is `{text}`, but a line is a host name, an address, or a range such as 192.0.2.0/24"
)]
pub struct BadLine {
    /// Its number, from 1.
    pub number: usize,
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocklist {
    names: Box<str>,
    starts: Box<[u32]>,
    /// First and last address of each range, IPv4 as IPv4-mapped IPv6.
    ranges: Box<[(u128, u128)]>,
}

enum BlocklistLine {
    Nothing,
    Name(String),
    Range(u128, u128),
}

impl Blocklist {
    /// Parse a list; one invalid line is an error.
    pub fn parse(text: &str) -> Result<Self, BadLine> {
        let mut names = Vec::new();
        let mut ranges = Vec::new();
        for (at, line) in text.lines().enumerate() {
            match read(line) {
                Some(BlocklistLine::Nothing) => {}
                Some(BlocklistLine::Name(name)) => names.push(name.into_boxed_str()),
                Some(BlocklistLine::Range(first, last)) => ranges.push((first, last)),
                None => {
                    let text = line.trim().chars().filter(|c| !c.is_control()).take(SHOWN);
                    return Err(BadLine { number: at + 1, text: text.collect() });
                }
            }
        }
        names.sort_unstable();
        names.dedup();
        let mut joined = String::with_capacity(names.iter().map(|name| name.len()).sum());
        let mut starts = Vec::with_capacity(names.len());
        for name in names {
            starts.push(u32::try_from(joined.len()).unwrap_or(u32::MAX));
            joined.push_str(&name);
        }
        Ok(Self { names: joined.into(), starts: starts.into(), ranges: merge(ranges).into() })
    }

    /// The number of hosts and ranges.
    pub fn len(&self) -> usize {
        self.starts.len() + self.ranges.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether `host`, as in a canonical form, is blocked.
    pub fn covers(&self, host: &str) -> bool {
        if self.is_empty() {
            return false;
        }
        if let Some(address) = address(host) {
            let number = number(address);
            let after = self.ranges.partition_point(|(first, _)| *first <= number);
            let before = after.checked_sub(1).and_then(|at| self.ranges.get(at));
            return before.is_some_and(|(_, last)| number <= *last);
        }
        // The name itself, then each of its parent domains.
        let mut name = host.strip_suffix('.').unwrap_or(host);
        loop {
            if self.has(name) {
                return true;
            }
            match name.split_once('.') {
                Some((_, above)) => name = above,
                None => return false,
            }
        }
    }

    fn has(&self, name: &str) -> bool {
        let (mut low, mut high) = (0, self.starts.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.name(middle).cmp(name) {
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        false
    }

    fn name(&self, at: usize) -> &str {
        let start = |at| self.starts.get(at).and_then(|start| usize::try_from(*start).ok());
        let from = start(at).unwrap_or(self.names.len());
        let to = start(at + 1).unwrap_or(self.names.len());
        self.names.get(from..to).unwrap_or_default()
    }
}

/// Parse a line; `None` when it is neither host nor address.
fn read(line: &str) -> Option<BlocklistLine> {
    let text = line.split('#').next().unwrap_or_default().trim();
    if text.is_empty() {
        return Some(BlocklistLine::Nothing);
    }
    if let Some((start, bits)) = text.split_once('/') {
        return range(start.parse().ok()?, bits);
    }
    let is_v6 = text.contains(':') && !text.starts_with('[');
    let host = if is_v6 { format!("[{text}]") } else { text.to_owned() };
    // Characters that end or delimit a host in a URL.
    if text.contains(['?', '@', '\\']) || (!is_v6 && !text.starts_with('[') && text.contains(':')) {
        return None;
    }
    // Hosts are parsed as in URLs.
    let canonical = canonicalise(&format!("https://{host}/")).ok()?;
    canonical.check_reachable().ok()?;
    let host = canonical.host();
    if canonical.port().is_some() || canonical.path() != "/" {
        return None;
    }
    if let Some(address) = address(host) {
        return Some(BlocklistLine::Range(number(address), number(address)));
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    // The host of a URL may contain characters that no domain has, such as a star.
    let is_label = |label: &str| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        !label.is_empty() && label.bytes().all(fits)
    };
    name.split('.').all(is_label).then(|| BlocklistLine::Name(name.to_owned()))
}

/// The addresses that share their first `bits` with `start`.
fn range(start: IpAddr, bits: &str) -> Option<BlocklistLine> {
    let most = if start.is_ipv4() { 32 } else { 128 };
    // `parse` would accept a plus sign.
    let digits = bits.bytes().all(|byte| byte.is_ascii_digit());
    let bits: u32 = bits.parse().ok().filter(|bits| digits && *bits <= most)?;
    let free = most - bits;
    let mask = u128::MAX.checked_shl(free).unwrap_or(0);
    let first = number(start) & mask | if start.is_ipv4() { MAPPED } else { 0 };
    // A first address with bits set beyond the prefix length is a mistake.
    (first == number(start)).then_some(BlocklistLine::Range(first, first | !mask))
}

/// The prefix of IPv4-mapped addresses in IPv6.
const MAPPED: u128 = 0xffff_0000_0000;

fn number(address: IpAddr) -> u128 {
    match address.to_canonical() {
        IpAddr::V4(address) => MAPPED | u128::from(u32::from(address)),
        IpAddr::V6(address) => address.into(),
    }
}

/// The address, if a canonical host is one.
fn address(host: &str) -> Option<IpAddr> {
    let literal = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    literal.unwrap_or(host).parse().ok()
}

/// Sorts the ranges and joins those that overlap or touch.
fn merge(mut ranges: Vec<(u128, u128)>) -> Vec<(u128, u128)> {
    ranges.sort_unstable();
    let mut merged: Vec<(u128, u128)> = Vec::with_capacity(ranges.len());
    for (first, last) in ranges {
        match merged.last_mut() {
            Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
            _ => merged.push((first, last)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn covers(list: &Blocklist, url: &str) -> bool {
        list.covers(canonicalise(url).unwrap().host())
    }

    const LIST: &str = "# bad places\n\
        evil.example\n\
        \n  Bücher.Example.  # with a remark\n\
        192.0.2.7\n\
        198.51.100.0/24\n\
        2001:db8::/32\n\
        [2001:db9::1]\n\
        0x7f.1\n\
        zip\r\n";

    // threats: A17
    #[test]
    fn a_host_covers_its_subdomains_and_nothing_else() {
        let list = Blocklist::parse(LIST).unwrap();
        assert_eq!(list.len(), 8);
        for url in [
            "https://evil.example/",
            "https://EVIL.example.:8443/x",
            "http://a.b.evil.example/",
            "https://xn--bcher-kva.example/",
            "https://shop.bücher.example/",
            "https://anything.zip/",
        ] {
            assert!(covers(&list, url), "{url}");
        }
        for url in [
            "https://notevil.example/",
            "https://evil.example.org/",
            "https://example/",
            "https://good.example/evil.example",
            "https://zip.example/",
        ] {
            assert!(!covers(&list, url), "{url}");
        }
    }

    // threats: A17
    #[test]
    fn addresses_are_covered_in_every_spelling() {
        let list = Blocklist::parse(LIST).unwrap();
        for url in [
            "http://192.0.2.7/",
            "http://0xc0000207/",
            "http://[::ffff:192.0.2.7]/",
            "http://198.51.100.0/",
            "http://198.51.100.255:81/",
            "http://[2001:db8:ffff::1]/",
            "http://[2001:db9::1]/",
            "http://127.0.0.1/",
        ] {
            assert!(covers(&list, url), "{url}");
        }
        for url in [
            "http://192.0.2.6/",
            "http://192.0.2.8/",
            "http://198.51.99.255/",
            "http://198.51.101.0/",
            "http://[2001:db7:ffff::1]/",
            "http://[2001:db9::2]/",
        ] {
            assert!(!covers(&list, url), "{url}");
        }
        let all = Blocklist::parse("0.0.0.0/0").unwrap();
        assert!(covers(&all, "http://255.255.255.255/") && !covers(&all, "http://[2001::1]/"));
        assert!(covers(&Blocklist::parse("::/0").unwrap(), "http://1.2.3.4/"));
    }

    // threats: A17
    #[test]
    fn an_invalid_line_is_reported() {
        for bad in [
            "https://evil.example/",
            "evil.example/path",
            "evil.example:443",
            "0.0.0.0 evil.example",
            "*.evil.example",
            "||evil.example^",
            "user@evil.example",
            ".evil.example",
            "evil..example",
            "evil example",
            "192.0.2.0/33",
            "192.0.2.1/24",
            "192.0.2.0/+24",
            "1.2.3.4.5",
            "[::1",
            "a?b",
            "a\\b",
        ] {
            let error =
                Blocklist::parse(&format!("good.example\n{bad}\nmore.example")).unwrap_err();
            assert_eq!((error.number, error.text.as_str()), (2, bad));
        }
        let shown = Blocklist::parse(&"x y".repeat(1000)).unwrap_err().to_string();
        assert!(shown.len() < 300 && shown.starts_with("line 1 is `x yx y"), "{shown}");
    }

    // threats: A17
    #[test]
    fn a_million_hosts_cost_their_length_and_little_more() {
        let mut text = String::new();
        for number in 0..1_000_000_u32 {
            // Unsorted, as lists are.
            let mixed = number.wrapping_mul(2_654_435_761);
            writeln!(text, "host-{mixed:08x}.example{}.net", number % 7).unwrap();
        }
        let list = Blocklist::parse(&text).unwrap();
        assert_eq!(list.len(), 1_000_000);
        let bytes = list.names.len() + list.starts.len() * 4;
        assert!(bytes < text.len() + 4_000_000, "{bytes} bytes for a list of {}", text.len());
        for number in (0..1_000_000_u32).step_by(997) {
            let mixed = number.wrapping_mul(2_654_435_761);
            let host = format!("host-{mixed:08x}.example{}.net", number % 7);
            assert!(list.covers(&host) && list.covers(&format!("a.b.{host}")));
            assert!(!list.covers(&format!("x{host}")));
        }
        assert!(!list.covers("example1.net"));
    }

    proptest! {
        // threats: A17
        #[test]
        fn a_list_agrees_with_a_linear_search(
            names in proptest::collection::vec("[ab]{1,2}(\\.[ab]{1,2}){0,2}", 0..12),
            host in "[ab]{1,2}(\\.[ab]{1,2}){0,3}",
        ) {
            let list = Blocklist::parse(&names.join("\n")).unwrap();
            let plain = names.iter().any(|name| {
                host == *name || host.ends_with(&format!(".{name}"))
            });
            prop_assert_eq!(list.covers(&host), plain);
        }

        // threats: A17
        #[test]
        fn parsing_a_list_never_panics(text in "\\PC{0,60}") {
            if let Err(error) = Blocklist::parse(&text) {
                prop_assert!(error.number >= 1);
            }
        }
    }
}
