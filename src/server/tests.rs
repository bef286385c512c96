//! Both ways of reading a request make the same click of it.

use std::net::IpAddr;

use http::{HeaderMap, Method};
use kurz_core::clicks::{
    Click, ClickFlags, ClickQueue, PeriodKey, QueuedClicks, VisitorKeys, Visitors, language_text,
};
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;

use super::dispatch::plain_fields;
use crate::client_address::{Networks, TrustedProxies};
use crate::clock::Stopwatch;
use crate::net::fast_path::with_plain_head;
use crate::redirect::{
    ClickFields, ClickSettings, ConnectionPeer, RedirectRequest, VisitorHeaders,
};

const AT: Timestamp = Timestamp::from_ms(1_000);
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

fn settings() -> ClickSettings {
    ClickSettings {
        honours_gpc: true,
        honours_dnt: true,
        excluded: Networks::new(["203.0.113.0/24".parse().unwrap()]),
        no_track_param: Some("notrack".to_owned()),
        country_field: Some(http::HeaderName::from_static("cf-ipcountry")),
    }
}

/// A click with its texts.
#[derive(Debug, PartialEq)]
struct Captured {
    click: Click,
    /// Host, user agent, referrer, query.
    texts: [String; 4],
}

fn capture(settings: &ClickSettings, visitors: &Visitors, fields: &ClickFields<'_>) -> Captured {
    let queue = ClickQueue::default();
    let key = PeriodKey::new(Timestamp::from_ms(0), Timestamp::from_ms(9_000), [7; 16]);
    queue.set_visitor_keys(VisitorKeys { current: Some(key), next: None });
    let seen = fields.headers.visitor(visitors, &Method::GET);
    let click = Click::new(LinkId(1), AT, 5);
    settings.queue(click, seen, visitors.seed(), Some(fields), |click, details| {
        assert!(queue.push(click, details));
    });
    let mut queued = QueuedClicks::default();
    queue.exchange(&mut queued);
    let click = queued.clicks[0];
    let text = |index| String::from_utf8_lossy(queued.texts.get(index)).into_owned();
    let texts = [click.host, click.agent, click.referrer, click.query].map(text);
    Captured { click, texts }
}

/// The click of a request, which must be the same both ways.
fn both_ways(peer: &str, target: &str, fields: &[u8]) -> Captured {
    let settings = settings();
    let proxies = TrustedProxies::new(["10.0.0.0/8".parse().unwrap()]);
    let peer = settings.peer(&proxies, peer.parse::<IpAddr>().unwrap());
    let start = format!("GET {target} HTTP/1.1\r\nHost: kurz.example:8080\r\n");
    let head = [start.as_bytes(), fields, b"\r\n"].concat();
    let visitors = Visitors::new(3);
    let (fast, headers) = with_plain_head(&head, |plain| {
        let fields = plain_fields(plain, &settings, &proxies, &peer);
        (capture(&settings, &visitors, &fields), plain.headers().unwrap())
    })
    .expect("it is plain");
    let hyper = of_hyper(&settings, &proxies, &peer, &visitors, target, &headers);
    assert_eq!(fast, hyper, "{target} {}", String::from_utf8_lossy(fields));
    fast
}

fn of_hyper(
    settings: &ClickSettings,
    proxies: &TrustedProxies,
    peer: &ConnectionPeer,
    visitors: &Visitors,
    target: &str,
    headers: &HeaderMap,
) -> Captured {
    let uri: http::Uri = target.parse().unwrap();
    let request = RedirectRequest {
        method: &Method::GET,
        host: "kurz.example",
        path: uri.path(),
        query: uri.query(),
        headers,
        peer,
        arrival: Stopwatch::start(),
    };
    capture(settings, visitors, &ClickFields::of(settings, proxies, &request))
}

fn text(fields: &str) -> Captured {
    both_ways("192.0.2.1", "/abc", fields.as_bytes())
}

