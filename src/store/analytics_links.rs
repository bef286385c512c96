//! What analytics read about links: their codes and tags, which ones are a user's, and the clicks that were
//! counted before there were events.

use crate::store::driver::statements;
use crate::store::text::Piece::{Params, Text};
use crate::store::text::text;
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, ListScope, PeriodClicks, Store};
use kurz_core::code::WorkspaceId;
use kurz_core::link::LinkId;

statements! {
    CODES = text!(
        Text("select id, code from links where id in ("),
        Params(1, LINKS_AT_ONCE),
        Text(")"),
    );
    PURGED = text!(
        Text("select id from links where purged_at is not null and id in ("),
        Params(1, LINKS_AT_ONCE),
        Text(")"),
    );
    OWN = "select id from links where list_scope = $1 and purged_at is null
        order by id desc limit $2";
    TAGGED = "select link_id, tag from link_tags where workspace = $1 order by link_id, tag limit $2";
    LOGGED = "select data from event_log where writer = $1 and seq = $2";
    HOURS = "select h.hour, cast(sum(h.hits) as bigint), cast(sum(h.others) as bigint)
        from link_hours h join links l on l.id = h.link_id
        where h.hour >= $1 and h.hour < $2 and l.workspace = $3
            and (cast($4 as text) is null or l.list_scope = $4)
        group by h.hour order by h.hour";
    DAYS = "select d.day, cast(sum(d.hits) as bigint), cast(sum(d.others) as bigint)
        from links l join link_days d on d.link_id = l.id
        where d.day >= $1 and d.day < $2 and l.workspace = $3
            and (cast($4 as text) is null or l.list_scope = $4)
        group by d.day order by d.day";
}

/// The links whose codes are looked for at a time.
const LINKS_AT_ONCE: usize = 90;
/// The most links of one user, the latest, that analytics look at.
const MOST_OWN: i64 = 100_000;
/// The most tags of links of a workspace that analytics look at.
const MOST_TAGS: i64 = 1_000_000;

impl Store {
    /// The codes of links. Links that do not exist are left out.
    pub async fn list_link_codes(&self, links: &[LinkId]) -> Result<Vec<(LinkId, String)>, Error> {
        let mut found = Vec::new();
        for part in links.chunks(LINKS_AT_ONCE) {
            let Some(last) = part.last() else { continue };
            // The statement has a fixed number of parameters: the last link fills the rest.
            let filled = part.iter().chain(std::iter::repeat(last)).take(LINKS_AT_ONCE);
            let params = filled.map(|link| SqlValue::Int(link.0)).collect();
            for row in self.db.list(CODES, params).await? {
                found.push((LinkId(row.int(0)?), row.text(1)?.to_owned()));
            }
        }
        Ok(found)
    }

    /// Those of the links that are purged.
    pub async fn list_purged_links(&self, links: &[LinkId]) -> Result<Vec<LinkId>, Error> {
        let mut found = Vec::new();
        for part in links.chunks(LINKS_AT_ONCE) {
            let Some(last) = part.last() else { continue };
            let filled = part.iter().chain(std::iter::repeat(last)).take(LINKS_AT_ONCE);
            let params = filled.map(|link| SqlValue::Int(link.0)).collect();
            for row in self.db.list(PURGED, params).await? {
                found.push(LinkId(row.int(0)?));
            }
        }
        Ok(found)
    }

    /// The links of a list, the latest ones.
    pub async fn list_own_links(&self, scope: &ListScope) -> Result<Vec<LinkId>, Error> {
        let params = vec![SqlValue::owned(scope.key()), SqlValue::Int(MOST_OWN)];
        self.db.list(OWN, params).await?.iter().map(|row| Ok(LinkId(row.int(0)?))).collect()
    }

    /// The tags of a workspace's links, in the order of the links.
    pub async fn list_tagged_links(
        &self,
        workspace: &WorkspaceId,
    ) -> Result<Vec<(LinkId, String)>, Error> {
        let params = vec![SqlValue::text(workspace.as_str()), SqlValue::Int(MOST_TAGS)];
        let read = |row: &SqlRow| Ok((LinkId(row.int(0)?), row.text(1)?.to_owned()));
        self.db.list(TAGGED, params).await?.iter().map(read).collect()
    }

    /// A row of the event log, while it is there.
    pub async fn find_logged_events(
        &self,
        (writer, seq): (i64, i64),
    ) -> Result<Option<Vec<u8>>, Error> {
        let row = self.db.find(LOGGED, &[SqlValue::Int(writer), SqlValue::Int(seq)]).await?;
        row.map(|row| Ok(row.blob(0)?.to_vec())).transpose()
    }

    /// The clicks of a list of links by hour, as far as hours are kept.
    pub async fn list_scope_hours(
        &self,
        scope: &ListScope,
        from: i64,
        to: i64,
    ) -> Result<Vec<PeriodClicks>, Error> {
        self.db.list(HOURS, period_params(scope, from, to)).await?.iter().map(read_period).collect()
    }

    /// The clicks of a list of links on days whose hours are no longer kept.
    pub async fn list_scope_days(
        &self,
        scope: &ListScope,
        from: i64,
        to: i64,
    ) -> Result<Vec<PeriodClicks>, Error> {
        self.db.list(DAYS, period_params(scope, from, to)).await?.iter().map(read_period).collect()
    }
}

fn period_params(scope: &ListScope, from: i64, to: i64) -> Vec<SqlValue<'_>> {
    let own = match scope {
        ListScope::Own(_) => SqlValue::owned(scope.key()),
        ListScope::Workspace(_) | ListScope::Main => SqlValue::Null,
    };
    vec![SqlValue::Int(from), SqlValue::Int(to), SqlValue::text(scope.workspace()), own]
}

fn read_period(row: &SqlRow) -> Result<PeriodClicks, Error> {
    Ok(PeriodClicks { at: row.int(0)?, clicks: row.int(1)?, others: row.int(2)? })
}
