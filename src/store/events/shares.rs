//! Shares: links to the analytics of a workspace, a link or a tag for people without an account. Of the
//! token only a hash is stored.

use crate::store::driver::{Outcome, Step, statements};
use crate::store::text::Piece::{Names, Params, Text};
use crate::store::text::text;
use crate::store::value::{SqlRow, SqlValue};
use crate::store::workspaces::read_id;
use crate::store::{Error, NewAuditEntry, Store, audit};
use kurz_core::account::UserId;
use kurz_core::code::WorkspaceId;
use kurz_core::time::Timestamp;

const COLUMNS: &[&str] = &[
    "token_hash",
    "workspace",
    "scope",
    "subject",
    "time_range",
    "group_names",
    "filters",
    "password_hash",
    "expires_at",
    "is_indexed",
    "created_by",
    "created_at",
    "revoked_at",
];

statements! {
    INSERT = text!(Text("insert into analytics_shares ("), Names(COLUMNS), Text(") values ("),
        Params(1, COLUMNS.len()), Text(")"));
    FIND = text!(Text("select "), Names(COLUMNS), Text(" from analytics_shares
        where token_hash = $1"));
    LIST = text!(Text("select "), Names(COLUMNS), Text(" from analytics_shares
        where workspace = $1 and revoked_at is null order by created_at, token_hash limit $2"));
    REVOKE = "update analytics_shares set revoked_at = $1
        where token_hash = $2 and workspace = $3 and revoked_at is null returning created_at";
}

/// The most shares of a workspace that are listed.
const MOST: i64 = 1_000;

/// A share. Lists have a line for each entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnalyticsShare {
    /// SHA-256 of its token.
    pub token_hash: [u8; 32],
    pub workspace: WorkspaceId,
    /// `workspace`, `link` or `tag`.
    pub scope: String,
    /// The code of the link, or the tag.
    pub subject: Option<String>,
    /// The only range that is shown.
    pub range: Option<String>,
    /// The only groups that are shown.
    pub groups: Option<Vec<String>>,
    pub filters: Vec<String>,
    pub password_hash: Option<String>,
    pub expires_at: Option<Timestamp>,
    /// Whether search engines may list it.
    pub is_indexed: bool,
    pub created_by: Option<UserId>,
    pub created_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
}

impl Store {
    pub async fn insert_share(
        &self,
        share: &AnalyticsShare,
        change: &NewAuditEntry,
    ) -> Result<(), Error> {
        let join = |lines: &Vec<String>| SqlValue::owned(lines.join("\n"));
        let params = [
            SqlValue::blob(&share.token_hash),
            SqlValue::text(share.workspace.as_str()),
            SqlValue::text(&share.scope),
            share.subject.as_deref().into(),
            share.range.as_deref().into(),
            share.groups.as_ref().map_or(SqlValue::Null, join),
            join(&share.filters),
            share.password_hash.as_deref().into(),
            share.expires_at.into(),
            SqlValue::Int(share.is_indexed.into()),
            share.created_by.map(|user| user.0).into(),
            share.created_at.into(),
            share.revoked_at.into(),
        ];
        let steps = vec![Step::new(INSERT, params), audit::step(change)];
        self.db.batch(steps).await.map(|_| ())
    }

    /// A share by the hash of its token, also one that has expired or was revoked.
    pub async fn find_share(&self, token_hash: &[u8; 32]) -> Result<Option<AnalyticsShare>, Error> {
        let row = self.db.find(FIND, &[SqlValue::blob(token_hash)]).await?;
        row.map(|row| read(&row)).transpose()
    }

    /// The shares of a workspace that were not revoked, oldest first.
    pub async fn list_shares(&self, workspace: &WorkspaceId) -> Result<Vec<AnalyticsShare>, Error> {
        let params = vec![SqlValue::text(workspace.as_str()), SqlValue::Int(MOST)];
        self.db.list(LIST, params).await?.iter().map(read).collect()
    }

    /// Revoke a share; `false` when the workspace has no such share.
    pub async fn revoke_share(
        &self,
        workspace: &WorkspaceId,
        token_hash: &[u8; 32],
        now: Timestamp,
        change: &NewAuditEntry,
    ) -> Result<bool, Error> {
        let params = [now.into(), SqlValue::blob(token_hash), SqlValue::text(workspace.as_str())];
        let steps = vec![Step::new(REVOKE, params).or_undo(), audit::step(change)];
        Ok(matches!(self.db.batch(steps).await?, Outcome::Done(_)))
    }
}

fn read(row: &SqlRow) -> Result<AnalyticsShare, Error> {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let token_hash = <[u8; 32]>::try_from(row.blob(0)?)
        .map_err(|_| Error::Corrupt("the hash of a share has not 32 bytes".to_owned()))?;
    Ok(AnalyticsShare {
        token_hash,
        workspace: read_id(row.text(1)?)?,
        scope: row.text(2)?.to_owned(),
        subject: row.opt_text(3)?.map(str::to_owned),
        range: row.opt_text(4)?.map(str::to_owned),
        groups: row.opt_text(5)?.map(lines),
        filters: row.opt_text(6)?.map(lines).unwrap_or_default(),
        password_hash: row.opt_text(7)?.map(str::to_owned),
        expires_at: row.opt_time(8)?,
        is_indexed: row.int(9)? != 0,
        created_by: row.opt_int(10)?.map(UserId),
        created_at: row.time(11)?,
        revoked_at: row.opt_time(12)?,
    })
}
