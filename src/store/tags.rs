//! The tags of a list of links as things of their own: how many links and clicks they have, another name, and
//! deleting them. A rename or a deletion writes `link_tags` alone, in one transaction: 100,000 rows of it take a
//! second, while as many links, with their indexes, take twenty times as long.

use crate::store::driver::{Outcome, Step, statements};
use crate::store::list_scope::ListScope;
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, NewAuditEntry, Store, audit};

/// The rows of one tag in a list, with the parameters of the workspace, the tag and the list's scope.
macro_rules! of_tag {
    () => {
        "from link_tags t join links l on l.id = t.link_id
            where t.workspace = $1 and t.tag = $2 and l.list_scope between $3 and $4"
    };
}

statements! {
    /// Deleted links have their tags until they are purged, and do not count.
    LIST = "select t.tag, count(case when l.deleted_at is null then 1 end), cast(0 as bigint)
        from link_tags t join links l on l.id = t.link_id
        where t.workspace = $1 and t.tag > $2 and l.list_scope between $3 and $4
        group by t.tag order by t.tag limit $5";
    LIST_WITH_CLICKS = "select t.tag, count(case when l.deleted_at is null then 1 end),
            cast(coalesce(sum(case when l.deleted_at is null then s.redirect_count end), 0) as bigint)
        from link_tags t join links l on l.id = t.link_id
            left join link_stats s on s.link_id = t.link_id
        where t.workspace = $1 and t.tag > $2 and l.list_scope between $3 and $4
        group by t.tag order by t.tag limit $5";
    IS_USED = concat!("select cast(1 as bigint) where exists (select 1 ", of_tag!(), ")");
    IS_FREE = concat!("select cast(1 as bigint) where not exists (select 1 ", of_tag!(), ")");
    /// A link that got the new tag at this moment keeps it once.
    RENAME = "insert into link_tags (workspace, tag, link_id, position)
        select t.workspace, cast($1 as text), t.link_id, t.position
            from link_tags t join links l on l.id = t.link_id
            where t.workspace = $2 and t.tag = $3 and l.list_scope between $4 and $5
        on conflict do nothing";
    DELETE = "delete from link_tags where workspace = $1 and tag = $2
        and exists (select 1 from links l
            where l.id = link_tags.link_id and l.list_scope between $3 and $4)";
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagCount {
    pub tag: String,
    pub links: i64,
    /// 0 where they were not asked for.
    pub clicks: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagChange {
    Done,
    /// No link has the tag.
    Missing,
    /// Links have the new name already.
    Taken,
}

impl Store {
    /// The tags of a list after `after`, by name.
    pub async fn list_tags(
        &self,
        scope: &ListScope,
        with_clicks: bool,
        after: &str,
        most: i64,
    ) -> Result<Vec<TagCount>, Error> {
        let sql = if with_clicks { LIST_WITH_CLICKS } else { LIST };
        let mut params = of_tag(scope, after).to_vec();
        params.push(SqlValue::Int(most));
        let read = |row: &SqlRow| {
            Ok(TagCount { tag: row.text(0)?.to_owned(), links: row.int(1)?, clicks: row.int(2)? })
        };
        self.db.list(sql, params).await?.iter().map(read).collect()
    }

    /// Give a tag of a list another name, that no link of it has.
    pub async fn rename_tag(
        &self,
        scope: &ListScope,
        tag: &str,
        name: &str,
        change: &NewAuditEntry,
    ) -> Result<TagChange, Error> {
        let rename = [SqlValue::text(name)].into_iter().chain(of_tag(scope, tag));
        self.change_tag(vec![
            Step::new(IS_USED, of_tag(scope, tag)).or_undo(),
            Step::new(IS_FREE, of_tag(scope, name)).or_undo(),
            Step::new(RENAME, rename),
            Step::new(DELETE, of_tag(scope, tag)),
            audit::step(change),
        ])
        .await
    }

    /// Take a tag from all links of a list.
    pub async fn delete_tag(
        &self,
        scope: &ListScope,
        tag: &str,
        change: &NewAuditEntry,
    ) -> Result<TagChange, Error> {
        self.change_tag(vec![
            Step::new(IS_USED, of_tag(scope, tag)).or_undo(),
            Step::new(DELETE, of_tag(scope, tag)),
            audit::step(change),
        ])
        .await
    }

    async fn change_tag(&self, steps: Vec<Step>) -> Result<TagChange, Error> {
        Ok(match self.db.batch(steps).await? {
            Outcome::Done(_) => TagChange::Done,
            Outcome::Undone(missed) if missed.contains(&0) => TagChange::Missing,
            Outcome::Undone(_) => TagChange::Taken,
        })
    }
}

fn of_tag<'a>(scope: &ListScope, tag: &'a str) -> [SqlValue<'a>; 4] {
    let (first, last) = scope.keys();
    let workspace = SqlValue::owned(scope.workspace());
    [workspace, SqlValue::text(tag), SqlValue::owned(first), SqlValue::owned(last)]
}
