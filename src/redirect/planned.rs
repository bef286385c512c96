//! Redirects of links with a plan, in the order of the contract: withheld, not yet, expired, used up, card, password,
//! rules, limits, fallback, parameters, pages, answer. The first that applies answers; only a visitor who is sent on
//! uses a hit.
//!
//! Invariants: a request that can be answered at once with a redirect gets the same bytes on the fast path and
//! through hyper. Before the password is right nothing of the target is in any answer. A link with a click limit is
//! answered only after the store has counted the use.

use http::StatusCode;

use super::answer::{self, Refusal};
use super::click_details::ClickFields;
use super::link_form::LinkForm;
use super::monthly_limit::admit_shared;
use super::plan_inputs::PlanInputs;
use super::plan_pages;
use super::{Admission, PlainRequest, RedirectResponse, RedirectService, RefusalContext, Visit};
use crate::cache::{CachedLink, CachedPlan};
use crate::language::Language;
use crate::quota::UseOutcome;
use kurz_core::clicks::{Click, ClickAnswer, ClickFlags, VisitorKind};
use kurz_core::code::canonicalise;
use kurz_core::link::location::location;
use kurz_core::link::{Decision, Month};
use kurz_core::plan::{
    BotKind, ConsentShow, Inputs, Needs, Os, PlanChoice, PlanOutcome, Robots, TargetId,
};
use kurz_core::time::Timestamp;

/// What is done with a request before limits are looked at.
pub(super) enum PlanStep<'p> {
    Refuse(Refusal),
    /// To where the link leads before or after its time.
    Elsewhere(&'p str),
    Card,
    AskPassword,
    Chosen(PlanChoice),
}

/// A request for a link with a plan, off the fast path.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedRequest<'a> {
    pub(super) visit: Visit,
    pub(super) fields: &'a ClickFields<'a>,
    pub(super) context: RefusalContext,
    /// The field `X-Link-Password`.
    pub(super) password: Option<&'a [u8]>,
    /// The form that was sent with POST.
    pub(super) form: Option<&'a LinkForm>,
    pub(super) now: Timestamp,
}

/// A visitor who was sent on.
struct SentOn<'a> {
    choice: PlanChoice,
    at: Timestamp,
    reserved: bool,
    visit: Visit,
    fields: &'a ClickFields<'a>,
}

