//! What a user agent says: browser, operating system, device, app, or the name of a bot. Browsers and
//! systems are found by the rules of uap-core, which take a while to compile: that happens when the first
//! user agent is looked at, on the thread of the writer.

use compact_str::CompactString;
use kurz_core::analytics::{Class, TextColumn};
use kurz_core::clicks::is_bot;
use ua_parser::{Extractor, Regexes};

use super::bots::name_bot;
use super::device::{app_of, device_of};
use super::text::{clean, cut, cut_to};

/// The rules of uap-core for browsers and systems, made by `scripts/user-agent-rules`.
const RULES: &str = include_str!("../../../assets/user-agents.json");

/// No more of a user agent is looked at.
const LONGEST_AGENT: usize = 512;
const LONGEST_VERSION: usize = 16;

/// Names of uap-core, and what a browser is called here.
const BROWSERS: &[(&str, &str)] = &[
    ("AdobeAIR", "Adobe AIR"),
    ("Android", "Android Browser"),
    ("Chrome Frame", "Chrome"),
    ("Chrome Mobile", "Chrome"),
    ("Chrome Mobile WebView", ANDROID_WEBVIEW),
    ("Chrome Mobile iOS", "Chrome"),
    ("DuckDuckGo Mobile", "DuckDuckGo"),
    ("Ecosia Android", "Ecosia"),
    ("Ecosia iOS", "Ecosia"),
    ("Edge Mobile", "Edge"),
    ("Firefox Alpha", "Firefox"),
    ("Firefox Beta", "Firefox"),
    ("Firefox Mobile", "Firefox"),
    ("Firefox iOS", "Firefox"),
    ("IE", "Internet Explorer"),
    ("IE Large Screen", "Internet Explorer"),
    ("IE Mobile", "Internet Explorer"),
    ("MiuiBrowser", "Mi Browser"),
    ("Mint Browser", "Mi Browser"),
    ("Mobile Safari", "Safari"),
    ("Mobile Safari UI/WKWebView", IOS_WEBVIEW),
    ("MullvadBrowser", "Mullvad Browser"),
    ("Opera Coast", "Opera"),
    ("Opera Mobile", "Opera"),
    ("Opera Neon", "Opera"),
    ("Opera Tablet", "Opera"),
    ("QQ Browser Mini", "QQ Browser"),
    ("QQ Browser Mobile", "QQ Browser"),
    ("Seznam prohlížeč", "Seznam"),
    ("WebKit Nightly", "Safari"),
    ("Whale", "Naver Whale"),
];
/// The rule for it knows old versions only.
const QUEST_MARK: &str = "OculusBrowser/";
const ANDROID_WEBVIEW: &str = "Android WebView";
const IOS_WEBVIEW: &str = "iOS WebView";

/// Names of uap-core, and what a system is called here. All else that runs on Linux is Linux.
const SYSTEMS: &[(&str, &str)] = &[
    ("ATV OS X", "tvOS"),
    ("Arch Linux", LINUX),
    ("BSD", "BSD"),
    ("BackTrack", LINUX),
    ("BlackBerry OS", "BlackBerry"),
    ("BlackBerry Tablet OS", "BlackBerry"),
    ("CentOS", LINUX),
    ("Chromecast Android", "Chromecast"),
    ("Chromecast Fuchsia", "Chromecast"),
    ("Chromecast Linux", "Chromecast"),
    ("Chromecast SmartSpeaker", "Chromecast"),
    ("Debian", LINUX),
    ("Fedora", LINUX),
    ("FreeBSD", "BSD"),
    ("Gentoo", LINUX),
    ("Kubuntu", LINUX),
    ("Linux Mint", LINUX),
    ("Lubuntu", LINUX),
    ("Mac OS", "macOS"),
    ("Mac OS X", "macOS"),
    ("Mageia", LINUX),
    ("Mandriva", LINUX),
    ("NetBSD", "BSD"),
    ("OpenBSD", "BSD"),
    ("PCLinuxOS", LINUX),
    ("Puppy", LINUX),
    ("Red Hat", LINUX),
    ("SUSE", LINUX),
    ("Slackware", LINUX),
    ("Symbian OS", "Symbian"),
    ("Symbian^3", "Symbian"),
    ("Symbian^3 Anna", "Symbian"),
    ("Symbian^3 Belle", "Symbian"),
    ("Ubuntu", LINUX),
    ("WatchOS", "watchOS"),
    ("Web0S", "webOS"),
    ("Windows Mobile", "Windows Phone"),
    ("openSUSE", LINUX),
];
const LINUX: &str = "Linux";

