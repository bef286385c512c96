//! The cases of [`super::ssrf`]: every spelling of a forbidden address, by every way to name it, directly
//! and after redirects, with the expected health.

use std::net::IpAddr;

use crate::egress::check::Health;

use super::fake_network::{Answer, FINE, FakeNetwork, PUBLIC, ip, moved};

/// A host as written in a URL, and the address that it means.
const SPELLINGS: &[(&str, &str)] = &[
    ("127.0.0.1", "127.0.0.1"),
    ("127.1", "127.0.0.1"),
    ("127.0.1", "127.0.0.1"),
    ("0x7f.1", "127.0.0.1"),
    ("0x7F000001", "127.0.0.1"),
    ("2130706433", "127.0.0.1"),
    ("017700000001", "127.0.0.1"),
    ("0177.0.0.1", "127.0.0.1"),
    ("0x7f.0x0.0x0.0x1", "127.0.0.1"),
    ("127.0.0.1.", "127.0.0.1"),
    ("127。0。0。1", "127.0.0.1"),
    ("①②⑦.⓪.⓪.①", "127.0.0.1"),
    ("１２７.0.0.1", "127.0.0.1"),
    ("127%2e0%2e0%2e1", "127.0.0.1"),
    ("127.255.255.254", "127.255.255.254"),
    ("0", "0.0.0.0"),
    ("0.0.0.0", "0.0.0.0"),
    ("0x0", "0.0.0.0"),
    ("10.0.0.1", "10.0.0.1"),
    ("0xa.1", "10.0.0.1"),
    ("167772161", "10.0.0.1"),
    ("012.0.0.1", "10.0.0.1"),
    ("172.16.0.1", "172.16.0.1"),
    ("172.31.255.255", "172.31.255.255"),
    ("192.168.0.1", "192.168.0.1"),
    ("0xc0a80001", "192.168.0.1"),
    ("169.254.169.254", "169.254.169.254"),
    ("2852039166", "169.254.169.254"),
    ("0xA9FEA9FE", "169.254.169.254"),
    ("0251.0376.0251.0376", "169.254.169.254"),
    ("169.254.170.2", "169.254.170.2"),
    ("100.64.0.1", "100.64.0.1"),
    ("100.100.100.200", "100.100.100.200"),
    ("168.63.129.16", "168.63.129.16"),
    ("0xa83f8110", "168.63.129.16"),
    ("192.0.0.192", "192.0.0.192"),
    ("192.0.2.1", "192.0.2.1"),
    ("198.18.0.1", "198.18.0.1"),
    ("198.51.100.1", "198.51.100.1"),
    ("203.0.113.1", "203.0.113.1"),
    ("224.0.0.1", "224.0.0.1"),
    ("240.0.0.1", "240.0.0.1"),
    ("255.255.255.255", "255.255.255.255"),
    ("[::]", "::"),
    ("[::1]", "::1"),
    ("[0:0:0:0:0:0:0:1]", "::1"),
    ("[::127.0.0.1]", "::127.0.0.1"),
    ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1"),
    ("[::ffff:7f00:1]", "::ffff:127.0.0.1"),
    ("[::FFFF:A9FE:A9FE]", "::ffff:169.254.169.254"),
    ("[64:ff9b::7f00:1]", "64:ff9b::7f00:1"),
    ("[64:ff9b:1::a00:1]", "64:ff9b:1::a00:1"),
    ("[2002:7f00:1::]", "2002:7f00:1::"),
    ("[2001:0:7f00:1::]", "2001:0:7f00:1::"),
    ("[2a00::5efe:7f00:1]", "2a00::5efe:7f00:1"),
    ("[fd00:ec2::254]", "fd00:ec2::254"),
    ("[fd20:ce::254]", "fd20:ce::254"),
    ("[fc00::1]", "fc00::1"),
    ("[fe80::1]", "fe80::1"),
    ("[fec0::1]", "fec0::1"),
    ("[ff02::1]", "ff02::1"),
    ("[100::1]", "100::1"),
    ("[2001:db8::1]", "2001:db8::1"),
    ("[2001:20::1]", "2001:20::1"),
    ("[3fff::1]", "3fff::1"),
    ("[5f00::1]", "5f00::1"),
];

/// How the forbidden address is named.
#[derive(Clone, Copy, Debug)]
enum Way {
    Literal,
    Name,
    Alias,
    GoodFirst,
    BadFirst,
}

const BY_NAME: [Way; 4] = [Way::Name, Way::Alias, Way::GoodFirst, Way::BadFirst];
const MAX_HOPS: usize = 4;

/// A URL to check in a network, and the expected health.
pub(super) struct SsrfCase {
    pub(super) what: String,
    pub(super) url: String,
    pub(super) network: FakeNetwork,
    pub(super) expected: Health,
}

/// Asserts that each spelling means its address.
fn spellings() -> impl Iterator<Item = (&'static str, IpAddr)> {
    SPELLINGS.iter().map(|&(host, address)| {
        let url = url::Url::parse(&format!("http://{host}/")).unwrap();
        let written = url.host_str().unwrap().trim_matches(['[', ']']);
        assert_eq!(ip(written), ip(address), "{host}");
        (host, ip(address))
    })
}

