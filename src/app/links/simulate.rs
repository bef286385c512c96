//! Trying a link: which step answers a visitor, which rule applies, and why. Nothing is counted, and no limit is used.

use std::net::IpAddr;

use crate::app::{App, AppError, FieldError, ShownLink};
use crate::clicks::classify::channel::ChannelTable;
use crate::clicks::classify::place_of;
use kurz_core::account::{Act, Caller};
use kurz_core::clicks::{Channel, Visitors, is_bot, referrer_host};
use kurz_core::code::{WorkspaceId, canonicalise};
use kurz_core::link::location::location;
use kurz_core::link::{Link, Status};
use kurz_core::plan::{
    AgentClass, BotKind, Country, Explanation, FAILED_CHECKS_OF_DOWN, Inputs, Os, Plan,
    PlanChanges, PlanChoice, PlanDocument, PlanField, PlanJson, PlanOutcome, Region, TargetId,
    TestKey, VisitorPlace,
};
use kurz_core::time::Timestamp;

/// A visitor who is made up. What is not said is unknown, but for the time, which is now.
#[derive(Clone, Debug, Default)]
pub struct SimulatedVisit {
    pub ip: Option<String>,
    /// Instead of that of the address.
    pub country: Option<String>,
    pub region: Option<String>,
    pub user_agent: Option<String>,
    /// As in `Accept-Language`.
    pub language: Option<String>,
    /// As in `Referer`.
    pub referrer: Option<String>,
    /// Without the question mark.
    pub query: Option<String>,
    pub at: Option<Timestamp>,
    /// `first` or `returning`.
    pub visitor: Option<String>,
    /// Rules to try instead of those that are stored.
    pub rules: Option<PlanJson>,
}

/// What a visitor would get.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The step of the order of evaluation that answers, from 1 to 13.
    pub step: u8,
    /// The place and the name of the rule that applied.
    pub rule: Option<(u8, Option<String>)>,
    pub variant: Option<String>,
    pub status: u16,
    pub location: Option<String>,
    /// Pages that the visitor has to pass before: `password`, `consent`, `app`.
    pub pages: Vec<&'static str>,
    pub why: Vec<kurz_core::plan::TestedCondition>,
    /// Whether it would count as a click and use a hit.
    pub would_count: bool,
}

impl Simulation {
    fn stop(step: u8, status: u16) -> Self {
        Self {
            step,
            rule: None,
            variant: None,
            status,
            location: None,
            pages: Vec::new(),
            why: Vec::new(),
            would_count: false,
        }
    }

    /// Where the link leads before or after its time, or a refusal.
    fn aside(step: u8, status: u16, to: Option<&str>) -> Self {
        let location = to.map(str::to_owned);
        let status = if location.is_some() { 302 } else { status };
        Self { location, ..Self::stop(step, status) }
    }
}

impl App {
    /// What a visitor of a link would get.
    pub async fn simulate(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
        visit: &SimulatedVisit,
    ) -> Result<Simulation, AppError> {
        let (workspace, link) = self.reach_link(caller, workspace, code, Act::ReadLinks).await?;
        let mut own = Self::plan_document(link.plan.as_ref())?;
        if let Some(rules) = &visit.rules {
            let mut changes = PlanChanges::default();
            changes.set(PlanField::Rules, rules.clone());
            let stored = self.replan(Some(&link), &changes, &link.fields);
            let stored = stored.map_err(AppError::Invalid)?;
            own = Self::plan_document(stored.as_ref())?;
        }
        let document = self.whole_plan(&workspace.id, &own).await?;
        let plan = self.compile_plan(&link, &document)?;
        let uses =
            if plan.click_limit() > 0 { self.parts.store.find_uses(link.id).await? } else { 0 };
        let is_down = plan.fallback().is_some()
            && self.parts.store.find_failed_checks(link.id).await? >= FAILED_CHECKS_OF_DOWN;
        let inputs = self.made_up(visit, &link)?;
        let shown = self.show(&workspace, vec![link]).pop();
        let Some(shown) = shown else { return Ok(Simulation::stop(1, 404)) };
        Ok(decide(&shown, &plan, PlanState { uses, is_down }, &inputs))
    }

