//! Which user agents are those of programs. The one list: workers tell people from others by it, and the
//! writer only adds names.
//!
//! A program is known by a part of its name, by a form that no browser of today has, or because it does not
//! call itself a browser at all. A missing user agent says nothing, and counts as a person.

use std::sync::LazyLock;

/// No more of a user agent is looked at.
const MOST: usize = 512;

/// Parts of the user agents of bots, crawlers, link previews, monitors and libraries, in lower case and
/// sorted.
const PIECES: &[&str] = &[
    "adbeat.com",
    "analyzer",
    "appinsights",
    "archiver",
    "audit",
    "bot",
    "bw/1",
    "censys",
    "chatgpt-user",
    "checker",
    "claude-",
    "collapsify",
    "cookiehub",
    "crawl",
    "criticalcss",
    "dareboost",
    "datanyze",
    "detectify",
    "dlc/",
    "electricmonk",
    "embedly",
    "expanse",
    "facebookcatalog",
    "facebookexternalhit",
    "favicon",
    "feeder.co",
    "fetch",
    "foregenix",
    "gomezagent",
    "google-ads-conversions",
    "google-agent",
    "google-physicalweb",
    "google-read-aloud",
    "google-safety",
    "googleagent",
    "googleimageproxy",
    "gtmetrix",
    "hardenize",
    "headless",
    "heritrix",
    "hotjar",
    "http://",
    "https://",
    "httrack",
    "hubspot",
    "iframely",
    "inspect",
    "ips-agent",
    "lighthouse",
    "linkcheck",
    "linktiger",
    "ltx71",
    "mailto:",
    "manus-user",
    "marketgoo",
    "mediapartners",
    "meta-external",
    "miniature.io",
    "monitor",
    "nbertaupete",
    "nessus",
    "netcraft",
    "newsai/",
    "newsnow/",
    "nikto",
    "nitro-",
    "nmap",
    "nutch",
    "openvas",
    "outbrain",
    "perplexity-user",
    "phantomjs",
    "pingdom",
    "playstore-google",
    "playwright",
    "preview",
    "printfriendly",
    "productfinder",
    "ps_daily",
    "ptst/",
    "puppeteer",
    "pwabuilder",
    "python",
    "qualys",
    "readable/",
    "rigor)",
    "scan",
    "scope3",
    "scrap",
    "securityheaders",
    "selenium",
    "shodan",
    "silktide",
    "sindup",
    "siteimprove",
    "slurp",
    "sogou web",
    "spider",
    "splash version",
    "sqlmap",
    "sqwatcher",
    "statuscake",
    "synapse",
    "synthetic",
    "testlocally",
    "thousandeyes",
    "trae/",
    "tsm-turingos",
    "turnitin",
    "uptime",
    "validator",
    "vkshare",
    "wappalyzer",
    "watchtowr",
    "webthumb",
    "whatsapp",
    "xmco.fr",
    "yahoo link",
    "yeti/",
    "ylt chrome",
    "zgrab",
    "zyborg",
];

/// A brand of phones whose name ends in the most common of [`PIECES`].
const PHONES: &str = "cu";
const BOT: &str = "bot";

/// Parts of the user agents of old browsers that call themselves compatible.
const COMPATIBLE_BROWSERS: &[&str] = &[
    "brew",
    "elaine",
    "khtml/",
    "konqueror",
    "msie",
    "netfront",
    "opera",
    "polaris",
    "teleca",
    "windows ce",
];

/// Parts of the user agents of old phones and browsers that do not begin with [`BROWSER`].
const OTHER_BROWSERS: &[&str] = &[
    "blackberry",
    "configuration/cldc",
    "dillo",
    "docomo",
    "dolfin",
    "gecko",
    "icab",
    "j-phone",
    "jasmine",
    "kddi",
    "links",
    "lynx/",
    "maui",
    "midp",
    "mmp/",
    "netfront",
    "netsurf",
    "nokia",
    "obigo",
    "openwave",
    "opera",
    "profile/",
    "softbank",
    "sonyericsson",
    "symbian",
    "teleca",
    "ucbrowser",
    "ucweb",
    "up.browser",
    "up.link",
    "vodafone",
    "w3m/",
    "webkit",
    "webtv",
];

const BROWSER: &[u8] = b"mozilla/";
const COMPATIBLE: &str = "compatible;";