#[test]
fn a_browsers_click_has_every_detail() {
    let fields = format!(
        "User-Agent: {BROWSER}\r\nAccept-Language: de-AT,de;q=0.9\r\nDNT: 0\r\n\
         Referer: https://www.Social.example/feed?me=secret\r\n"
    );
    let target = "/abc?utm_source=news&x=y";
    let Captured { click, texts } = both_ways("192.0.2.1", target, fields.as_bytes());
    assert_eq!(texts, ["kurz.example", BROWSER, "social.example", "utm_source=news&x=y"]);
    assert_eq!(click.flags, ClickFlags::DETAILS);
    assert_eq!((click.net, click.nanos), (0xC000_0201, 5));
    assert_eq!(language_text(click.language), "de-AT");
    assert!(click.person != 0);
}

#[test]
fn a_bare_click_has_address_and_host_alone() {
    let Captured { click, texts } = text("");
    assert_eq!(texts, ["kurz.example", "", "", ""]);
    assert_eq!((click.net, click.language, click.country), (0xC000_0201, 0, 0));
    assert!(click.person != 0);
    let other = both_ways("192.0.2.2", "/abc", b"").click;
    assert!(other.person != click.person);
    let six = both_ways("2001:db8:1:2:3::4", "/abc", b"").click;
    assert_eq!((six.net, six.flags.has(ClickFlags::V6)), (0x2001_0db8_0001_0002, true));
    let mapped = both_ways("::ffff:192.0.2.1", "/abc", b"").click;
    assert_eq!((mapped.net, mapped.person, mapped.flags), (click.net, click.person, click.flags));
}

#[test]
fn bots_and_prefetches_are_marked() {
    let bot = text("User-Agent: Googlebot/2.1\r\n").click.flags;
    assert!(bot.has(ClickFlags::OTHER) && !bot.has(ClickFlags::PREFETCH));
    let prefetch = text("Sec-Purpose: prefetch\r\n").click.flags;
    assert!(prefetch.has(ClickFlags::OTHER.with(ClickFlags::PREFETCH)));
}

// threats: D3
#[test]
fn only_a_trusted_proxy_is_believed() {
    let said = "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-For: 198.51.100.9, 10.0.0.2\r\n\
                CF-IPCountry: at\r\nCF-IPCountry: DE\r\n";
    let stranger = text(said).click;
    assert_eq!((stranger.net, stranger.country), (0xC000_0201, 0));
    let behind = both_ways("10.0.0.1", "/abc", said.as_bytes()).click;
    assert_eq!(behind.net, 0xC633_6409);
    assert_eq!(behind.country, u16::from_be_bytes(*b"AT"));
    assert_eq!(behind.person, both_ways("198.51.100.9", "/abc", b"").click.person);
    for country in ["A1", "DEU", "D", "", "XX", "T1", "\u{fc}b"] {
        let said = format!("CF-IPCountry: {country}\r\n");
        assert_eq!(both_ways("10.0.0.1", "/abc", said.as_bytes()).click.country, 0, "{country}");
    }
    let nothing = both_ways("10.0.0.1", "/abc", b"X-Forwarded-For: unknown\r\n").click;
    assert_eq!(nothing.net, 0x0A00_0001);
}

#[test]
fn of_a_visitor_who_asks_not_to_be_tracked_nothing_is_kept() {
    let about = format!(
        "User-Agent: {BROWSER}\r\nAccept-Language: de\r\nReferer: https://a.example/\r\n\
         X-Forwarded-For: 198.51.100.9\r\nCF-IPCountry: DE\r\n"
    );
    for (wish, target, is_excluded) in [
        ("Sec-GPC: 1\r\n", "/abc?utm_source=x", false),
        ("DNT: 1\r\n", "/abc?qr", false),
        ("DNT: 0\r\nDNT: 1\r\n", "/abc", false),
        ("", "/abc?notrack", true),
        ("", "/abc?utm_source=x&notrack=1", true),
    ] {
        let fields = format!("{about}{wish}");
        let Captured { click, texts } = both_ways("10.0.0.1", target, fields.as_bytes());
        assert_eq!(texts, ["kurz.example", "", "", ""], "{wish}{target}");
        let flags = ClickFlags::DETAILS
            .with(ClickFlags::PRIVATE)
            .with_if(ClickFlags::EXCLUDED, is_excluded);
        let host = click.host;
        assert_eq!(click, Click { flags, host, ..Click::new(LinkId(1), AT, 5) }, "{wish}{target}");
    }
    let tracked = text("Sec-GPC: 0\r\nDNT: yes\r\n").click;
    assert!(!tracked.flags.has(ClickFlags::PRIVATE) && tracked.person != 0);
}

