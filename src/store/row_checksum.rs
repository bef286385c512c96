//! A checksum of a link's number, address, target and plan, kept in its row. SQLite has none for its pages, so a
//! bit that flipped on the disk would send visitors elsewhere unnoticed. That of an alias is of the number of its
//! link in the place of a target.
//!
//! It detects damaged disks, not attackers: anybody who can write to the database can also write a
//! matching checksum. Rows from before the column existed have none until they are edited.

use xxhash_rust::xxh64::Xxh64;

use crate::store::aliases::leads_to;
use crate::store::driver::statements;
use crate::store::plans::read_plan;
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, Store};
use kurz_core::link::{LinkId, StoredPlan};

statements! {
    WITH_CHECKSUM = "select l.id, l.workspace, l.code, l.target, l.row_checksum, l.plan_at,
            case when l.plan_at is null then null
                else (select p.plan from link_plans p where p.link_id = l.id) end,
            case when l.plan_at is null then null
                else (select p.keys from link_plans p where p.link_id = l.id) end,
            l.alias_of
        from links l
        where l.id > $1 and l.row_checksum is not null order by l.id limit $2";
}

const PAGE: i64 = 5_000;
const NAMED: usize = 20;

pub(super) fn row_checksum(
    id: LinkId,
    workspace: &str,
    code: &str,
    target: &str,
    plan: Option<&StoredPlan>,
) -> SqlValue<'static> {
    SqlValue::Int(sum(id, workspace, code, target, plan))
}

fn sum(id: LinkId, workspace: &str, code: &str, target: &str, plan: Option<&StoredPlan>) -> i64 {
    let mut hash = Xxh64::new(0);
    hash.update(&id.0.to_be_bytes());
    // None of them holds a NUL.
    for text in [workspace, code, target] {
        hash.update(text.as_bytes());
        hash.update(&[0]);
    }
    if let Some(StoredPlan { document, keys }) = plan {
        hash.update(document.as_bytes());
        hash.update(&[0]);
        hash.update(keys);
    }
    i64::from_ne_bytes(hash.digest().to_ne_bytes())
}

/// Fail unless the row is what was stored, as far as its checksum tells.
pub(super) fn expect(
    id: LinkId,
    workspace: &str,
    code: &str,
    target: &str,
    plan: Option<&StoredPlan>,
    stored: Option<i64>,
) -> Result<(), Error> {
    // Plans are younger than the column.
    if stored.map_or(plan.is_none(), |stored| stored == sum(id, workspace, code, target, plan)) {
        return Ok(());
    }
    Err(damaged(format!("link {id} is not what was stored: its row does not match its checksum")))
}

/// An index led to another row than the one asked for.
pub(super) fn wrong_row(id: LinkId, asked: &str) -> Error {
    damaged(format!("`{asked}` leads to link {id}, which is another one"))
}

pub(super) fn damaged(what: String) -> Error {
    metrics::counter!("kurz_links_corrupt_total").increment(1);
    Error::Corrupt(what)
}

impl Store {
    /// Compare every link with its checksum; the first of those that do not match.
    pub async fn list_damaged(&self) -> Result<Vec<LinkId>, Error> {
        let (mut found, mut after) = (Vec::new(), i64::MIN);
        loop {
            let rows = self
                .db
                .list(WITH_CHECKSUM, vec![SqlValue::Int(after), SqlValue::Int(PAGE)])
                .await?;
            let Some(last) = rows.last() else { return Ok(found) };
            after = last.int(0)?;
            for row in &rows {
                if !matches_checksum(row)? {
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

fn matches_checksum(row: &SqlRow) -> Result<bool, Error> {
    let id = LinkId(row.int(0)?);
    let leads_to = leads_to(row.text(3)?, row.opt_int(8)?);
    let Ok(plan) = read_plan(row, 5, 6, 7) else { return Ok(false) };
    Ok(sum(id, row.text(1)?, row.text(2)?, &leads_to, plan.as_ref()) == row.int(4)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_matches_one_link_only() {
        let one = (LinkId(7), "team", "promo", "https://example.com/#a");
        let made = sum(one.0, one.1, one.2, one.3, None);
        assert!(expect(one.0, one.1, one.2, one.3, None, Some(made)).is_ok());
        assert!(expect(one.0, one.1, one.2, one.3, None, None).is_ok());
        for (id, workspace, code, target) in [
            (LinkId(8), one.1, one.2, one.3),
            (one.0, "teal", one.2, one.3),
            (one.0, one.1, "promp", one.3),
            (one.0, one.1, one.2, "https://example.com/#b"),
            (one.0, "tea", "mpromo", one.3),
        ] {
            let error = expect(id, workspace, code, target, None, Some(made)).unwrap_err();
            assert!(error.to_string().contains("does not match its checksum"), "{error}");
        }
    }

    #[test]
    fn a_checksum_covers_the_plan_and_its_keys() {
        let plan = |document: &str, keys: &[u8]| {
            Some(StoredPlan { document: document.to_owned(), keys: keys.to_vec() })
        };
        let of = |plan: &Option<StoredPlan>| {
            sum(LinkId(7), "team", "promo", "https://example.com/", plan.as_ref())
        };
        let stored = plan(r#"{"click_limit":1}"#, &[1, 2]);
        let check = |found: &Option<StoredPlan>, checksum| {
            expect(LinkId(7), "team", "promo", "https://example.com/", found.as_ref(), checksum)
        };
        assert!(check(&stored, Some(of(&stored))).is_ok());
        for other in [
            None,
            plan(r#"{"click_limit":3}"#, &[1, 2]),
            plan(r#"{"click_limit":1}"#, &[1, 3]),
            plan(r#"{"click_limit":1}"#, &[]),
        ] {
            assert!(check(&other, Some(of(&stored))).is_err(), "{other:?}");
        }
        assert!(check(&stored, None).is_err(), "no plan is older than the column");
        assert!(check(&stored, Some(of(&None))).is_err());
    }

    #[test]
    fn a_checksum_is_the_same_in_every_version() {
        assert_eq!(
            sum(LinkId(1), "main", "abc", "https://example.com/", None),
            1_890_660_415_416_081_172
        );
    }
}
