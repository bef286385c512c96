//! Passwords of links: how often one may be tried, and the tokens by which a visitor goes on from the page after it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use http::StatusCode;
use xxhash_rust::xxh64::xxh64;

use super::answer::{self, Refusal};
use super::click_details::ClickFields;
use super::planned::PlannedRequest;
use super::{RedirectResponse, RedirectService, plan_pages};
use crate::cache::{CachedLink, CachedPlan};
use crate::client_address::ClientAddress;
use kurz_core::limits::LoginOutcome;
use kurz_core::link::LinkId;
use kurz_core::plan::{LinkPassword, consent_token, is_consent_token};
use kurz_core::time::Timestamp;

type Compared = Pin<Box<dyn Future<Output = Option<bool>> + Send>>;
type Compare = dyn Fn(LinkPassword, String) -> Compared + Send + Sync;

/// Compares passwords with hashes on threads of their own. The result is `None` when too many wait.
#[derive(Clone)]
pub struct PasswordCheck(Arc<Compare>);

impl PasswordCheck {
    pub(crate) fn new(
        compare: impl Fn(LinkPassword, String) -> Compared + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(compare))
    }
}

impl fmt::Debug for PasswordCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordCheck")
    }
}

/// Compare a password of a link; why the visitor does not go on, if so.
async fn check(
    service: &RedirectService,
    link: LinkId,
    client: ClientAddress,
    given: &[u8],
    hash: &str,
) -> Option<Refusal> {
    let (limits, clock) = (&service.limits, &service.clock);
    if let Err(limited) = limits.link_password(link.0, client.0, clock.steady()) {
        return Some(Refusal::TooManyPasswords { seconds: limited.wait.seconds() });
    }
    let password = std::str::from_utf8(given).ok().and_then(LinkPassword::parse);
    let outcome = match password {
        // It cannot be right.
        None => LoginOutcome::Wrong,
        Some(password) => match (service.passwords.0)(password, hash.to_owned()).await {
            Some(true) => LoginOutcome::Right,
            Some(false) => LoginOutcome::Wrong,
            None => LoginOutcome::Unknown,
        },
    };
    limits.link_password_tried(link.0, client.0, outcome, clock.steady());
    match outcome {
        LoginOutcome::Right => None,
        LoginOutcome::Wrong => Some(Refusal::PasswordWrong),
        LoginOutcome::Unknown => Some(Refusal::Busy),
    }
}

impl RedirectService {
    /// Whether the password that the request has is right; otherwise the answer.
    pub(super) async fn check_password(
        &self,
        link: &CachedLink,
        cached: &CachedPlan,
        asked: &PlannedRequest<'_>,
    ) -> Result<(), Box<RedirectResponse>> {
        let PlannedRequest { context, password, form, .. } = *asked;
        let given = match (form, password) {
            (Some(form), _) => form.password.as_deref(),
            (None, header) => header,
        };
        let Some(given) = given else {
            return Err(Box::new(match context.shows {
                Some(language) => {
                    answer::page(StatusCode::OK, plan_pages::password(language, false))
                }
                None => self.refuse(Refusal::PasswordMissing, context),
            }));
        };
        let hash = cached.plan.password().unwrap_or_default();
        let refusal = check(self, link.link(), context.client, given, hash).await;
        let Some(refusal) = refusal else { return Ok(()) };
        Err(Box::new(match (refusal, context.shows) {
            (Refusal::PasswordWrong, Some(language)) => {
                answer::page(StatusCode::UNAUTHORIZED, plan_pages::password(language, true))
            }
            (refusal, _) => self.refuse(refusal, context),
        }))
    }

    /// The token of a page that anybody can see.
    pub(super) fn shown_token(
        &self,
        link: &CachedLink,
        cached: &CachedPlan,
        now: Timestamp,
    ) -> String {
        consent_token(self.token_key(None), link.link(), cached.version, now)
    }

    pub(super) fn is_shown(
        &self,
        token: &str,
        link: &CachedLink,
        cached: &CachedPlan,
        now: Timestamp,
    ) -> bool {
        is_consent_token(token, self.token_key(None), link.link(), cached.version, now)
    }

    /// The token of a page that was shown after the password, to this address.
    pub(super) fn unlocked_token(
        &self,
        link: &CachedLink,
        cached: &CachedPlan,
        fields: &ClickFields<'_>,
        now: Timestamp,
    ) -> String {
        let key = self.token_key(Some(fields.client.address()));
        consent_token(key, link.link(), cached.version, now)
    }

    pub(super) fn is_unlocked(
        &self,
        token: &str,
        link: &CachedLink,
        cached: &CachedPlan,
        fields: &ClickFields<'_>,
        now: Timestamp,
    ) -> bool {
        let key = self.token_key(Some(fields.client.address()));
        is_consent_token(token, key, link.link(), cached.version, now)
    }

    /// The key of tokens: of all visitors, or of one address.
    fn token_key(&self, address: Option<u128>) -> [u8; 16] {
        let text = match address {
            None => b"shown".to_vec(),
            Some(address) => [&b"unlocked"[..], &address.to_le_bytes()].concat(),
        };
        let seed = self.visitors.seed();
        let halves = [xxh64(&text, seed), xxh64(&text, !seed)];
        let mut key = [0; 16];
        for (place, half) in key.chunks_exact_mut(8).zip(halves) {
            place.copy_from_slice(&half.to_le_bytes());
        }
        key
    }
}
