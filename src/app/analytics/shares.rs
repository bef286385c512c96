//! Shares: analytics of a workspace, a link or a tag for people without an account, behind a token of 128 bits of
//! which only the hash is stored.
//!
//! Invariant: whoever has the token learns what the share names and nothing else. Every question of theirs goes through
//! [`App::shared_question`], and one that leaves the share is refused. A share that is unknown, revoked or over gives
//! one and the same answer.

use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::app::{Action, App, AppError, AuditDetail, FieldError, Resource, accounts};
use crate::store::{AnalyticsShare, NewAuditEntry, Subject};
use kurz_core::account::password::Password;
use kurz_core::account::{Act, Caller, claim};
use kurz_core::analytics::calendar::RANGE_NAMES;
use kurz_core::analytics::filter::MAX_FILTERS;
use kurz_core::analytics::{
    AnalyticsQuery, AnalyticsReport, Comparison, Dimension, EventFilter, FilterValue, Zone,
};
use kurz_core::code::WorkspaceId;
use kurz_core::time::Timestamp;

/// Shares of a workspace that are not revoked.
const MOST_SHARES: usize = 100;
const MAX_GROUPS: usize = 32;
const MOST_TAG_CHARACTERS: usize = 50;

/// What a share is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShareScope {
    Workspace,
    /// The link with this code.
    Link(String),
    Tag(String),
}

/// A share that somebody wants to make.
#[derive(Clone, Debug)]
pub struct ShareRequest {
    pub scope: ShareScope,
    /// The only range that is shown, by its name.
    pub range: Option<String>,
    /// The only groups that are shown.
    pub groups: Option<Vec<String>>,
    /// Filters that always hold.
    pub filters: Vec<String>,
    pub password: Option<String>,
    pub expires_at: Option<Timestamp>,
    /// Whether search engines may list it.
    pub index: bool,
}

/// A share that was just made; the only time that its address is shown.
#[derive(Clone, Debug)]
pub struct FreshShare {
    pub share: AnalyticsShare,
    pub token: String,
    pub url: String,
}