/// The columns that a user agent fills.
pub(super) const AGENT_COLUMNS: [TextColumn; 7] = [
    TextColumn::Bot,
    TextColumn::Browser,
    TextColumn::BrowserVersion,
    TextColumn::Os,
    TextColumn::OsVersion,
    TextColumn::Device,
    TextColumn::App,
];

/// What is known by a user agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentFacts {
    /// [`Class::Bot`] or [`Class::Preview`]; `None` for a browser.
    pub bot: Option<Class>,
    /// By [`AGENT_COLUMNS`].
    pub texts: [CompactString; AGENT_COLUMNS.len()],
}

impl AgentFacts {
    /// The text of one of [`AGENT_COLUMNS`].
    pub fn text(&self, column: TextColumn) -> &str {
        let texts = AGENT_COLUMNS.iter().zip(&self.texts);
        texts.into_iter().find(|(one, _)| **one == column).map_or("", |(_, text)| text)
    }
}

/// Reads user agents.
pub struct AgentParser(Extractor<'static>);

impl std::fmt::Debug for AgentParser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AgentParser")
    }
}

impl AgentParser {
    /// Compile the rules.
    pub fn compile() -> Self {
        let rules: Regexes<'static> =
            serde_json::from_str(RULES).expect("the rules are part of the program and tested");
        Self(Extractor::try_from(rules).expect("the rules are part of the program and tested"))
    }

    /// What is known by `agent`, which may be any bytes.
    pub fn parse(&self, agent: &[u8]) -> AgentFacts {
        let text = clean(agent.get(..LONGEST_AGENT).unwrap_or(agent), LONGEST_AGENT);
        if text.is_empty() {
            return AgentFacts::default();
        }
        if is_bot(agent) {
            let (class, name) = name_bot(&text);
            let mut facts = AgentFacts { bot: Some(class), ..AgentFacts::default() };
            let [bot, ..] = &mut facts.texts;
            *bot = name.into();
            return facts;
        }
        let (os, os_version) = self.system(&text);
        let app = app_of(&text);
        let (browser, version) = self.browser(&text, &os, &os_version, app.is_some());
        let device = device_of(&text);
        let texts = [
            CompactString::default(),
            browser,
            version,
            os,
            os_version,
            device.into(),
            app.unwrap_or_default().into(),
        ];
        AgentFacts { bot: None, texts }
    }

    fn browser(
        &self,
        text: &str,
        os: &str,
        os_version: &str,
        is_app: bool,
    ) -> (CompactString, CompactString) {
        if is_app && os == "iOS" {
            return (IOS_WEBVIEW.into(), os_version.into());
        }
        if is_app && os == "Android" {
            return (ANDROID_WEBVIEW.into(), number_after(text, "Chrome/"));
        }
        if text.contains(QUEST_MARK) {
            return ("Meta Quest Browser".into(), number_after(text, QUEST_MARK));
        }
        let Some(found) = self.0.ua.extract(text) else { return Default::default() };
        let family: &str = &found.family;
        let known = BROWSERS.iter().find(|(name, _)| *name == family).map(|(_, name)| *name);
        let is_old_firefox = family.starts_with("Firefox (");
        let name = known.unwrap_or_else(|| if is_old_firefox { "Firefox" } else { cut(family) });
        let version = if name == IOS_WEBVIEW {
            os_version.into()
        } else {
            cut_to(found.major.unwrap_or_default(), LONGEST_VERSION).into()
        };
        (name.into(), version)
    }

    fn system(&self, text: &str) -> (CompactString, CompactString) {
        // Consoles, whose rules name the system that they are made from, and newer systems.
        for (part, name) in [
            ("PlayStation", "PlayStation"),
            ("PLAYSTATION", "PlayStation"),
            ("Xbox", "Xbox"),
            ("Nintendo", "Nintendo"),
        ] {
            if text.contains(part) {
                return (name.into(), CompactString::default());
            }
        }
        if text.contains("HarmonyOS") || text.contains("OpenHarmony") {
            let version = number_after(text, "OpenHarmony ");
            return ("HarmonyOS".into(), version);
        }
        let Some(found) = self.0.os.extract(text) else { return Default::default() };
        let family: &str = &found.os;
        let name = SYSTEMS.iter().find(|(name, _)| *name == family).map(|(_, name)| *name);
        let name = name.unwrap_or_else(|| cut(family));
        let version = match &found.major {
            // That of the kernel or of a distribution says little.
            Some(major) if name != LINUX => cut_to(major, LONGEST_VERSION),
            _ => "",
        };
        (name.into(), version.into())
    }
}

/// The digits right after the first `mark`.
fn number_after(text: &str, mark: &str) -> CompactString {
    let rest = text.split_once(mark).map_or("", |(_, rest)| rest);
    rest.chars().take_while(char::is_ascii_digit).take(6).collect()
}
