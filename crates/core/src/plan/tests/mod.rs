//! Tests of plans as a whole.

mod documents;
mod interpreter;
mod keys;
mod locations;
mod random_plans;

use super::{
    AgentClass, CompileContext, Country, Inputs, Plan, PlanDocument, Region, SplitKey, VisitorPlace,
};
use crate::clicks::Channel;
use crate::link::LinkId;
use crate::time::Timestamp;

/// A request with nothing known but its time.
#[derive(Clone, Debug)]
struct TestRequest {
    now: Timestamp,
    agent: AgentClass,
    agent_hash: u64,
    language: String,
    country: String,
    region: String,
    address: Option<u128>,
    query: String,
    referrer: String,
    returning: Option<bool>,
}

/// A Wednesday.
const NOON: &str = "2026-11-18T12:00:00Z";

fn at(text: &str) -> Timestamp {
    Timestamp::parse_rfc3339(text).unwrap()
}

impl Default for TestRequest {
    fn default() -> Self {
        Self {
            now: at(NOON),
            agent: AgentClass::default(),
            agent_hash: 0,
            language: String::new(),
            country: String::new(),
            region: String::new(),
            address: None,
            query: String::new(),
            referrer: String::new(),
            returning: None,
        }
    }
}

impl Inputs for TestRequest {
    fn now(&self) -> Timestamp {
        self.now
    }

    fn agent(&self) -> AgentClass {
        self.agent
    }

    fn agent_hash(&self) -> u64 {
        self.agent_hash
    }

    fn accept_language(&self) -> &[u8] {
        self.language.as_bytes()
    }

    fn place(&self) -> VisitorPlace {
        VisitorPlace {
            country: Country::from_text(&self.country),
            region: Region::from_text(&self.region),
        }
    }

    fn address(&self) -> Option<u128> {
        self.address
    }

    fn query(&self) -> &[u8] {
        self.query.as_bytes()
    }

    fn referrer(&self) -> &[u8] {
        self.referrer.as_bytes()
    }

    fn channel(&self, host: &[u8]) -> Channel {
        if host.eq_ignore_ascii_case(b"search.example") {
            Channel::Search
        } else {
            Channel::Referral
        }
    }

    fn is_returning(&self) -> Option<bool> {
        self.returning
    }

    fn host(&self) -> &'static str {
        "go.example"
    }
}

const TARGET: &str = "https://example.com/own";

fn compile(document: &PlanDocument) -> Plan {
    let context = CompileContext {
        link: LinkId(7),
        target: TARGET,
        code: "abc",
        workspace: "main",
        no_track: Some("notrack"),
        now: at(NOON),
    };
    Plan::compile(document, &context).unwrap()
}

fn document(json: &str) -> PlanDocument {
    let mut document = PlanDocument::from_json(json).unwrap();
    document.take_keys(&PlanDocument::default(), || [5; SplitKey::BYTES]);
    document
}