impl RedirectService {
    /// The steps up to the rules.
    pub(super) fn plan_step<'p>(
        &self,
        link: &CachedLink,
        cached: &'p CachedPlan,
        inputs: &PlanInputs<'_>,
        visit: Visit,
        is_unlocked: bool,
    ) -> PlanStep<'p> {
        let plan = &cached.plan;
        let now = self.clock.latest(inputs.now());
        let decision = link.validity.at(now);
        match decision {
            Decision::NotFound => return PlanStep::Refuse(Refusal::NotFound),
            Decision::Withheld(reason) => return PlanStep::Refuse(Refusal::Withheld(reason)),
            Decision::Gone | Decision::Live => {}
        }
        let elsewhere = |to: Option<&'p str>, refusal| {
            to.map_or(PlanStep::Refuse(refusal), PlanStep::Elsewhere)
        };
        if plan.valid_from().is_some_and(|from| now < from) {
            return elsewhere(plan.pending_location(), Refusal::NotYet);
        }
        if decision == Decision::Gone {
            return elsewhere(plan.expired_location(), Refusal::Gone);
        }
        if cached.is_used_up() {
            return elsewhere(plan.expired_location(), Refusal::UsedUp);
        }
        let has_card = plan.card().is_some();
        let is_other = visit.seen.kind == VisitorKind::Other;
        if is_other && plan.click_limit() > 0
            || has_card && is_other && inputs.agent().bot == Some(BotKind::Preview)
        {
            return PlanStep::Card;
        }
        if plan.password().is_some() && !is_unlocked {
            return PlanStep::AskPassword;
        }
        let choice = plan.choose(inputs);
        match choice.outcome {
            PlanOutcome::Block(status) => {
                PlanStep::Refuse(Refusal::Blocked { status, rule: rule_of(&choice) })
            }
            PlanOutcome::Target(_) => PlanStep::Chosen(choice),
        }
    }

    /// Write the answer to a GET, if it is a redirect and needs no wait; see [`RedirectService::send_on`].
    #[inline(never)]
    pub(super) fn send_planned_on(
        &self,
        link: &CachedLink,
        cached: &CachedPlan,
        ask: &PlainRequest<'_>,
        out: &mut Vec<u8>,
    ) -> bool {
        let PlainRequest { close, fields, arrival, .. } = ask;
        let seen = self.visitors.of_get(fields.headers.purpose, fields.headers.agent);
        let visit = Visit { seen, arrival: *arrival };
        let now = self.clock.at(*arrival);
        let inputs = PlanInputs::new(self, link, visit, fields, now);
        let choice = match self.plan_step(link, cached, &inputs, visit, false) {
            PlanStep::Elsewhere(to) => {
                self.date.with(now, |date| {
                    answer::write_planned(&elsewhere_head(to), date, *close, out);
                });
                self.note_answer(link, ClickAnswer::Elsewhere, 0, visit, fields);
                return true;
            }
            PlanStep::Chosen(choice) => choice,
            PlanStep::Refuse(_) | PlanStep::Card | PlanStep::AskPassword => return false,
        };
        let plan = &cached.plan;
        if plan.click_limit() > 0 || plan.consent().is_some() || plan.app().is_some() {
            return false;
        }
        let Admission::Pass { at, reserved } = self.take_hit(link, seen.kind, now) else {
            return false;
        };
        let mut buffer = Vec::new();
        let location = plan.location(target_of(cached, &choice), &choice, &inputs, &mut buffer);
        let head = RedirectHead { status: link.status, location, ..head_of(cached) };
        self.date.with(now, |date| answer::write_planned(&head, date, *close, out));
        let sent = SentOn { choice, at, reserved, visit, fields };
        self.count_planned(link, cached, &inputs, &sent);
        true
    }

    /// Answer a request for a link with a plan.
    pub(super) async fn answer_planned(
        &self,
        link: &CachedLink,
        cached: &CachedPlan,
        asked: PlannedRequest<'_>,
    ) -> RedirectResponse {
        let PlannedRequest { visit, fields, form, now, .. } = asked;
        let plan = &cached.plan;
        if form.is_some() && plan.password().is_none() && plan.consent().is_none() {
            return answer::method_not_allowed();
        }
        let token = form.and_then(|form| form.consent.as_deref());
        let mut is_unlocked =
            token.is_some_and(|token| self.is_unlocked(token, link, cached, fields, now));
        let is_shown =
            is_unlocked || token.is_some_and(|token| self.is_shown(token, link, cached, now));
        // Not kept over a wait: what they remember is cheap to work out again.
        let inputs = || PlanInputs::new(self, link, visit, fields, now);
        let is_locked = matches!(
            self.plan_step(link, cached, &inputs(), visit, is_unlocked),
            PlanStep::AskPassword
        );
        if is_locked {
            match self.check_password(link, cached, &asked).await {
                Ok(()) => is_unlocked = true,
                Err(response) => {
                    self.note_answer(link, ClickAnswer::Password, 0, visit, fields);
                    return *response;
                }
            }
        }
        let (choice, needs_consent) = {
            let inputs = inputs();
            match self.plan_step(link, cached, &inputs, visit, is_unlocked) {
                PlanStep::Chosen(choice) => (choice, !is_shown && needs_consent(cached, &inputs)),
                step => return self.stop_at(link, cached, &step, &asked),
            }
        };
        if needs_consent {
            return self.consent_page(link, cached, &choice, is_unlocked, &asked).await;
        }
        self.lead_on_within_limits(link, cached, choice, &asked).await
    }

    /// Take the limits, then send the visitor on.
    async fn lead_on_within_limits(
        &self,
        link: &CachedLink,
        cached: &CachedPlan,
        choice: PlanChoice,
        asked: &PlannedRequest<'_>,
    ) -> RedirectResponse {
        let PlannedRequest { visit, fields, context, now, .. } = *asked;
        let (at, reserved) = match self.take_limits(link, cached, visit.seen.kind, now).await {
            Ok(taken) => taken,
            Err(Refusal::UsedUp) => {
                let step = match cached.plan.expired_location() {
                    Some(to) => PlanStep::Elsewhere(to),
                    None => PlanStep::Refuse(Refusal::UsedUp),
                };
                return self.stop_at(link, cached, &step, asked);
            }
            Err(refusal) => {
                self.note_refusal(link, refusal, visit, fields);
                return self.refuse(refusal, context);
            }
        };
        let inputs = PlanInputs::new(self, link, visit, fields, now);
        let response = lead_on(link, cached, &choice, &inputs, asked);
        let sent = SentOn { choice, at, reserved, visit, fields };
        self.count_planned(link, cached, &inputs, &sent);
        response
    }

    /// Take a hit of the monthly limit and a use of the click limit, both or none.
    async fn take_limits(
        &self,
        link: &CachedLink,
        cached: &CachedPlan,
        kind: VisitorKind,
        now: Timestamp,
    ) -> Result<(Timestamp, bool), Refusal> {
        let admission = match self.take_hit(link, kind, now) {
            Admission::Ask => self.ask_hit(link, kind).await,
            known => known,
        };
        let (at, reserved) = match admission {
            Admission::Pass { at, reserved } => (at, reserved),
            Admission::Refuse(refusal) => return Err(refusal),
            Admission::Ask => return Err(Refusal::Uncounted),
        };
        let limit = cached.plan.click_limit();
        if limit == 0 || kind == VisitorKind::Head {
            return Ok((at, reserved));
        }
        let refusal = match self.click_limits.take(link.link(), limit).await {
            UseOutcome::Taken { uses } => {
                cached.note_uses(uses);
                return Ok((at, reserved));
            }
            UseOutcome::UsedUp { uses } => {
                cached.note_uses(uses);
                Refusal::UsedUp
            }
            UseOutcome::Gone => Refusal::NotFound,
            UseOutcome::Away => Refusal::Uncounted,
        };
        self.give_hit_back(link, Month::of(at), reserved);
        Err(refusal)
    }

    /// Ask for a hit that is not reserved here.
    pub(super) async fn ask_hit(&self, link: &CachedLink, kind: VisitorKind) -> Admission {
        match self.shared(link) {
            None => Admission::Refuse(Refusal::Uncounted),
            Some((quota, held)) => {
                let hit = quota.ask(held, link.hit_limit, kind == VisitorKind::Head).await;
                admit_shared(quota, link, hit, kind)
            }
        }
    }

    /// The visitor of a hit is not sent on.
    fn give_hit_back(&self, link: &CachedLink, month: Month, reserved: bool) {
        link.counters().quota().give_back(month);
        if let Some((_, held)) = self.shared(link).filter(|_| reserved) {
            held.put_back(month);
        }
    }

    /// The answer of a step that sends nobody on.
    fn stop_at(
        &self,
        link: &CachedLink,
        cached: &CachedPlan,
        step: &PlanStep<'_>,
        asked: &PlannedRequest<'_>,
    ) -> RedirectResponse {
        let PlannedRequest { visit, fields, context, .. } = *asked;
        match step {
            PlanStep::Refuse(refusal) => {
                self.note_refusal(link, *refusal, visit, fields);
                self.refuse(*refusal, context)
            }
            PlanStep::Elsewhere(to) => {
                self.note_answer(link, ClickAnswer::Elsewhere, 0, visit, fields);
                answer::planned(&elsewhere_head(to))
            }
            PlanStep::Card => {
                self.note_answer(link, ClickAnswer::Page, 0, visit, fields);
                let plan = &cached.plan;
                let title = cached.title.as_deref().filter(|_| plan.password().is_none());
                let page = plan_pages::card(plan.card(), title, fields.host);
                answer::page(StatusCode::OK, page)
            }
            PlanStep::AskPassword | PlanStep::Chosen(_) => {
                self.refuse(Refusal::PasswordMissing, context)
            }
        }
    }

    /// The page before the target; the hit is taken when it is passed.
    async fn consent_page(
        &self,
        link: &CachedLink,
        cached: &CachedPlan,
        choice: &PlanChoice,
        is_unlocked: bool,
        asked: &PlannedRequest<'_>,
    ) -> RedirectResponse {
        let PlannedRequest { visit, fields, context, now, .. } = *asked;
        let room = match self.take_hit(link, VisitorKind::Head, now) {
            Admission::Ask => self.ask_hit(link, VisitorKind::Head).await,
            known => known,
        };
        if let Admission::Refuse(refusal) = room {
            self.note_refusal(link, refusal, visit, fields);
            return self.refuse(refusal, context);
        }
        let inputs = PlanInputs::new(self, link, visit, fields, now);
        let plan = &cached.plan;
        let Some(consent) = plan.consent() else {
            return self.refuse(Refusal::Unavailable, context);
        };
        let mut buffer = Vec::new();
        let location = plan.location(target_of(cached, choice), choice, &inputs, &mut buffer);
        let location = String::from_utf8_lossy(location);
        let host = canonicalise(&location).map(|url| url.host().to_owned()).unwrap_or_default();
        let token = if is_unlocked {
            self.unlocked_token(link, cached, fields, now)
        } else {
            self.shown_token(link, cached, now)
        };
        let language = context.shows.unwrap_or(Language::English);
        self.note_answer(link, ClickAnswer::Page, 0, visit, fields);
        answer::page(StatusCode::OK, plan_pages::consent(language, consent, &host, &token))
    }

    fn count_planned(
        &self,
        link: &CachedLink,
        cached: &CachedPlan,
        inputs: &PlanInputs<'_>,
        sent: &SentOn<'_>,
    ) {
        let SentOn { choice, at, reserved, visit, fields } = sent;
        let is_once =
            cached.plan.consent().is_some_and(|consent| consent.show == ConsentShow::Once);
        if visit.seen.kind != VisitorKind::Head
            && (is_once || cached.plan.needs().has(Needs::VISITOR))
        {
            inputs.note_visitor();
        }
        let click = Click {
            flags: ClickFlags::NONE.with_if(ClickFlags::RESERVED, *reserved),
            rule: rule_of(choice),
            variant: choice.variant.map_or(0, |variant| variant.saturating_add(1)),
            ..Click::new(link.link(), *at, 0)
        };
        self.queue_click(link, click, *visit, fields);
    }

    /// Keep for analytics how a known link answered without sending the visitor on. It counts nowhere.
    pub(super) fn note_answer(
        &self,
        link: &CachedLink,
        answer: ClickAnswer,
        rule: u8,
        visit: Visit,
        fields: &ClickFields<'_>,
    ) {
        if link.details {
            let click = Click { answer, rule, ..Click::new(link.link(), self.clock.now(), 0) };
            self.queue_click(link, click, visit, fields);
        }
    }
}