pub(super) fn all() -> Vec<SsrfCase> {
    let mut cases = Vec::new();
    for (host, address) in spellings() {
        for way in [Way::Literal, Way::Name, Way::Alias, Way::GoodFirst, Way::BadFirst] {
            for scheme in ["http", "https"] {
                cases.push(after_redirects(host, address, way, scheme, 0));
            }
            let hops = 1..=MAX_HOPS;
            cases.extend(hops.map(|hops| after_redirects(host, address, way, "http", hops)));
        }
        for way in BY_NAME {
            cases.push(rebound_before_get(address, way));
            cases.push(rebound_before_redirect(address, way));
        }
        cases.extend(unusual_urls(host));
    }
    cases
}

/// `bad.example` resolves to the forbidden address from the lookup `after` on.
fn naming(network: FakeNetwork, address: IpAddr, way: Way, after: usize) -> FakeNetwork {
    let good = ip(PUBLIC);
    let bad = match way {
        Way::Literal => return network,
        Way::Name | Way::Alias => vec![address],
        Way::GoodFirst => vec![good, address],
        Way::BadFirst => vec![address, good],
    };
    let mut turns = vec![vec![good]; after];
    turns.push(bad);
    match way {
        Way::Alias => network
            .name("bad.example", Answer::Alias("a.cdn.example".to_owned()))
            .name("a.cdn.example", Answer::Alias("b.cdn.example".to_owned()))
            .name("b.cdn.example", Answer::Addresses(turns)),
        _ => network.name("bad.example", Answer::Addresses(turns)),
    }
}

/// `hop0.example` sends to `hop1.example`, and so on; the last sends to the forbidden destination.
fn after_redirects(host: &str, address: IpAddr, way: Way, scheme: &str, hops: usize) -> SsrfCase {
    let host = if matches!(way, Way::Literal) { host } else { "bad.example" };
    let target = format!("{scheme}://{host}/latest/meta-data/");
    let end = target.clone();
    let network = FakeNetwork::answering(move |request| {
        let at = (0..hops).find(|hop| request.contains(&format!("host: hop{hop}.example\r\n")));
        match at {
            Some(hop) if hop + 1 == hops => moved(&end),
            Some(hop) => moved(&format!("//hop{}.example/", hop + 1)),
            None => FINE.to_owned(),
        }
    });
    SsrfCase {
        what: format!("{host} = {address} by {way:?}, {scheme}, after {hops} redirects"),
        url: if hops == 0 { target } else { "http://hop0.example/".to_owned() },
        network: naming(network, address, way, 0),
        // The fourth redirect is not parsed.
        expected: if hops == MAX_HOPS { Health::Broken } else { Health::Blocked },
    }
}

/// HEAD fails, and before GET the name resolves to something else.
fn rebound_before_get(address: IpAddr, way: Way) -> SsrfCase {
    let network = FakeNetwork::answering(|request| {
        let refuses = request.starts_with("HEAD");
        let refusal = "HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n";
        if refuses { refusal.to_owned() } else { FINE.to_owned() }
    });
    SsrfCase {
        what: format!("bad.example becomes {address} by {way:?} before GET"),
        url: "http://bad.example/".to_owned(),
        network: naming(network, address, way, 1),
        expected: Health::Ok,
    }
}

/// A redirect to the same name, which then resolves to something else.
fn rebound_before_redirect(address: IpAddr, way: Way) -> SsrfCase {
    SsrfCase {
        what: format!("bad.example becomes {address} by {way:?} before its redirect to itself"),
        url: "http://bad.example/".to_owned(),
        network: naming(FakeNetwork::saying(&moved("/again")), address, way, 1),
        expected: Health::Blocked,
    }
}

/// Ports, credentials, and URLs whose host parsers disagree about.
fn unusual_urls(host: &str) -> Vec<SsrfCase> {
    let cases = [
        (format!("http://{host}:80/"), Health::Blocked),
        (format!("http://{host}:443/"), Health::Blocked),
        (format!("https://{host}:80/"), Health::Blocked),
        (format!("http://{host}:22/"), Health::Blocked),
        (format!("http://{host}:6379/"), Health::Blocked),
        (format!("http://{host}:5432/"), Health::Blocked),
        (format!("http://{host}:65536/"), Health::Broken),
        (format!("http://good.example@{host}/"), Health::Blocked),
        (format!("http://good.example:80@{host}/"), Health::Blocked),
        (format!("http://good.example:80@{host}:80/"), Health::Blocked),
        (format!("http:/\\{host}/"), Health::Blocked),
        (format!("\thttp:{host}"), Health::Blocked),
        (format!("gopher://{host}:80/"), Health::Blocked),
        // The host is `good.example`; the rest is not part of it.
        (format!("http://good.example\\@{host}/"), Health::Ok),
        (format!("http://good.example/@{host}/"), Health::Ok),
        (format!("http://good.example?@{host}/"), Health::Ok),
        (format!("http://good.example#@{host}/"), Health::Ok),
    ];
    let case = |(url, expected): (String, _)| SsrfCase {
        what: url.clone(),
        url,
        network: FakeNetwork::saying(FINE),
        expected,
    };
    cases.into_iter().map(case).collect()
}
