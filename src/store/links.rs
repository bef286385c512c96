//! Links by key, and how a row becomes a [`Link`].

use std::collections::HashSet;

use crate::store::aliases::{aliased, leads_to};
use crate::store::driver::statements;
use crate::store::link_columns::{at, read_fields};
use crate::store::plans::read_plan;
use crate::store::text::Piece::{Params, Text};
use crate::store::text::text;
use crate::store::value::{SqlRow, SqlValue};
use crate::store::workspaces::{read_id, read_strategy};
use crate::store::{Error, Store, row_checksum};
use kurz_core::account::{KeyId, UserId};
use kurz_core::code::{Code, WorkspaceId};
use kurz_core::link::{Disabled, Link, LinkId, LinkOrigin, Month, Reason};

/// A statement that reads links, those that `$which` says.
macro_rules! link_text {
    ($which:expr) => {
        $crate::store::text::text!(
            $crate::store::text::Piece::Text("select "),
            $crate::store::text::Piece::Selected($crate::store::link_columns::LINK_SELECTED),
            $crate::store::text::Piece::Text($crate::store::link_columns::LINK_TABLES),
            $crate::store::text::Piece::Text($which)
        )
    };
}
pub(super) use link_text;

statements! {
    FIND = link_text!("where l.workspace = $1 and l.code = $2");
    FIND_BY_ID = link_text!("where l.id = $1");
    /// The one deterministic link of a URL.
    FIND_SAME = link_text!(
        "where l.workspace = $1 and l.canonical_hash = $2 and l.strategy = 'deterministic'"
    );
    /// Those of some codes that a workspace has, or that any has on the main host. Two selects: each has
    /// an index of its own.
    TAKEN = text!(
        Text("select code from links where workspace = $1 and code in ("),
        Params(2, CODES_AT_ONCE),
        Text(") union select code from links where main_since is not null and code in ("),
        Params(2, CODES_AT_ONCE),
        Text(")"),
    );
}

/// The codes that [`Store::taken_codes`] looks for at a time.
pub const CODES_AT_ONCE: usize = 90;

impl Store {
    /// A link by its code or an alias, tombstones included.
    pub async fn find_link(
        &self,
        workspace: &WorkspaceId,
        code: &Code,
    ) -> Result<Option<Link>, Error> {
        let params = [SqlValue::text(workspace.as_str()), SqlValue::text(code.as_str())];
        let Some(row) = self.db.find(FIND, &params).await? else { return Ok(None) };
        let found = read_sound(&row)?;
        if found.code != *code || found.workspace != *workspace {
            return Err(row_checksum::wrong_row(found.id, code.as_str()));
        }
        match aliased(row.opt_int(at!(alias_of))?) {
            Some(link) => self.find_link_by_id(link).await,
            None => Ok(Some(found)),
        }
    }

    /// Which of `codes`, of which the first [`CODES_AT_ONCE`] count, are taken in a workspace or on the
    /// main host, by links and tombstones.
    pub async fn taken_codes(
        &self,
        workspace: &WorkspaceId,
        codes: &[Code],
    ) -> Result<HashSet<String>, Error> {
        let Some(last) = codes.last() else { return Ok(HashSet::new()) };
        // The statement has a fixed number of parameters: the last code fills the rest.
        let filled = codes.iter().chain(std::iter::repeat(last)).take(CODES_AT_ONCE);
        let codes = filled.map(|code| SqlValue::text(code.as_str()));
        let params = std::iter::once(SqlValue::text(workspace.as_str())).chain(codes).collect();
        let rows = self.db.list(TAKEN, params).await?;
        rows.iter().map(|row| row.text(0).map(str::to_owned)).collect()
    }

    /// A link by its number, tombstones included.
    pub async fn find_link_by_id(&self, id: LinkId) -> Result<Option<Link>, Error> {
        let row = self.db.find(FIND_BY_ID, &[SqlValue::Int(id.0)]).await?;
        row.map(|row| read_sound(&row)).transpose()
    }