/// The redirect, or the page of an app.
fn lead_on(
    link: &CachedLink,
    cached: &CachedPlan,
    choice: &PlanChoice,
    inputs: &PlanInputs<'_>,
    asked: &PlannedRequest<'_>,
) -> RedirectResponse {
    let plan = &cached.plan;
    let mut buffer = Vec::new();
    let location_bytes = plan.location(target_of(cached, choice), choice, inputs, &mut buffer);
    let status = if asked.form.is_some() { StatusCode::SEE_OTHER } else { link.status };
    let head = RedirectHead { status, location: location_bytes, ..head_of(cached) };
    let Some(app) = plan.app() else { return answer::planned(&head) };
    let agent = inputs.agent();
    let is_ios = agent.os == Some(Os::Ios);
    if !is_ios && agent.os != Some(Os::Android) {
        return answer::planned(&head);
    }
    if agent.in_app.is_some() {
        let language = asked.context.shows.unwrap_or(Language::English);
        let target = String::from_utf8_lossy(location_bytes);
        return match plan_pages::app_address(app, is_ios) {
            Some(to) => answer::page(StatusCode::OK, plan_pages::app(language, to, &target)),
            None => answer::planned(&head),
        };
    }
    let store = if is_ios {
        app.ios.as_ref().and_then(|app| app.store_url.as_deref())
    } else {
        app.android.as_ref().and_then(|app| app.store_url.as_deref())
    };
    let store = store.and_then(|url| Some(location(url, &canonicalise(url).ok()?)));
    match store {
        Some(store) => answer::planned(&RedirectHead { location: store.as_bytes(), ..head }),
        None => answer::planned(&head),
    }
}

