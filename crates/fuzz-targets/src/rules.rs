//! Any JSON as a plan, with any request: refused, or stored as it is read and compiled; the simulator and the redirect
//! agree, and the `Location` is a legal header.

use kurz_core::clicks::Channel;
use kurz_core::link::LinkId;
use kurz_core::plan::{
    AgentClass, CheckContext, CompileContext, Country, Inputs, Plan, PlanDocument, PlanOutcome,
    Region, SplitKey, VisitorPlace,
};
use kurz_core::time::Timestamp;

/// The most bytes of a `Location`.
const LONGEST: usize = 10 * 1024;

/// The first three lines are the query, `Accept-Language` and `Referer`; the rest is the JSON of the plan.
pub fn rules(input: &str) {
    let mut lines = input.splitn(4, '\n');
    let mut line = || lines.next().unwrap_or_default();
    let request = FuzzedRequest { query: line(), language: line(), referrer: line() };
    let Ok(mut document) = PlanDocument::from_json(line()) else { return };
    document.take_keys(&PlanDocument::default(), || [7; SplitKey::BYTES]);
    let again = PlanDocument::from_stored(&document.to_json(), &document.keys());
    assert_eq!(again.as_ref(), Ok(&document), "it is stored as it was read");
    let check = CheckContext {
        expires_at: None,
        redirect_status: 302,
        health_checks: false,
        knows_visitors: false,
    };
    let _ = document.check(&check);
    let _ = document.warnings(false, false);
    let context = CompileContext {
        link: LinkId(1),
        target: "https://a.example/?a=1#part",
        code: "abc",
        workspace: "main",
        no_track: Some("notrack"),
        now: request.now(),
    };
    let Ok(plan) = Plan::compile(&document, &context) else { return };
    let choice = plan.choose(&request);
    assert_eq!(plan.explain(&request).choice, choice, "the simulator agrees");
    let PlanOutcome::Target(target) = choice.outcome else { return };
    let mut buffer = Vec::new();
    let location = plan.location(target, &choice, &request, &mut buffer);
    assert!(!location.is_empty() && location.len() <= LONGEST);
    assert!(location.iter().all(u8::is_ascii_graphic), "it is fit for a header");
}

struct FuzzedRequest<'a> {
    query: &'a str,
    language: &'a str,
    referrer: &'a str,
}

impl Inputs for FuzzedRequest<'_> {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(1_773_576_000_000)
    }

    fn agent(&self) -> AgentClass {
        AgentClass::unpack(0x11_1111)
    }

    fn agent_hash(&self) -> u64 {
        5
    }

    fn accept_language(&self) -> &[u8] {
        self.language.as_bytes()
    }

    fn place(&self) -> VisitorPlace {
        let country = Country::from_text(self.query.get(..2).unwrap_or_default());
        VisitorPlace {
            country,
            region: Region::from_text(self.language.get(..5).unwrap_or_default()),
        }
    }

    fn address(&self) -> Option<u128> {
        Some(1)
    }

    fn query(&self) -> &[u8] {
        self.query.as_bytes()
    }

    fn referrer(&self) -> &[u8] {
        self.referrer.as_bytes()
    }

    fn channel(&self, host: &[u8]) -> Channel {
        if host.is_empty() { Channel::Direct } else { Channel::Referral }
    }

    fn is_returning(&self) -> Option<bool> {
        None
    }

    fn host(&self) -> &str {
        self.referrer
    }
}
