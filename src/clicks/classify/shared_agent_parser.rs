//! What a user agent says, as the small numbers that rules of links go by, and the parser that all share.

use std::sync::OnceLock;

use kurz_core::analytics::{Class, TextColumn};
use kurz_core::plan::{AgentClass, BotKind, Browser, Device, InApp, Os};

use super::agent::{AgentFacts, AgentParser};

/// The parser of user agents. Its rules are compiled when they are first needed.
#[derive(Debug, Default)]
pub struct SharedAgentParser(OnceLock<AgentParser>);

impl SharedAgentParser {
    /// The parser. The first call takes a while.
    pub fn get(&self) -> &AgentParser {
        self.0.get_or_init(AgentParser::compile)
    }

    /// Whether [`SharedAgentParser::get`] returns at once.
    pub fn is_ready(&self) -> bool {
        self.0.get().is_some()
    }

    /// The class of a user agent.
    pub fn class(&self, agent: &[u8]) -> AgentClass {
        class_of(&self.get().parse(agent))
    }
}

/// The class that facts amount to.
pub fn class_of(facts: &AgentFacts) -> AgentClass {
    if let Some(class) = facts.bot {
        let bot = if class == Class::Preview { BotKind::Preview } else { BotKind::Other };
        return AgentClass { bot: Some(bot), is_known: true, ..AgentClass::default() };
    }
    let text = |column| Some(facts.text(column)).filter(|text| !text.is_empty());
    AgentClass {
        device: text(TextColumn::Device).and_then(Device::parse),
        os: text(TextColumn::Os).map(|os| match os {
            "iOS" => Os::Ios,
            "Android" => Os::Android,
            "Windows" => Os::Windows,
            "macOS" => Os::Macos,
            "Linux" => Os::Linux,
            "Chrome OS" | "ChromeOS" => Os::Chromeos,
            _ => Os::Other,
        }),
        browser: text(TextColumn::Browser).map(|browser| match browser {
            "Chrome" => Browser::Chrome,
            "Safari" => Browser::Safari,
            "Firefox" => Browser::Firefox,
            "Edge" => Browser::Edge,
            "Samsung Internet" => Browser::Samsung,
            "Opera" => Browser::Opera,
            _ => Browser::Other,
        }),
        in_app: text(TextColumn::App).map(|app| match app {
            "Instagram" => InApp::Instagram,
            "Facebook" => InApp::Facebook,
            "TikTok" => InApp::Tiktok,
            "LinkedIn" => InApp::Linkedin,
            "X" => InApp::X,
            "Snapchat" => InApp::Snapchat,
            "Telegram" => InApp::Telegram,
            "WeChat" => InApp::Wechat,
            _ => InApp::Other,
        }),
        bot: None,
        is_known: facts.texts.iter().any(|text| !text.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_apps_and_bots_have_their_class() {
        let parser = SharedAgentParser::default();
        assert!(!parser.is_ready());
        let class = |agent: &str| parser.class(agent.as_bytes());
        let iphone = class(
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like \
             Gecko) Version/17.4 Mobile/15E148 Safari/604.1",
        );
        assert_eq!(
            (iphone.device, iphone.os, iphone.browser, iphone.in_app, iphone.bot),
            (Some(Device::Phone), Some(Os::Ios), Some(Browser::Safari), None, None)
        );
        let chromebook = class(
            "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) \
             Chrome/126.0.0.0 Safari/537.36",
        );
        assert_eq!(
            (chromebook.os, chromebook.browser),
            (Some(Os::Chromeos), Some(Browser::Chrome))
        );
        let samsung = class(
            "Mozilla/5.0 (Linux; Android 14; SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) \
             SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36",
        );
        assert_eq!((samsung.os, samsung.browser), (Some(Os::Android), Some(Browser::Samsung)));
        let instagram = class(
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like \
             Gecko) Mobile/15E148 Instagram 330.0.0.0",
        );
        assert_eq!((instagram.os, instagram.in_app), (Some(Os::Ios), Some(InApp::Instagram)));
        assert_eq!(class("Slackbot-LinkExpanding 1.0").bot, Some(BotKind::Preview));
        assert_eq!(class("bingbot/2.0").bot, Some(BotKind::Other));
        assert_eq!(class(""), AgentClass::default());
        assert!(parser.is_ready());
    }
}