/// What the head of a redirect says.
#[derive(Clone, Copy, Debug)]
pub(super) struct RedirectHead<'a> {
    pub(super) status: StatusCode,
    pub(super) location: &'a [u8],
    pub(super) is_indexed: bool,
    /// The target is not told where its visitors come from.
    pub(super) is_protected: bool,
}

fn head_of(cached: &CachedPlan) -> RedirectHead<'static> {
    RedirectHead {
        status: StatusCode::FOUND,
        location: b"",
        is_indexed: cached.plan.robots() == Robots::Index,
        is_protected: cached.plan.password().is_some(),
    }
}

fn elsewhere_head(to: &str) -> RedirectHead<'_> {
    let status = StatusCode::FOUND;
    RedirectHead { status, location: to.as_bytes(), is_indexed: false, is_protected: false }
}

/// The URL of a choice, or the fallback while the link's target is down.
fn target_of(cached: &CachedPlan, choice: &PlanChoice) -> TargetId {
    match choice.outcome {
        PlanOutcome::Target(TargetId::OWN) if cached.is_down => {
            cached.plan.fallback().unwrap_or(TargetId::OWN)
        }
        PlanOutcome::Target(target) => target,
        PlanOutcome::Block(_) => TargetId::OWN,
    }
}

fn rule_of(choice: &PlanChoice) -> u8 {
    choice.rule.map_or(0, |rule| rule.saturating_add(1))
}

/// Whether the page before the target has to be shown to this visitor.
fn needs_consent(cached: &CachedPlan, inputs: &PlanInputs<'_>) -> bool {
    let Some(consent) = cached.plan.consent() else { return false };
    match consent.show {
        ConsentShow::Always => true,
        ConsentShow::Once => inputs.is_returning() != Some(true),
    }
}
