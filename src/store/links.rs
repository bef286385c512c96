//! Links by key, and how a row becomes a [`Link`].

use crate::store::driver::statements;
use crate::store::value::{Row, Value};
use crate::store::workspaces::{read_id, read_strategy};
use crate::store::{Error, Store, seal};
use kurz_core::account::{KeyId, UserId};
use kurz_core::code::{Code, WorkspaceId};
use kurz_core::link::{Disabled, Link, LinkId, LinkOrigin, Month, Reason};

/// The columns that [`read_link`] reads, of `link_tables`.
macro_rules! link_columns {
    () => {
        "l.id, l.workspace, l.code, l.strategy, l.target, l.canonical_hash, l.title, l.tags,
         l.redirect_status, l.hit_limit, l.created_at, l.updated_at, l.expires_at, l.deleted_at,
         l.purged_at, l.main_since, l.version, coalesce(s.redirect_count, 0),
         coalesce(s.avg_redirect_ms, cast(0 as double precision)), s.last_redirect_at,
         coalesce(s.month, 0), coalesce(s.month_hits, 0), l.owner_id, l.claim_hash,
         h.destination_status, h.last_checked_at, l.expired_at, l.disabled_at, l.disabled_reason,
         l.disabled_note, l.made_key, l.made_from, l.seal"
    };
}
pub(super) use link_columns;

/// Where [`link_columns`] come from.
macro_rules! link_tables {
    () => {
        " from links l left join link_stats s on s.link_id = l.id
          left join link_health h on h.link_id = l.id "
    };
}
pub(super) use link_tables;

statements! {
    FIND = concat!("select ", link_columns!(), link_tables!(),
        "where l.workspace = $1 and l.code = $2");
    FIND_BY_ID = concat!("select ", link_columns!(), link_tables!(), "where l.id = $1");
    /// The one deterministic link of a URL.
    FIND_SAME = concat!("select ", link_columns!(), link_tables!(),
        "where l.workspace = $1 and l.canonical_hash = $2 and l.strategy = 'deterministic'");
}

impl Store {
    /// A link by its code, tombstones included.
    pub async fn find_link(
        &self,
        workspace: &WorkspaceId,
        code: &Code,
    ) -> Result<Option<Link>, Error> {
        let params = [Value::text(workspace.as_str()), Value::text(code.as_str())];
        let link = self.db.find(FIND, &params).await?.map(|row| read_sound(&row)).transpose()?;
        expect_asked(link, code.as_str(), |link| link.code == *code && link.workspace == *workspace)
    }

    /// A link by its number, tombstones included.
    pub async fn find_link_by_id(&self, id: LinkId) -> Result<Option<Link>, Error> {
        let row = self.db.find(FIND_BY_ID, &[Value::Int(id.0)]).await?;
        row.map(|row| read_sound(&row)).transpose()
    }

    /// The deterministic link of a canonical form, tombstones included.
    pub async fn find_same(
        &self,
        workspace: &WorkspaceId,
        canonical_hash: &[u8; 32],
    ) -> Result<Option<Link>, Error> {
        let params = [Value::text(workspace.as_str()), Value::blob(canonical_hash)];
        let row = self.db.find(FIND_SAME, &params).await?;
        let link = row.map(|row| read_sound(&row)).transpose()?;
        expect_asked(link, "a URL", |link| link.canonical_hash == *canonical_hash)
    }
}

/// The link that was asked for, not one to which a damaged index leads.
fn expect_asked(
    link: Option<Link>,
    asked: &str,
    is: impl Fn(&Link) -> bool,
) -> Result<Option<Link>, Error> {
    match link {
        Some(link) if !is(&link) => Err(seal::strayed(link.id, asked)),
        link => Ok(link),
    }
}

/// A link that is what was stored: what is read here is built on, also by edits, which seal anew.
fn read_sound(row: &Row) -> Result<Link, Error> {
    let link = read_link(row)?;
    let (workspace, code) = (link.workspace.as_str(), link.code.as_str());
    seal::expect(link.id, workspace, code, &link.target, row.opt_int(32)?)?;
    Ok(link)
}

/// A link as its row says, for lists, which show a damaged one as well.
pub(super) fn read_link(row: &Row) -> Result<Link, Error> {
    let code = row.text(2)?;
    Ok(Link {
        id: LinkId(row.int(0)?),
        workspace: read_id(row.text(1)?)?,
        code: Code::parse(code).ok_or_else(|| Error::Corrupt(format!("`{code}` is no code")))?,
        strategy: read_strategy(row.text(3)?)?,
        target: row.text(4)?.to_owned(),
        canonical_hash: row
            .blob(5)?
            .try_into()
            .map_err(|_| Error::Corrupt(format!("the hash of `{code}` has a wrong length")))?,
        title: row.opt_text(6)?.map(str::to_owned),
        tags: row.opt_text(7)?.map(split_tags).unwrap_or_default(),
        redirect_status: u16::try_from(row.int(8)?)
            .map_err(|_| Error::Corrupt(format!("the status of `{code}` is out of range")))?,
        hit_limit: row.opt_int(9)?,
        created_at: row.time(10)?,
        updated_at: row.time(11)?,
        expires_at: row.opt_time(12)?,
        expired_at: row.opt_time(26)?,
        deleted_at: row.opt_time(13)?,
        purged_at: row.opt_time(14)?,
        main_since: row.opt_time(15)?,
        version: row.int(16)?,
        redirect_count: row.int(17)?,
        avg_redirect_ms: row.real(18)?,
        last_redirect_at: row.opt_time(19)?,
        month: Month::from_number(row.int(20)?),
        month_hits: row.int(21)?,
        owner: row.opt_int(22)?.map(UserId),
        is_temporary: row.has(23),
        destination_status: row.opt_text(24)?.map(str::to_owned),
        last_checked_at: row.opt_time(25)?,
        disabled: read_disabled(row, 27)?,
        made: LinkOrigin {
            key: row.opt_int(30)?.map(KeyId),
            client: row.opt_text(31)?.map(str::to_owned),
        },
    })
}

/// When, why and with which words a link was disabled, from the row's `first` column on.
fn read_disabled(row: &Row, first: usize) -> Result<Option<Disabled>, Error> {
    let Some(at) = row.opt_time(first)? else { return Ok(None) };
    let reason = read_reason(row.opt_text(first + 1)?)?.unwrap_or(Reason::Other);
    let note = row.opt_text(first + 2)?.map(str::to_owned);
    Ok(Some(Disabled { at, reason, note }))
}

/// Why a link is disabled, if it is.
pub(super) fn read_reason(text: Option<&str>) -> Result<Option<Reason>, Error> {
    let read = |text: &str| {
        text.parse()
            .map_err(|()| Error::Corrupt(format!("`{text}` is no reason to disable a link")))
    };
    text.map(read).transpose()
}

/// Tags in one column, a line each: a tag has no control characters.
pub(super) fn join_tags(tags: &[String]) -> Option<String> {
    if tags.is_empty() { None } else { Some(tags.join("\n")) }
}

fn split_tags(text: &str) -> Vec<String> {
    text.split('\n').map(str::to_owned).collect()
}