#[test]
fn what_is_not_honoured_is_ignored() {
    let settings = ClickSettings { honours_dnt: false, no_track_param: None, ..settings() };
    let proxies = TrustedProxies::default();
    let peer = settings.peer(&proxies, "192.0.2.1".parse().unwrap());
    let click = |head: &str| {
        with_plain_head(head.as_bytes(), |plain| {
            let fields = plain_fields(plain, &settings, &proxies, &peer);
            capture(&settings, &Visitors::new(3), &fields).click.flags
        })
        .unwrap()
    };
    let dnt = click("GET /abc?notrack HTTP/1.1\r\nHost: a\r\nDNT: 1\r\n\r\n");
    // The wish is kept for workspaces that honour it.
    assert_eq!(dnt, ClickFlags::DETAILS.with(ClickFlags::DNT));
    assert!(click("GET /abc HTTP/1.1\r\nHost: a\r\nSec-GPC: 1\r\n\r\n").has(ClickFlags::PRIVATE));
}

#[test]
fn clicks_of_an_excluded_network_stand_apart_and_have_details() {
    let click = both_ways("203.0.113.7", "/abc", b"").click;
    assert_eq!(click.flags, ClickFlags::DETAILS.with(ClickFlags::EXCLUDED));
    assert_eq!(click.net, 0xCB00_7107);
    let forwarded = b"X-Forwarded-For: 203.0.113.7\r\n";
    assert_eq!(both_ways("10.0.0.1", "/abc", forwarded).click, click);
    let private = both_ways("203.0.113.7", "/abc", b"DNT: 1\r\n").click;
    assert!(private.flags.has(ClickFlags::EXCLUDED.with(ClickFlags::PRIVATE)));
}

#[test]
fn queries_without_a_campaign_are_not_kept() {
    for (target, query) in [
        ("/abc?session=secret", ""),
        ("/abc?", ""),
        ("/abc?qr", "qr"),
        ("/abc?fbclid=IwAR0", "fbclid=IwAR0"),
    ] {
        let [.., kept] = both_ways("192.0.2.1", target, b"").texts;
        assert_eq!(kept, query, "{target}");
    }
}

// threats: E14
#[test]
fn hostile_fields_are_cut_and_never_an_error() {
    let long = |byte: u8| vec![byte; 3_000];
    for byte in [b'a', b'/', b'@', b':', b',', b';', b'-', b'%', b' ', 0x80, 0xFF, 0xC3] {
        for name in ["User-Agent", "Referer", "Accept-Language"] {
            for start in ["", "https://", "de-", "android-app://"] {
                let fields =
                    [name.as_bytes(), b": ", start.as_bytes(), &long(byte), b"\r\n"].concat();
                let Captured { texts, .. } = both_ways("192.0.2.1", "/abc", &fields);
                // Each byte that is no text is shown as a character of three.
                assert!(texts.iter().all(|text| text.len() <= 3 * 512), "{name} {byte}");
            }
        }
    }
    let target = format!("/abc?utm_source={}", "x".repeat(3_000));
    let [.., query] = both_ways("192.0.2.1", &target, b"").texts;
    assert_eq!(query.len(), 512);
}

#[test]
fn a_link_without_analytics_gets_neither_details_nor_the_flag() {
    let (settings, visitors) = (settings(), Visitors::new(3));
    let seen = VisitorHeaders::default().visitor(&visitors, &Method::GET);
    let click = Click::new(LinkId(1), AT, 5);
    settings.queue(click, seen, 3, None, |queued, details| {
        assert!(details.is_none());
        assert_eq!(queued, click);
    });
}
