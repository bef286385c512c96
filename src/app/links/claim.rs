//! Claiming: links made without an account become one's own, by the token that their making
//! answered with. Knowing a link's address or target gives nothing.

use crate::app::workspaces::main_id;
use crate::app::{Action, Actor, App, AppError, AuditDetail, FieldError, Resource, ShownLink};
use crate::store::{Claim, LinkAddress, Subject};
use kurz_core::account::{Act, Caller, access, claim};
use kurz_core::code::Code;

/// Most claims in one call.
pub const MOST_CLAIMS: usize = 100;

#[derive(Clone, Debug)]
pub struct ClaimRequest {
    pub code: String,
    pub token: String,
}

impl App {
    /// Make links the caller's own; for each its own result, in order. A token works once.
    pub async fn claim_links(
        &self,
        caller: &Caller,
        requests: &[ClaimRequest],
    ) -> Result<Vec<Result<ShownLink, AppError>>, AppError> {
        let identity = caller.identity().ok_or(access::Refused::Unauthenticated)?;
        let (main, _) = self.enter(caller, &main_id(), Act::CreateLinks).await?;
        if requests.is_empty() || requests.len() > MOST_CLAIMS {
            let detail = format!("a call claims 1 to {MOST_CLAIMS} links");
            return Err(FieldError::new("links", "claims-size", detail).into());
        }
        // What cannot be a code or a token is no link's; `None` keeps its place.
        let read = |request: &ClaimRequest| {
            let code = Code::parse(&request.code)?;
            claim::hash(&request.token).map(|hash| Claim { code, hash })
        };
        let read: Vec<Option<Claim>> = requests.iter().map(read).collect();
        let claims: Vec<Claim> = read.iter().flatten().cloned().collect();
        // Set back or not, a clock gives no link a second life.
        let now = self.parts.clock.latest(self.parts.clock.now());
        let mut notes = Vec::with_capacity(claims.len());
        let ids = self.audit_ids.take(&self.parts.store, claims.len()).await?;
        for id in ids {
            // Which link it is about, the store fills in.
            let subject = Subject::user(identity.id);
            let detail = AuditDetail::default();
            notes.push(Actor::of(caller).audit((id, now), subject, Action::Claimed, &detail));
        }
        let taken = self.parts.store.claim_links(identity.id, &claims, now, &notes).await?;
        // The cache knows when they were to expire. At once, and for all: what comes next waits.
        let claimed = claims.iter().zip(&taken).filter_map(|(claim, id)| {
            let (workspace, code) = (main.id.to_string(), claim.code.to_string());
            Some(LinkAddress { id: (*id)?, workspace, code })
        });
        self.invalidate_links(&claimed.collect::<Vec<_>>()).await;
        let mut taken = claims.iter().zip(taken);
        let mut results = Vec::with_capacity(requests.len());
        for claim in read {
            let found = claim.and_then(|_| taken.next()).filter(|(_, id)| id.is_some());
            results.push(match found {
                None => Err(AppError::NotFound(Resource::Claim)),
                Some((claim, _)) => {
                    let link = self.find_link(&main.id, claim.code.as_str()).await?;
                    let shown = self.show(&main, vec![link]).pop();
                    shown.ok_or(AppError::NotFound(Resource::Claim))
                }
            });
        }
        Ok(results)
    }
}
