//! Claims: a link that nobody owns becomes somebody's, by its token.
//!
//! Invariant: each token works once. The update itself asks whether the link is still there to be
//! taken, so of any number of claimers one gets a row.

use crate::account::UserId;
use crate::clock::Timestamp;
use crate::code::Code;
use crate::link::LinkId;
use crate::store::driver::{Outcome, Step, statements};
use crate::store::value::Value;
use crate::store::{Error, Store};

statements! {
    CLAIM = "update links set owner_id = $1, claim_hash = null, expires_at = null,
            updated_at = $2, version = version + 1
        where claim_hash = $3 and code = $4 and owner_id is null and expires_at > $2
            and expired_at is null and deleted_at is null and purged_at is null
        returning id";
    /// The counts of a claimed link go to its owner's list with it.
    MOVE_STATS = "update link_stats set shelf = $1
        where link_id in (select id from links where workspace = 'main' and code = $2
            and owner_id = $3)";
}

/// A link and the hash of its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The link's code.
    pub code: Code,
    /// SHA-256 of the token.
    pub hash: [u8; 32],
}

impl Store {
    /// Give links to `owner`, in one transaction; for each claim the link, if it was taken.
    pub async fn claim_links(
        &self,
        owner: UserId,
        claims: &[Claim],
        now: Timestamp,
    ) -> Result<Vec<Option<LinkId>>, Error> {
        // In the order of their keys: two transactions that want the same links want them in the
        // same order.
        let mut order: Vec<(usize, &Claim)> = claims.iter().enumerate().collect();
        order.sort_by_key(|(_, claim)| claim.hash);
        let steps = order.iter().map(|(_, claim)| {
            let hash = Value::blob(&claim.hash);
            let code = Value::text(claim.code.as_str());
            Step::new(CLAIM, [Value::Int(owner.0), now.into(), hash, code])
        });
        let moves = order.iter().map(|(_, claim)| {
            let own = Value::owned(format!("main/{owner}"));
            let code = Value::text(claim.code.as_str());
            Step::new(MOVE_STATS, [own, code, Value::Int(owner.0)])
        });
        let Outcome::Done(rows) = self.db.batch(steps.chain(moves).collect()).await? else {
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