/// For every pair of first bytes, folded to five bits each, which of [`PIECES`] begin with it: searching a
/// user agent for each of them would cost many times as much.
static FIRST_PAIRS: LazyLock<Vec<Vec<&'static str>>> = LazyLock::new(|| {
    let mut pairs = vec![Vec::new(); 1 << 10];
    for piece in PIECES {
        if let [first, second, ..] = piece.as_bytes()
            && let Some(pieces) = pairs.get_mut(pair(*first, *second))
        {
            pieces.push(*piece);
        }
    }
    pairs
});

fn pair(first: u8, second: u8) -> usize {
    usize::from(first & 31) << 5 | usize::from(second & 31)
}

/// Whether this is the user agent of a program rather than of a person's browser.
pub fn is_bot(agent: &[u8]) -> bool {
    let agent = agent.get(..MOST).unwrap_or(agent).trim_ascii().to_ascii_lowercase();
    if agent.is_empty() {
        return false;
    }
    if has_piece(&agent) {
        return true;
    }
    let has_any = |names: &[&str]| names.iter().any(|name| contains(&agent, name));
    if contains(&agent, COMPATIBLE) && !has_any(COMPATIBLE_BROWSERS) {
        return true;
    }
    !agent.starts_with(BROWSER) && !has_any(OTHER_BROWSERS)
}

fn has_piece(agent: &[u8]) -> bool {
    for (at, window) in agent.windows(2).enumerate() {
        let [first, second] = window else { continue };
        let Some(pieces) = FIRST_PAIRS.get(pair(*first, *second)) else { continue };
        let (before, rest) = agent.split_at_checked(at).unwrap_or_default();
        let is_here = |piece: &&str| {
            rest.starts_with(piece.as_bytes())
                && !(*piece == BOT && before.ends_with(PHONES.as_bytes()))
        };
        if pieces.iter().any(is_here) {
            return true;
        }
    }
    false
}

fn contains(text: &[u8], part: &str) -> bool {
    text.windows(part.len()).any(|window| window == part.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_list_is_sorted_and_holds_nothing_in_vain() {
        assert!(PIECES.is_sorted());
        for piece in PIECES {
            assert_eq!(**piece, piece.to_ascii_lowercase());
            let others = PIECES.iter().filter(|other| *other != piece);
            assert_eq!(others.filter(|other| piece.contains(**other)).count(), 0, "{piece}");
        }
    }

    #[test]
    fn programs_are_bots_and_browsers_are_not() {
        let cases: &[(&str, bool)] = &[
            ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", true),
            ("GPTBot/1.2", true),
            ("Mozilla/5.0 (compatible; SomethingNew)", true),
            ("curl/8.5.0", true),
            ("python-requests/2.32.3", true),
            (
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36",
                true,
            ),
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", false),
            ("Mozilla/5.0 (Linux; Android 9; CUBOT X19) Chrome/120.0 Mobile Safari/537.36", false),
            ("Mozilla/5.0 (Linux; Android 9; Cubot_Note) Chrome/120.0 Mobile Safari/537.36", false),
            (
                "Mozilla/5.0 (Linux; Android 9; CUBOT X19; GoogleBot) Chrome/120.0 Safari/537.36",
                true,
            ),
            ("Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1)", false),
            ("Opera/9.80 (J2ME/MIDP; Opera Mini/9.80; U; en) Presto/2.5.25 Version/10.54", false),
            ("NokiaN95/11.0.026; Series60/3.1 Profile/MIDP-2.0 Configuration/CLDC-1.1", false),
            ("", false),
            ("  ", false),
        ];
        for (agent, bot) in cases {
            assert_eq!(is_bot(agent.as_bytes()), *bot, "{agent}");
        }
        let long = format!("Mozilla/5.0 {}bot", "x".repeat(16_384));
        assert!(!is_bot(long.as_bytes()));
        assert!(is_bot(b"\xff\xfe"));
    }

    proptest! {
        #[test]
        fn a_piece_is_found_wherever_it_stands(
            piece in prop::sample::select(PIECES), before in "[ -~]{0,40}", after in "[ -~]{0,40}",
        ) {
            prop_assume!(!before.to_ascii_lowercase().ends_with(PHONES));
            let agent = format!("Mozilla/5.0 ({before}{}{after}", piece.to_uppercase());
            prop_assert!(is_bot(agent.as_bytes()));
        }

        #[test]
        fn any_bytes_are_looked_at(agent in prop::collection::vec(any::<u8>(), 0..2_000)) {
            is_bot(&agent);
        }
    }
}
