//! The seal of a link: a checksum of its number, its place and its target, kept in its row. SQLite has
//! none for its pages, so a byte that turned over on the disk would send visitors elsewhere, and
//! nobody would notice.
//!
//! It guards against disks, not against people: whoever can write to the database can seal as well.
//! Rows that were made before there were seals have none, until they are edited.

use xxhash_rust::xxh64::Xxh64;

use crate::store::driver::statements;
use crate::store::value::{Row, Value};
use crate::store::{Error, Store};
use kurz_core::link::LinkId;

statements! {
    SEALED = "select id, workspace, code, target, seal from links
        where id > $1 and seal is not null order by id limit $2";
}

/// Links that are looked at in one go.
const PAGE: i64 = 5_000;
/// Damaged links that are named.
const NAMED: usize = 20;

/// The seal of a link.
pub(super) fn seal(id: LinkId, workspace: &str, code: &str, target: &str) -> Value<'static> {
    Value::Int(sum(id, workspace, code, target))
}

fn sum(id: LinkId, workspace: &str, code: &str, target: &str) -> i64 {
    let mut hash = Xxh64::new(0);
    hash.update(&id.0.to_be_bytes());
    // None of them holds a NUL.
    for text in [workspace, code, target] {
        hash.update(text.as_bytes());
        hash.update(&[0]);
    }
    i64::from_ne_bytes(hash.digest().to_ne_bytes())
}

/// That a row which has a seal is what was sealed.
pub(super) fn expect(
    id: LinkId,
    workspace: &str,
    code: &str,
    target: &str,
    seal: Option<i64>,
) -> Result<(), Error> {
    if seal.is_none_or(|seal| seal == sum(id, workspace, code, target)) {
        return Ok(());
    }
    Err(damaged(format!("link {id} is not what was stored: its row does not fit its seal")))
}

/// A row that is not the one which was asked for: the index that led to it is damaged.
pub(super) fn strayed(id: LinkId, asked: &str) -> Error {
    damaged(format!("`{asked}` leads to link {id}, which is another one"))
}

fn damaged(what: String) -> Error {
    metrics::counter!("kurz_damaged_links_total").increment(1);
    Error::Corrupt(what)
}

impl Store {
    /// Look at every link: the numbers of those that do not fit their seal, the first of them.
    pub async fn list_damaged(&self) -> Result<Vec<LinkId>, Error> {
        let (mut found, mut after) = (Vec::new(), i64::MIN);
        loop {
            let rows = self.db.list(SEALED, vec![Value::Int(after), Value::Int(PAGE)]).await?;
            let Some(last) = rows.last() else { return Ok(found) };
            after = last.int(0)?;
            for row in &rows {
                if !fits(row)? {
                    found.push(LinkId(row.int(0)?));
                }
            }
            if found.len() >= NAMED {
                found.truncate(NAMED);
                return Ok(found);
            }
        }
    }
}

fn fits(row: &Row) -> Result<bool, Error> {
    let id = LinkId(row.int(0)?);
    Ok(sum(id, row.text(1)?, row.text(2)?, row.text(3)?) == row.int(4)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_fits_one_link_only() {
        let one = (LinkId(7), "team", "promo", "https://example.com/#a");
        let made = sum(one.0, one.1, one.2, one.3);
        assert!(expect(one.0, one.1, one.2, one.3, Some(made)).is_ok());
        assert!(expect(one.0, one.1, one.2, one.3, None).is_ok());
        for (id, workspace, code, target) in [
            (LinkId(8), one.1, one.2, one.3),
            (one.0, "teal", one.2, one.3),
            (one.0, one.1, "promp", one.3),
            (one.0, one.1, one.2, "https://example.com/#b"),
            (one.0, "tea", "mpromo", one.3),
        ] {
            let error = expect(id, workspace, code, target, Some(made)).unwrap_err();
            assert!(error.to_string().contains("does not fit its seal"), "{error}");
        }
    }

    #[test]
    fn a_seal_is_the_same_in_every_version() {
        assert_eq!(
            sum(LinkId(1), "main", "abc", "https://example.com/"),
            1_890_660_415_416_081_172
        );
    }
}
