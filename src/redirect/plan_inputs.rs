//! What the rules of a plan can ask about a request. Each answer is worked out when it is asked for.

use std::cell::OnceCell;

use super::click_details::ClickFields;
use super::{RedirectService, Visit};
use crate::cache::CachedLink;
use kurz_core::clicks::{Channel, referrer_host};
use kurz_core::plan::{AgentClass, Inputs, VisitorPlace};
use kurz_core::time::Timestamp;

pub(super) struct PlanInputs<'a> {
    service: &'a RedirectService,
    link: &'a CachedLink,
    visit: Visit,
    fields: &'a ClickFields<'a>,
    now: Timestamp,
    agent: OnceCell<AgentClass>,
    /// The hash of the visitor in this period; 0: nobody knows.
    person: OnceCell<u64>,
}

impl<'a> PlanInputs<'a> {
    pub(super) fn new(
        service: &'a RedirectService,
        link: &'a CachedLink,
        visit: Visit,
        fields: &'a ClickFields<'a>,
        now: Timestamp,
    ) -> Self {
        let (agent, person) = (OnceCell::new(), OnceCell::new());
        Self { service, link, visit, fields, now, agent, person }
    }

    /// The visitor in this period, where the link keeps details and the visitor did not ask not to be tracked.
    pub(super) fn person(&self) -> u64 {
        *self.person.get_or_init(|| {
            if !self.link.details || self.service.clicks.is_private(self.fields) {
                return 0;
            }
            let address = self.fields.client.address();
            self.service.queue.person(self.now, address, self.visit.seen.agent_hash)
        })
    }

    /// Remember that the visitor was sent on.
    pub(super) fn note_visitor(&self) {
        self.service.seen.note(self.link.link(), self.person());
    }
}

impl Inputs for PlanInputs<'_> {
    #[inline]
    fn now(&self) -> Timestamp {
        self.now
    }

    #[inline]
    fn agent(&self) -> AgentClass {
        *self.agent.get_or_init(|| {
            let agent = self.fields.headers.agent;
            self.service.classes.agent(agent, self.visit.seen.agent_hash)
        })
    }

    #[inline]
    fn agent_hash(&self) -> u64 {
        self.visit.seen.agent_hash
    }

    #[inline]
    fn accept_language(&self) -> &[u8] {
        self.fields.headers.languages.unwrap_or_default()
    }

    fn place(&self) -> VisitorPlace {
        let client = self.fields.client;
        self.service.classes.place(client.address(), client.country())
    }

    #[inline]
    fn address(&self) -> Option<u128> {
        Some(self.fields.client.address())
    }

    #[inline]
    fn query(&self) -> &[u8] {
        self.fields.query.unwrap_or_default().as_bytes()
    }

    #[inline]
    fn referrer(&self) -> &[u8] {
        self.fields.headers.referer.unwrap_or_default()
    }

    fn channel(&self, host: &[u8]) -> Channel {
        let whole = [b"https://", host].concat();
        let host = referrer_host(&whole);
        let host = String::from_utf8_lossy(&host);
        let own = self.fields.host;
        if *host == *own.strip_prefix("www.").unwrap_or(own) {
            return Channel::Internal;
        }
        self.service.channels.of_host(&host).unwrap_or(Channel::Referral)
    }

    fn is_returning(&self) -> Option<bool> {
        let person = self.person();
        (person != 0).then(|| self.service.seen.has_seen(self.link.link(), person))
    }

    fn host(&self) -> &str {
        self.fields.host
    }
}