    /// The deterministic link of a canonical form, tombstones included.
    pub async fn find_same(
        &self,
        workspace: &WorkspaceId,
        canonical_hash: &[u8; 32],
    ) -> Result<Option<Link>, Error> {
        let params = [SqlValue::text(workspace.as_str()), SqlValue::blob(canonical_hash)];
        let row = self.db.find(FIND_SAME, &params).await?;
        match row.map(|row| read_sound(&row)).transpose()? {
            // Not one to which a damaged index leads.
            Some(link) if link.canonical_hash != *canonical_hash => {
                Err(row_checksum::wrong_row(link.id, "a URL"))
            }
            link => Ok(link),
        }
    }
}

/// A link that matches its checksum: edits build on what is read here, and compute the checksum anew.
fn read_sound(row: &SqlRow) -> Result<Link, Error> {
    let link = read_link(row)?;
    let (workspace, code) = (link.workspace.as_str(), link.code.as_str());
    let leads_to = leads_to(&link.target, row.opt_int(at!(alias_of))?);
    let stored = row.opt_int(at!(row_checksum))?;
    row_checksum::expect(link.id, workspace, code, &leads_to, link.plan.as_ref(), stored)?;
    Ok(link)
}

/// A link as its row says, for lists, which show a damaged one as well.
pub(super) fn read_link(row: &SqlRow) -> Result<Link, Error> {
    let code = row.text(at!(code))?;
    Ok(Link {
        id: LinkId(row.int(at!(id))?),
        workspace: read_id(row.text(at!(workspace))?)?,
        code: Code::parse(code).ok_or_else(|| Error::Corrupt(format!("`{code}` is no code")))?,
        strategy: read_strategy(row.text(at!(strategy))?)?,
        target: row.text(at!(target))?.to_owned(),
        canonical_hash: row
            .blob(at!(canonical_hash))?
            .try_into()
            .map_err(|_| Error::Corrupt(format!("the hash of `{code}` has a wrong length")))?,
        fields: read_fields(row)?,
        created_at: row.time(at!(created_at))?,
        updated_at: row.time(at!(updated_at))?,
        expired_at: row.opt_time(at!(expired_at))?,
        deleted_at: row.opt_time(at!(deleted_at))?,
        purged_at: row.opt_time(at!(purged_at))?,
        main_since: row.opt_time(at!(main_since))?,
        version: row.int(at!(version))?,
        redirect_count: row.int(at!(redirect_count))?,
        avg_redirect_ms: row.real(at!(avg_redirect_ms))?,
        last_redirect_at: row.opt_time(at!(last_redirect_at))?,
        month: Month::from_number(row.int(at!(month))?),
        month_hits: row.int(at!(month_hits))?,
        owner: row.opt_int(at!(owner_id))?.map(UserId),
        is_temporary: row.has(at!(claim_hash)),
        destination_status: row.opt_text(at!(destination_status))?.map(str::to_owned),
        destination_http_status: row
            .opt_int(at!(destination_http_status))?
            .and_then(|status| u16::try_from(status).ok()),
        last_checked_at: row.opt_time(at!(last_checked_at))?,
        disabled: read_disabled(row)?,
        made: LinkOrigin {
            key: row.opt_int(at!(made_key))?.map(KeyId),
            client: row.opt_text(at!(made_from))?.map(str::to_owned),
        },
        plan: read_plan(row, at!(plan_at), at!(plan), at!(plan_keys))?,
        aliases: row.opt_text(at!(aliases))?.map(read_aliases).transpose()?.unwrap_or_default(),
    })
}

/// Codes with commas between.
fn read_aliases(text: &str) -> Result<Vec<Code>, Error> {
    let read = |code: &str| {
        Code::parse(code).ok_or_else(|| Error::Corrupt(format!("`{code}` is no code")))
    };
    text.split(',').map(read).collect()
}

fn read_disabled(row: &SqlRow) -> Result<Option<Disabled>, Error> {
    let Some(at) = row.opt_time(at!(disabled_at))? else { return Ok(None) };
    let reason = read_reason(row.opt_text(at!(disabled_reason))?)?.unwrap_or(Reason::Other);
    let note = row.opt_text(at!(disabled_note))?.map(str::to_owned);
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
