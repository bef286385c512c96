//! Claims: a link without an owner gets one, by its token.
//!
//! Invariant: each token works once. The update itself asks whether the link is still there to be
//! taken, so of any number of claimers one gets a row.

use crate::store::driver::{Outcome, Step, statements};
use crate::store::value::SqlValue;
use crate::store::{Error, NewAuditEntry, Store};
use kurz_core::account::UserId;
use kurz_core::code::Code;
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;

statements! {
    CLAIM = "update links set owner_id = $1, claim_hash = null, expires_at = null,
            updated_at = $2, version = version + 1
        where claim_hash = $3 and code = $4 and owner_id is null and expires_at > $2
            and expired_at is null and deleted_at is null and purged_at is null
            and exists (select 1 from live_users where id = $1)
        returning id";
    /// The counts of a claimed link go to its owner's list with it.
    MOVE_STATS = "update link_stats set list_scope = $1
        where link_id in (select id from links where workspace = 'main' and code = $2
            and owner_id = $3)";
    NOTE = "insert into audit
            (id, at, user_id, key_id, action, subject_kind, subject_id, detail, client)
        select cast($1 as bigint), cast($2 as bigint), cast($3 as bigint), cast($4 as bigint),
            'claimed', 'link', cast(id as text), '{}', cast($5 as text)
        from links where workspace = 'main' and code = $6 and owner_id = $3 and updated_at = $2
            and claim_hash is null";
}

/// Writes down that a link was claimed, if it was, just now.
fn note_step(note: &NewAuditEntry, claim: &Claim, owner: UserId, now: Timestamp) -> Step {
    let params = [
        SqlValue::Int(note.id),
        now.into(),
        SqlValue::Int(owner.0),
        note.key.map(|key| key.0).into(),
        note.client.as_deref().into(),
        SqlValue::text(claim.code.as_str()),
    ];
    Step::new(NOTE, params)
}

/// A link and the hash of its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub code: Code,
    /// SHA-256 of the token.
    pub hash: [u8; 32],
}

impl Store {
    /// Give links to `owner`, in one transaction, and write down with `notes`, one for each, those that
    /// were taken; for each claim the link, if it was.
    pub async fn claim_links(
        &self,
        owner: UserId,
        claims: &[Claim],
        now: Timestamp,
        notes: &[NewAuditEntry],
    ) -> Result<Vec<Option<LinkId>>, Error> {
        // In the order of their keys: two transactions that want the same links want them in the
        // same order.
        let mut order: Vec<(usize, &Claim)> = claims.iter().enumerate().collect();
        order.sort_by_key(|(_, claim)| claim.hash);
        let steps = order.iter().map(|(_, claim)| {
            let hash = SqlValue::blob(&claim.hash);
            let code = SqlValue::text(claim.code.as_str());
            Step::new(CLAIM, [SqlValue::Int(owner.0), now.into(), hash, code])
        });
        let moves = order.iter().map(|(_, claim)| {
            let own = SqlValue::owned(format!("main/{owner}"));
            let code = SqlValue::text(claim.code.as_str());
            Step::new(MOVE_STATS, [own, code, SqlValue::Int(owner.0)])
        });
        let notes = order.iter().filter_map(|(at, claim)| {
            let note = notes.get(*at)?;
            Some(note_step(note, claim, owner, now))
        });
        let steps = steps.chain(moves).chain(notes).collect();
        let Outcome::Done(rows) = self.db.batch(steps).await? else {
            return Ok(vec![None; claims.len()]);
        };
        let mut taken = vec![None; claims.len()];
        for ((at, _), rows) in order.into_iter().zip(rows) {
            if let (Some(slot), Some(row)) = (taken.get_mut(at), rows.first()) {
                *slot = Some(LinkId(row.int(0)?));
            }
        }
        Ok(taken)
    }
}