    /// The plan of a link, compiled, and its size in memory.
    pub async fn link_plan(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
    ) -> Result<(PlanDocument, Plan), AppError> {
        let (workspace, link) = self.reach_link(caller, workspace, code, Act::ReadLinks).await?;
        let own = Self::plan_document(link.plan.as_ref())?;
        let whole = self.whole_plan(&workspace.id, &own).await?;
        let plan = self.compile_plan(&link, &whole)?;
        Ok((own, plan))
    }

    fn made_up(&self, visit: &SimulatedVisit, link: &Link) -> Result<MadeUp<'_>, FieldError> {
        let address = match &visit.ip {
            None => None,
            Some(text) => Some(text.trim().parse::<IpAddr>().map_err(|_| {
                let detail = "an ip is an address such as 192.0.2.1 or 2001:db8::1";
                FieldError::new("ip", "simulate-invalid", detail)
            })?),
        };
        let known = |key: TestKey, text: &Option<String>| {
            let text = text.as_ref().filter(|text| !text.is_empty());
            text.map(|text| key.canonical_value(text))
                .transpose()
                .map_err(|detail| FieldError::new(key.name(), "simulate-invalid", detail))
        };
        let country = known(TestKey::Country, &visit.country)?;
        let region = known(TestKey::Region, &visit.region)?;
        let visitor = known(TestKey::Visitor, &visit.visitor)?;
        let mut place = VisitorPlace::default();
        if let Some(address) = address {
            let file = self.parts.geo_file.as_ref().map(|file| file.current());
            let found = place_of(file.as_deref(), address);
            place.country = Country::from_text(&found.country);
            place.region = Region::from_text(&found.region);
        }
        if let Some(country) = country {
            let country = Country::from_text(&country);
            let stays = country == place.country;
            place = VisitorPlace { country, region: place.region };
            if !stays {
                place.region = Region::UNKNOWN;
            }
        }
        if let Some(region) = region {
            place.region = Region::from_text(&region);
            if !place.country.is_known() {
                place.country = Country::from_text(region.get(..2).unwrap_or_default());
            }
        }
        let agent = visit.user_agent.clone().unwrap_or_default();
        let class = match agent.as_str() {
            "" => AgentClass::default(),
            agent => self.parts.agent_parser.class(agent.as_bytes()),
        };
        let seen = Visitors::new(self.parts.visitor_seed).of_get(None, Some(agent.as_bytes()));
        let hosts = self.parts.hosts.of_workspace(&link.workspace);
        let main = self.parts.policy.public_url.host().to_owned();
        Ok(MadeUp {
            now: visit.at.unwrap_or_else(|| self.parts.clock.now()),
            is_other: is_bot(agent.as_bytes()),
            agent: class,
            agent_hash: if agent.is_empty() { 0 } else { seen.agent_hash },
            language: visit.language.clone().unwrap_or_default(),
            place,
            address: address.map(|address| match address {
                IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
                IpAddr::V6(address) => address.to_bits(),
            }),
            query: visit.query.clone().unwrap_or_default(),
            referrer: visit.referrer.clone().unwrap_or_default(),
            returning: visitor.map(|visitor| visitor == "returning"),
            host: hosts.into_iter().next().unwrap_or(main),
            channels: &self.parts.channels,
        })
    }
}

/// What a link's plan depends on beside the visitor.
#[derive(Clone, Copy)]
struct PlanState {
    /// Clicks that count towards the click limit.
    uses: u64,
    /// Whether the link's own target is down.
    is_down: bool,
}

