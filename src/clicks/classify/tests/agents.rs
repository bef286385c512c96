//! User agents of public lists: what they say, and that bots are told from browsers.

use kurz_core::analytics::{Class, TextColumn};
use kurz_core::clicks::is_bot;

use crate::clicks::classify::agent::AgentParser;

const AGENTS: &str = include_str!("../../../../tests/vectors/user-agents.tsv");
const CRAWLERS: &str = include_str!("../../../../tests/vectors/crawlers.txt");
const BROWSERS: &str = include_str!("../../../../tests/vectors/browsers.txt");

#[test]
fn user_agents_of_public_lists_are_read_right() {
    let parser = AgentParser::compile();
    let (mut count, mut wrong) = (0, Vec::new());
    for line in AGENTS.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [browser, version, os, os_version, device, app, bot, agent] = fields[..] else {
            panic!("{line} has {} fields", fields.len());
        };
        count += 1;
        let facts = parser.parse(agent.as_bytes());
        let class = match bot.strip_prefix('+') {
            Some(_) => Some(Class::Preview),
            None => (!bot.is_empty()).then_some(Class::Bot),
        };
        if facts.bot != class {
            wrong.push(format!("{:?} is not {class:?}: {agent}", facts.bot));
        }
        for (column, expected) in [
            (TextColumn::Browser, browser),
            (TextColumn::BrowserVersion, version),
            (TextColumn::Os, os),
            (TextColumn::OsVersion, os_version),
            (TextColumn::Device, device),
            (TextColumn::App, app),
            (TextColumn::Bot, bot.trim_start_matches('+')),
        ] {
            let found = facts.text(column);
            if expected != "*" && found != expected {
                wrong.push(format!("{}: `{found}` is not `{expected}`: {agent}", column.name()));
            }
        }
    }
    assert!(count >= 400, "{count}");
    assert_eq!(wrong, [""; 0], "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

// threats: B11
#[test]
fn crawlers_of_a_public_list_are_bots_with_names() {
    let parser = AgentParser::compile();
    let (mut all, mut bots, mut named) = (0, 0, 0);
    for agent in CRAWLERS.lines() {
        all += 1;
        let facts = parser.parse(agent.as_bytes());
        assert_eq!(facts.bot.is_some(), is_bot(agent.as_bytes()), "{agent}");
        bots += u32::from(facts.bot.is_some());
        named += u32::from(!facts.text(TextColumn::Bot).is_empty());
    }
    assert!(all >= 1_400, "{all}");
    assert!(bots * 100 >= all * 99, "{bots} of {all} are recognised");
    assert_eq!(named, bots, "each has a name");
}

#[test]
fn no_browser_of_a_public_list_is_a_bot() {
    let parser = AgentParser::compile();
    let mut cubots = 0;
    for agent in BROWSERS.lines() {
        assert!(!is_bot(agent.as_bytes()), "{agent}");
        let facts = parser.parse(agent.as_bytes());
        assert_eq!(facts.bot, None, "{agent}");
        assert_ne!(facts.text(TextColumn::Device), "", "{agent}");
        cubots += u32::from(agent.to_ascii_lowercase().contains("cubot"));
    }
    assert!(BROWSERS.lines().count() >= 1_000 && cubots >= 10, "{cubots}");
}

#[test]
fn any_bytes_are_a_user_agent() {
    let parser = AgentParser::compile();
    let long = [b"Mozilla/5.0 (".as_slice(), &[b'x'; 16_384]].concat();
    let nested = [b"Mozilla/5.0 ".as_slice(), &[b'('; 512]].concat();
    let hostile: [&[u8]; 7] = [
        b"",
        b"\x00",
        b"\xff\xfe\xfd",
        b"Mozilla/5.0 \x01\x02",
        &long,
        &nested,
        b"Mozilla/5.0 (%s%n)",
    ];
    for agent in hostile {
        let facts = parser.parse(agent);
        for text in &facts.texts {
            assert!(text.len() <= 64 && !text.chars().any(char::is_control), "{text:?}");
        }
    }
    assert_eq!(parser.parse(b""), crate::clicks::classify::agent::AgentFacts::default());
}
