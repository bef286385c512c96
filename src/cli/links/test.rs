//! `kurz links test`: where a visitor would be sent, and why. Nothing is counted.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::cli::CliError;
use crate::cli::arguments::{WhichLink, time};
use crate::cli::client::ApiClient;
use crate::cli::lines::{print_line, print_text};
use crate::cli::links::plan_fields::read_rules;
use crate::cli::runtime::block_on;

const EXAMPLES: &str = "\
Examples:
  kurz links test promo --country DE --agent iphone
  kurz links test promo --language fr-CH --query ab=1 --at 2026-12-24T18:00:00Z
  kurz links test promo --rules rules.json --agent android

Agents: iphone, ipad, android, windows, mac, linux, instagram, bot, preview; or the text of a User-Agent field.";

/// User agents that have a short name.
const AGENTS: [(&str, &str); 9] = [
    (
        "iphone",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
         Version/18.5 Mobile/15E148 Safari/604.1",
    ),
    (
        "ipad",
        "Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 \
         Mobile/15E148 Safari/604.1",
    ),
    (
        "android",
        "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 \
         Mobile Safari/537.36",
    ),
    (
        "windows",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 \
         Safari/537.36",
    ),
    (
        "mac",
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 \
         Safari/605.1.15",
    ),
    ("linux", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"),
    (
        "instagram",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
         Mobile/15E148 Instagram 390.0.0.0",
    ),
    ("bot", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"),
    ("preview", "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"),
];

/// Show where a visitor would be sent, and why
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    link: WhichLink,
    /// The visitor's address
    #[arg(long, value_name = "ADDRESS")]
    ip: Option<String>,
    /// The country, instead of that of the address
    #[arg(long, value_name = "DE")]
    country: Option<String>,
    /// The region, such as DE-BY
    #[arg(long, value_name = "REGION")]
    region: Option<String>,
    /// A short name, or the field User-Agent
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// The field Accept-Language
    #[arg(long, value_name = "LANGUAGE")]
    language: Option<String>,
    /// The field Referer
    #[arg(long, value_name = "URL")]
    referrer: Option<String>,
    /// The query, without the question mark
    #[arg(long, value_name = "QUERY")]
    query: Option<String>,
    /// When: 2026-12-31T23:59:59Z or 7d (from now)
    #[arg(long, value_name = "TIME", value_parser = time)]
    at: Option<String>,
    /// first or returning
    #[arg(long, value_name = "VISITOR")]
    visitor: Option<String>,
    /// Try the rules of a JSON file instead of the stored ones; - reads standard input
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let named = args.link.located(&client)?;
    let [workspaces, workspace, links, code] = named.path();
    let path = [workspaces, workspace, links, code, "simulate"];
    let answer = block_on(client.post(&path, Some(args.body()?)))?;
    if args.json { print_line(&answer.to_string()) } else { print_text(&described(&answer)) }
}

impl Args {
    fn body(&self) -> Result<Value, CliError> {
        let agent = self.agent.as_ref().map(|agent| {
            let known = AGENTS.iter().find(|(name, _)| name == agent);
            known.map_or(agent.as_str(), |(_, text)| text)
        });
        let mut body = Map::new();
        for (name, value) in [
            ("ip", self.ip.as_deref()),
            ("country", self.country.as_deref()),
            ("region", self.region.as_deref()),
            ("user_agent", agent),
            ("language", self.language.as_deref()),
            ("referrer", self.referrer.as_deref()),
            ("query", self.query.as_deref()),
            ("at", self.at.as_deref()),
            ("visitor", self.visitor.as_deref()),
        ] {
            if let Some(value) = value {
                body.insert(name.to_owned(), json!(value));
            }
        }
        if let Some(file) = &self.rules {
            let rules = match read_rules(file)? {
                Value::Object(mut fields) => fields.remove("rules").unwrap_or(Value::Null),
                rules => rules,
            };
            body.insert("rules".to_owned(), rules);
        }
        Ok(Value::Object(body))
    }
}

/// The answer in lines: status and place, the rule, then every test.
fn described(answer: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let place = text(&answer["location"]);
    let mut lines = format!("{} {place}", answer["status"]).trim_end().to_owned();
    lines.push('\n');
    if let Some(index) = answer.pointer("/rule/index").and_then(Value::as_u64) {
        let name = answer.pointer("/rule/name").map(text).unwrap_or_default();
        let name = if name.is_empty() { String::new() } else { format!(" ({name})") };
        lines.push_str(&["rule ", &(index + 1).to_string(), &name, "\n"].concat());
    }
    if let Some(variant) = answer["variant"].as_str() {
        lines.push_str(&["variant ", variant, "\n"].concat());
    }
    for page in answer["pages"].as_array().into_iter().flatten() {
        lines.push_str(&["after the page: ", &text(page), "\n"].concat());
    }
    for why in answer["why"].as_array().into_iter().flatten() {
        let number = why["rule"].as_u64().unwrap_or_default() + 1;
        let within = why["within"].as_str().map(|within| format!("{within} ")).unwrap_or_default();
        let name = why["parameter"].as_str().map(|name| format!(" {name}")).unwrap_or_default();
        let value = text(&why["value"]);
        let holds = match &why["holds"] {
            Value::Bool(true) => "holds",
            Value::Bool(false) => "does not hold",
            _ => "is unknown",
        };
        let key = text(&why["test"]);
        let line = format!("  rule {number}: {within}{key}{name} {holds}: {value}");
        lines.push_str(line.trim_end_matches([':', ' ']));
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_told_in_lines() {
        let answer = json!({
            "status": 302, "location": "https://a.example/", "rule": {"index": 1, "name": "app"},
            "variant": "new", "pages": ["consent"],
            "why": [
                {"rule": 0, "test": "country", "within": "not", "value": "", "holds": "unknown"},
                {"rule": 1, "test": "query", "parameter": "ab", "value": "1", "holds": true},
            ],
        });
        let expected = "302 https://a.example/\nrule 2 (app)\nvariant new\nafter the page: consent\n  \
                        rule 1: not country is unknown\n  rule 2: query ab holds: 1\n";
        assert_eq!(described(&answer), expected);
        assert_eq!(described(&json!({ "status": 404, "why": [] })), "404\n");
    }
}