/// The steps in the order of the contract.
fn decide(shown: &ShownLink, plan: &Plan, state: PlanState, inputs: &MadeUp<'_>) -> Simulation {
    let link = &shown.link;
    let now = inputs.now;
    if shown.status == Status::Deleted {
        return Simulation::stop(1, 404);
    }
    if shown.withheld.is_some() {
        return Simulation::stop(2, 410);
    }
    if plan.valid_from().is_some_and(|from| now < from) {
        return Simulation::aside(3, 404, plan.pending_location());
    }
    let is_over = link.fields.expires_at.is_some_and(|end| now >= end);
    if is_over || link.expired_at.is_some() {
        return Simulation::aside(4, 410, plan.expired_location());
    }
    if plan.click_limit() > 0 && state.uses >= plan.click_limit() {
        return Simulation::aside(5, 410, plan.expired_location());
    }
    let is_preview = inputs.agent.bot == Some(BotKind::Preview);
    let gets_card = inputs.is_other && plan.click_limit() > 0;
    if gets_card || inputs.is_other && is_preview && plan.card().is_some() {
        return Simulation::stop(6, 200);
    }
    let Explanation { choice, reasons } = plan.explain(inputs);
    let name = |rule: u8| plan.rule_name(rule).map(str::to_owned);
    let chosen = Simulation {
        rule: choice.rule.map(|rule| (rule, name(rule))),
        variant: choice.variant.map(|_| plan.variant_name(&choice).to_owned()),
        why: reasons,
        ..Simulation::stop(8, 403)
    };
    let target = match choice.outcome {
        PlanOutcome::Block(status) => return Simulation { status, ..chosen },
        PlanOutcome::Target(target) => target,
    };
    if shown.hit_limit > 0 && shown.hits_this_month >= shown.hit_limit {
        return Simulation { step: 9, status: 429, ..chosen };
    }
    let fallback = plan.fallback().filter(|_| state.is_down && target == TargetId::OWN);
    let step = if fallback.is_some() { 10 } else { 13 };
    let location = lead_on(plan, fallback.unwrap_or(target), &choice, inputs);
    Simulation {
        step,
        status: link.fields.redirect_status,
        location: Some(location),
        pages: pages(plan, inputs),
        would_count: true,
        ..chosen
    }
}

fn pages(plan: &Plan, inputs: &MadeUp<'_>) -> Vec<&'static str> {
    let phone = matches!(inputs.agent.os, Some(Os::Ios | Os::Android));
    let is_asked = [
        ("password", plan.password().is_some()),
        ("consent", plan.consent().is_some()),
        ("app", plan.app().is_some() && phone && inputs.agent.in_app.is_some()),
    ];
    is_asked.into_iter().filter(|(_, asked)| *asked).map(|(page, _)| page).collect()
}

/// The `Location`; of a phone without the app that of its store.
fn lead_on(plan: &Plan, target: TargetId, choice: &PlanChoice, inputs: &MadeUp<'_>) -> String {
    let store = plan.app().filter(|_| inputs.agent.in_app.is_none()).and_then(|app| {
        match inputs.agent.os {
            Some(Os::Ios) => app.ios.as_ref()?.store_url.as_deref(),
            Some(Os::Android) => app.android.as_ref()?.store_url.as_deref(),
            _ => None,
        }
    });
    if let Some(store) = store.and_then(|url| Some(location(url, &canonicalise(url).ok()?))) {
        return store;
    }
    let mut buffer = Vec::new();
    let bytes = plan.location(target, choice, inputs, &mut buffer);
    String::from_utf8_lossy(bytes).into_owned()
}

/// The inputs of a visit that is made up.
struct MadeUp<'a> {
    now: Timestamp,
    /// A declared bot.
    is_other: bool,
    agent: AgentClass,
    agent_hash: u64,
    language: String,
    place: VisitorPlace,
    address: Option<u128>,
    query: String,
    referrer: String,
    returning: Option<bool>,
    host: String,
    channels: &'a ChannelTable,
}

impl Inputs for MadeUp<'_> {
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
        self.place
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
        let whole = [b"https://", host].concat();
        let host = referrer_host(&whole);
        let host = String::from_utf8_lossy(&host);
        if *host == *self.host.strip_prefix("www.").unwrap_or(&self.host) {
            return Channel::Internal;
        }
        self.channels.of_host(&host).unwrap_or(Channel::Referral)
    }

    fn is_returning(&self) -> Option<bool> {
        self.returning
    }

    fn host(&self) -> &str {
        &self.host
    }
}