/// What somebody shows to see a share with a password.
#[derive(Clone, Copy, Debug)]
pub enum ShareKey<'a> {
    Nothing,
    Password(&'a str),
    /// What [`OpenShare::pass`] was when the password was given.
    Pass(&'a str),
}

/// A share that may be seen.
#[derive(Clone, Debug)]
pub struct OpenShare {
    share: AnalyticsShare,
    /// The dimensions that it shows; `None`: all.
    groups: Option<Vec<Dimension>>,
    /// Stands for the password from now on; it ends with the password or the share.
    pub pass: Option<String>,
}

impl OpenShare {
    pub const fn workspace(&self) -> &WorkspaceId {
        &self.share.workspace
    }

    /// The code of its link, if it is about one.
    pub fn code(&self) -> Option<&str> {
        self.share.subject.as_deref().filter(|_| self.share.scope == "link")
    }

    /// The link, the tag or the workspace.
    pub fn name(&self) -> &str {
        self.share.subject.as_deref().unwrap_or(self.share.workspace.as_str())
    }

    /// The only range that it shows.
    pub fn range(&self) -> Option<&str> {
        self.share.range.as_deref()
    }

    pub const fn is_indexed(&self) -> bool {
        self.share.is_indexed
    }

    pub fn shows(&self, dimension: Dimension) -> bool {
        // Other links have nothing to do with one link, nor their tags.
        let is_other =
            self.code().is_some() && matches!(dimension, Dimension::Link | Dimension::Tag);
        !is_other && self.groups.as_ref().is_none_or(|groups| groups.contains(&dimension))
    }
}

/// The number of a share, by which its workspace names it.
pub fn share_id(share: &AnalyticsShare) -> String {
    URL_SAFE_NO_PAD.encode(share.token_hash)
}

impl App {
    /// Share analytics. In `main` everybody shares links of their own.
    pub async fn create_share(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        request: &ShareRequest,
    ) -> Result<FreshShare, AppError> {
        let (scope, subject) = self.share_subject(caller, workspace, &request.scope).await?;
        let now = self.parts.clock.now();
        check_request(request, now)?;
        let password_hash = match request.password.as_deref().filter(|text| !text.is_empty()) {
            Some(text) => {
                let password = accounts::read_password("password", text)?;
                Some(self.parts.passwords.hash(password).await?)
            }
            None => None,
        };
        if self.parts.store.list_shares(workspace).await?.len() >= MOST_SHARES {
            let detail = format!("a workspace has at most {MOST_SHARES} shares: revoke one first");
            return Err(FieldError::new("scope", "shares-too-many", detail).into());
        }
        let token = claim::fresh(&mut |bytes| self.parts.entropy.fill(bytes));
        let token_hash = claim::hash(&token).ok_or(AppError::NotFound(Resource::Share))?;
        let share = AnalyticsShare {
            token_hash,
            workspace: workspace.clone(),
            scope: scope.to_owned(),
            subject,
            range: request.range.clone(),
            groups: request.groups.clone(),
            filters: request.filters.clone(),
            password_hash,
            expires_at: request.expires_at,
            is_indexed: request.index,
            created_by: caller.owner(),
            created_at: now,
            revoked_at: None,
        };
        let change = self.audit_share(caller, &share, Action::AnalyticsShared).await?;
        self.parts.store.insert_share(&share, &change).await?;
        let url = format!("{}/s/{token}", self.parts.policy.public_url);
        Ok(FreshShare { share, token, url })
    }

    /// Whether the caller may share this, and how the store calls it.
    async fn share_subject(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        scope: &ShareScope,
    ) -> Result<(&'static str, Option<String>), AppError> {
        match scope {
            ShareScope::Link(code) => {
                self.enter_to_share(caller, workspace).await?;
                let act = Act::ManageLinks;
                let (_, link) = self.reach_link(caller, workspace, code, act).await?;
                Ok(("link", Some(link.code.to_string())))
            }
            ShareScope::Workspace => {
                self.enter(caller, workspace, Act::Manage).await?;
                Ok(("workspace", None))
            }
            ShareScope::Tag(tag) => {
                self.enter(caller, workspace, Act::Manage).await?;
                let tag = tag.trim();
                if tag.is_empty() || tag.chars().count() > MOST_TAG_CHARACTERS {
                    let detail = format!("name a tag of 1 to {MOST_TAG_CHARACTERS} characters");
                    return Err(FieldError::new("subject", "tag-invalid", detail).into());
                }
                Ok(("tag", Some(tag.to_owned())))
            }
        }
    }

    /// Shares are made by administrators of a workspace; in `main` everybody is that for their own links.
    async fn enter_to_share(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
    ) -> Result<(), AppError> {
        let is_main = workspace.as_str() == crate::app::MAIN;
        let act = if is_main { Act::ManageLinks } else { Act::Manage };
        self.enter(caller, workspace, act).await?;
        Ok(())
    }

    /// The shares of a workspace, oldest first; in `main` the caller's own.
    pub async fn list_shares(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
    ) -> Result<Vec<AnalyticsShare>, AppError> {
        self.enter_to_share(caller, workspace).await?;
        let mut shares = self.parts.store.list_shares(workspace).await?;
        if self.enter(caller, workspace, Act::Manage).await.is_err() {
            shares.retain(|share| share.created_by.is_some() && share.created_by == caller.owner());
        }
        Ok(shares)
    }

    /// Revoke a share, by its number.
    pub async fn revoke_share(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        id: &str,
    ) -> Result<(), AppError> {
        let missing = || AppError::NotFound(Resource::Share);
        let shares = self.list_shares(caller, workspace).await?;
        let share = shares.iter().find(|share| share_id(share) == id).ok_or_else(missing)?;
        let change = self.audit_share(caller, share, Action::AnalyticsUnshared).await?;
        let now = self.parts.clock.now();
        let store = &self.parts.store;
        let revoked = store.revoke_share(workspace, &share.token_hash, now, &change).await?;
        if revoked { Ok(()) } else { Err(missing()) }
    }

    async fn audit_share(
        &self,
        caller: &Caller,
        share: &AnalyticsShare,
        action: Action,
    ) -> Result<NewAuditEntry, AppError> {
        let name = share.subject.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
        let note = Some(format!("{}{name}", share.scope));
        let detail = AuditDetail { note, ..AuditDetail::default() };
        self.audit_with(caller, Subject::workspace(&share.workspace), action, detail).await
    }

    /// The share of a token. A missing or wrong password is [`AppError::WrongPassword`]; tries are limited.
    pub async fn open_share(
        &self,
        token: &str,
        key: ShareKey<'_>,
        client: IpAddr,
    ) -> Result<OpenShare, AppError> {
        let hash = claim::hash(token);
        let found = match &hash {
            Some(hash) => self.parts.store.find_share(hash).await?,
            None => None,
        };
        let now = self.parts.clock.now();
        let is_over = |share: &AnalyticsShare| {
            share.revoked_at.is_some() || share.expires_at.is_some_and(|end| end <= now)
        };
        let Some(share) = found.filter(|share| !is_over(share)) else {
            return Err(self.missed(client));
        };
        let pass = share.password_hash.as_deref().map(|password| pass(&share, password));
        if let Some(pass) = &pass {
            self.check_key(&share, pass, key, client).await?;
        }
        let groups = share
            .groups
            .as_ref()
            .map(|names| names.iter().filter_map(|name| Dimension::parse(name)).collect());
        Ok(OpenShare { share, groups, pass })
    }

    async fn check_key(
        &self,
        share: &AnalyticsShare,
        pass: &str,
        key: ShareKey<'_>,
        client: IpAddr,
    ) -> Result<(), AppError> {
        let given = match key {
            ShareKey::Pass(given) if same(given, pass) => return Ok(()),
            ShareKey::Password(text) => Password::given(text).ok(),
            ShareKey::Pass(_) | ShareKey::Nothing => None,
        };
        let Some(given) = given else { return Err(AppError::WrongPassword) };
        let hash = share.password_hash.as_deref();
        let check = self.parts.passwords.matches(given, hash);
        let account = format!("share {}", share_id(share));
        let is_right = self.try_password(&account, Some(client), check).await?;
        if is_right { Ok(()) } else { Err(AppError::WrongPassword) }
    }

    /// The question of somebody who sees a share: within it, or refused.
    pub async fn shared_question(
        &self,
        open: &OpenShare,
        pairs: &[(String, String)],
    ) -> Result<AnalyticsQuery, AppError> {
        let mut pairs: Vec<(String, String)> = pairs.to_vec();
        if let Some(range) = open.range() {
            pairs.retain(|(name, _)| name != "from" && name != "to");
            pairs.push(("from".to_owned(), range.to_owned()));
        }
        let workspace = open.workspace();
        let mut query =
            self.analytics_question(&Caller::OPEN, workspace, open.code(), &pairs).await?;
        let asked = query.groups.iter().chain(query.filters.iter().map(|filter| &filter.dimension));
        if let Some(hidden) = asked.copied().find(|dimension| !open.shows(*dimension)) {
            let detail = format!("this share does not show `{}`", hidden.name());
            return Err(FieldError::new("group", "analytics-invalid", detail).into());
        }
        let own = open.share.filters.iter().filter_map(|text| EventFilter::parse(text).ok());
        query.filters.extend(own);
        if open.share.scope == "tag" {
            let values = vec![FilterValue::Exactly(open.name().into())];
            query.filters.push(EventFilter { dimension: Dimension::Tag, not: false, values });
        }
        Ok(query)
    }

    /// The answer to a question of [`App::shared_question`]; its groups may be others that the share shows.
    pub async fn shared_analytics(
        &self,
        open: &OpenShare,
        query: &AnalyticsQuery,
    ) -> Result<AnalyticsReport, AppError> {
        let mut query = query.clone();
        query.groups.retain(|dimension| open.shows(*dimension));
        if let Some(range) = open.range() {
            // Neither the time before nor any other is part of it.
            query.compare = Comparison::None;
            let zone = Zone::find(&query.zone).unwrap_or_else(Zone::utc);
            let now = self.parts.clock.now();
            let all = Timestamp::from_ms(0);
            let shown = zone
                .named_range(range, now, all)
                .filter(|shown| shown.from <= query.range.from && query.range.to <= shown.to);
            if shown.is_none() {
                let detail = "this share shows another time";
                return Err(FieldError::new("from", "range-invalid", detail).into());
            }
        }
        self.analytics(&Caller::OPEN, open.workspace(), &query).await
    }
}

/// What stands for the password of a share. It says nothing about the password to whoever does not have the store.
fn pass(share: &AnalyticsShare, password_hash: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(b"kurz share\n");
    hash.update(share.token_hash);
    hash.update(password_hash.as_bytes());
    URL_SAFE_NO_PAD.encode(hash.finalize())
}

/// Whether two texts are the same, in a time that does not tell where they differ.
fn same(one: &str, other: &str) -> bool {
    Sha256::digest(one.as_bytes()) == Sha256::digest(other.as_bytes())
}

fn check_request(request: &ShareRequest, now: Timestamp) -> Result<(), AppError> {
    let mut errors = Vec::new();
    if request.range.as_deref().is_some_and(|range| !RANGE_NAMES.contains(&range)) {
        let detail = format!("a range of a share is one of {}", RANGE_NAMES.join(", "));
        errors.push(FieldError::new("range", "range-invalid", detail));
    }
    let groups = request.groups.as_deref().unwrap_or_default();
    if groups.len() > MAX_GROUPS || groups.iter().any(|name| Dimension::parse(name).is_none()) {
        let detail = format!("groups are {}", kurz_core::analytics::filter::names());
        errors.push(FieldError::new("groups", "analytics-invalid", detail));
    }
    let bad = request.filters.iter().find_map(|text| EventFilter::parse(text).err());
    if let Some(error) = bad {
        errors.push(FieldError::new("filters", "filter-invalid", error));
    } else if request.filters.len() > MAX_FILTERS / 2 {
        let detail = format!("a share has at most {} filters", MAX_FILTERS / 2);
        errors.push(FieldError::new("filters", "filter-invalid", detail));
    }
    if request.expires_at.is_some_and(|end| end <= now) {
        let detail = "the end of a share must be in the future";
        errors.push(FieldError::new("expires_at", "expires-at-past", detail));
    }
    if errors.is_empty() { Ok(()) } else { Err(AppError::Invalid(errors)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> ShareRequest {
        ShareRequest {
            scope: ShareScope::Workspace,
            range: None,
            groups: None,
            filters: Vec::new(),
            password: None,
            expires_at: None,
            index: false,
        }
    }

    #[test]
    fn a_share_names_what_exists_and_ends_in_the_future() {
        let now = Timestamp::from_ms(1000);
        assert!(check_request(&request(), now).is_ok());
        let good = ShareRequest {
            range: Some("30d".to_owned()),
            groups: Some(vec!["country".to_owned()]),
            filters: vec!["country:DE".to_owned()],
            expires_at: Some(Timestamp::from_ms(1001)),
            ..request()
        };
        assert!(check_request(&good, now).is_ok());
        let bad = ShareRequest {
            range: Some("forever".to_owned()),
            groups: Some(vec!["planet".to_owned()]),
            filters: vec!["country".to_owned()],
            expires_at: Some(now),
            ..request()
        };
        let Err(AppError::Invalid(errors)) = check_request(&bad, now) else { panic!("accepted") };
        let codes: Vec<_> = errors.iter().map(|error| error.code).collect();
        assert_eq!(
            codes,
            ["range-invalid", "analytics-invalid", "filter-invalid", "expires-at-past"]
        );
    }
}
