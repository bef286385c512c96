//! Links for the URLs of a user's sync: one for each URL, however often and by however many calls at the same
//! time the list is sent.
//!
//! Invariant: the calls of one user run one after another, because each locks the row of the user first. A
//! statement of PostgreSQL sees what was committed before it began, so the lock is a statement of its own.

use crate::store::driver::{Outcome, Step, statements};
use crate::store::insert::{insert_step, place_of};
use crate::store::live_rows::lock_user;
use crate::store::value::SqlValue;
use crate::store::{Error, InsertedLink, NewLink, Store};
use kurz_core::account::UserId;
use kurz_core::time::Timestamp;

statements! {
    /// No row back: the URL has a link of the user.
    TAKE_URL = "insert into synced_urls (user_id, url_hash, link_id) values ($1, $2, $3)
        on conflict (user_id, url_hash) do update set link_id = excluded.link_id
        where not exists (select 1 from links where id = synced_urls.link_id
            and owner_id = synced_urls.user_id and deleted_at is null and purged_at is null
            and expired_at is null and (expires_at is null or expires_at > $4))
        returning link_id";
}

/// A link to be made for a URL that has none yet.
#[derive(Clone, Debug)]
pub struct SyncedLink<'a> {
    pub link: &'a NewLink,
    /// What tells the URL from others.
    pub url_hash: [u8; 32],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyncOutcome {
    /// All were stored.
    Stored(Vec<InsertedLink>),
    /// None was stored: these URLs have links, and the codes of these links are taken.
    Undone { known: Vec<usize>, clashed: Vec<usize> },
    /// The account was deleted meanwhile.
    NoUser,
}

impl Store {
    /// Store a link for each URL, all or none.
    pub async fn insert_synced(
        &self,
        user: UserId,
        links: &[SyncedLink<'_>],
        now: Timestamp,
    ) -> Result<SyncOutcome, Error> {
        let mut steps = vec![lock_user(user)];
        for SyncedLink { link, url_hash } in links {
            let id = SqlValue::Int(link.id.0);
            let params = [SqlValue::Int(user.0), SqlValue::blob(url_hash), id, now.into()];
            steps.push(Step::new(TAKE_URL, params).or_undo());
            steps.push(insert_step(link).or_undo());
        }
        match self.db.batch(steps).await? {
            Outcome::Done(rows) => {
                let rows = rows.iter().skip(2).step_by(2);
                let placed = links
                    .iter()
                    .zip(rows)
                    .filter_map(|(one, rows)| rows.first().map(|row| place_of(one.link, row)));
                placed.collect::<Result<_, _>>().map(SyncOutcome::Stored)
            }
            Outcome::Undone(missed) if missed.contains(&0) => Ok(SyncOutcome::NoUser),
            Outcome::Undone(missed) => {
                let (known, clashed): (Vec<usize>, Vec<usize>) =
                    missed.into_iter().partition(|step| step % 2 == 1);
                let link_of = |step: usize| (step - 1) / 2;
                Ok(SyncOutcome::Undone {
                    known: known.into_iter().map(link_of).collect(),
                    clashed: clashed.into_iter().map(link_of).collect(),
                })
            }
        }
    }
}
