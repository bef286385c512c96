//! Why something was not done, in terms of kurz; the edge turns it into status codes.

use std::borrow::Cow;
use std::fmt::{self, Display};

use thiserror::Error;

use crate::store;
use kurz_core::account::Refused;
use kurz_core::code::WorkspaceId;
use kurz_core::limits::Limit;
use kurz_core::link::fields::RefusedField;
use kurz_core::time::Timestamp;

#[derive(Clone, Debug, Error)]
pub enum AppError {
    /// Something in the request cannot be as it is.
    #[error("the request is not valid")]
    Invalid(Vec<FieldError>),
    /// What the request names does not exist.
    #[error("there is no such {0}")]
    NotFound(Resource),
    /// The custom code leads elsewhere.
    #[error("the code is taken by another link: choose another one")]
    CodeTaken,
    /// The link of this URL or code is there, with another plan.
    #[error(
        "this link exists already with other rules or settings: edit it, or ask for another strategy"
    )]
    LinkExists,
    /// Links have the new name of a tag already.
    #[error("links have this tag already: choose another name")]
    TagTaken,
    #[error("a workspace of this name exists already")]
    WorkspaceTaken,
    /// The name of a deleted workspace, whose links are another team's.
    #[error(
        "the workspace {0} was deleted: choose another name, or ask an administrator of this server to \
         restore it with `kurz workspace restore {0}`"
    )]
    WorkspaceDeleted(WorkspaceId),
    /// A workspace that still has links cannot be removed.
    #[error("the workspace still has links: delete them first")]
    WorkspaceInUse,
    /// The workspace `main` cannot be removed.
    #[error("the workspace main is everybody's: it cannot be removed")]
    MainStays,
    /// The host belongs to a workspace already.
    #[error("the host belongs to a workspace already")]
    HostTaken,
    /// The host was another workspace's until lately.
    #[error(
        "the host belonged to another workspace until lately: it is free from {end} on, or ask \
             whoever runs this server"
    )]
    HostQuarantined { end: Timestamp },
    /// The host is the main host's, or below it.
    #[error(
        "names below the main host are the operator's: ask whoever runs this server to give it to \
         the workspace"
    )]
    HostReserved,
    /// The proof of a host was not found.
    #[error(
        "no proof that the host is yours was found: {found}; publish one of them and check again"
    )]
    HostUnproven { found: String },
    /// A host is not checked over and over.
    #[error("the host was checked just now: wait {seconds} seconds before the next check")]
    HostCheckedJustNow { seconds: u32 },
    /// As many workspaces as an account may make.
    #[error(
        "an account makes at most {limit} workspaces: delete one, or ask whoever runs this server"
    )]
    WorkspaceLimit { limit: i64 },
    /// As many custom codes as an account may choose in `main` in a month.
    #[error(
        "the {limit} custom codes of this month in the workspace main are used up: leave out the \
         code, or make the link in a workspace of your own"
    )]
    CustomCodeLimit {
        limit: i64,
        /// How long until the next month.
        seconds_left: i64,
    },
    /// The link changed while it was being changed.
    #[error("the link was changed by somebody else at the same time: look at it and try again")]
    ChangedMeanwhile,
    /// The link is disabled: its owner cannot change it, and nobody can make it again.
    #[error(
        "whoever runs this server disabled this link: it can be neither changed nor made again"
    )]
    LinkLocked,
    /// As many reports wait as can be kept.
    #[error("too many reports wait to be looked into: try again later")]
    ReportsFull,
    /// The link is not disabled.
    #[error("the link is not disabled")]
    NotDisabled,
    /// The account that the link belonged to is deleted.
    #[error("the account that this link belonged to is deleted: the link cannot come back")]
    OwnerDeleted,
    /// The link is not deleted, so it cannot be restored.
    #[error("the link is not deleted")]
    NotDeleted,
    /// The link was deleted, and too long ago.
    #[error(
        "the link was deleted and then purged at {at}: it can no longer be restored; create it again \
         with the same target, which may have the same code"
    )]
    Purged { at: Timestamp },
    /// Nothing of a batch was stored, because one of its links was refused.
    #[error("nothing was stored, because link {at} (from 0) was refused: {why}")]
    BatchRefused { at: usize, why: Box<AppError> },
    /// The URL has its deterministic link, and it is somebody else's.
    #[error("somebody else has the deterministic link of this URL: ask for another strategy")]
    UrlTaken,
    /// The caller may not do this.
    #[error("{}", refusal(*.0))]
    Refused(Refused),
    /// The credential is not good.
    #[error("the token or key is not valid, or no longer")]
    InvalidToken,
    /// Signing in failed; which half was wrong is not said.
    #[error("the email address or the password is wrong")]
    WrongCredentials,
    /// The password that should confirm something is wrong.
    #[error("the password is wrong")]
    WrongPassword,
    #[error("an account with this email address exists already")]
    EmailTaken,
    /// Nobody may register.
    #[error("registration is closed: ask the administrator of this server for an account")]
    SignupClosed,
    /// The invitation is missing, used, over, or for another address.
    #[error("registration takes a valid invitation for this email address")]
    InviteInvalid,
    #[error("this user is a member already")]
    MemberTaken,
    /// The workspace has as many members as there may be.
    #[error("the workspace has as many members as it may have: remove one first")]
    MembersFull,
    /// The last administrator of workspaces stays.
    #[error("{}", last_admin(.workspaces))]
    LastAdmin { workspaces: Vec<WorkspaceId> },
    /// The address of the account was not proved, and it is younger than the invitation.
    #[error(
        "this account was made after the invitation, so it takes the link: open the link that the \
             administrator of the workspace has, or ask for another invitation"
    )]
    InvitationNeedsLink,
    /// As many links as a user may make in a month.
    #[error("the {limit} links of this month are used up")]
    MonthlyLimit {
        limit: i64,
        /// How long until the next month.
        seconds_left: i64,
    },
    /// Too many searches run at the same time.
    #[error("too many searches are running right now: try again in a moment")]
    TooManySearches,
    /// A question about clicks took too long.
    #[error(
        "the question took too long: ask for a shorter range, for fewer groups, or try again in a moment"
    )]
    AnalyticsSlow,
    /// Too many passwords wait to be checked.
    #[error("too many people are signing in right now: try again in a moment")]
    Busy,
    #[error("{}", too_often(*.limit))]
    TooOften { limit: Limit, seconds: u32 },
    #[error("Failed to generate unique short code after {0} attempts")]
    NoFreeCode(u32),
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl AppError {
    /// Whether the file of the store is not where it was opened.
    pub fn is_displaced_store(&self) -> bool {
        matches!(self, Self::Store(error) if matches!(error.kind(), store::Error::Displaced(_)))
    }
}

impl From<Refused> for AppError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Hidden => Self::NotFound(Resource::Workspace),
            other => Self::Refused(other),
        }
    }
}

fn refusal(refused: Refused) -> String {
    match refused {
        Refused::Unauthenticated => "sign in, or send a token or key, to do this".to_owned(),
        // The contract fixes this sentence to the letter.
        Refused::NotOwner => "You do not own this short URL".to_owned(),
        Refused::MissingScope(scope) => format!("the key lacks the scope `{scope}`"),
        Refused::MissingRole(role) => format!("this takes the role `{role}` in the workspace"),
        Refused::OtherWorkspace => {
            "the key is for another workspace: use one for this workspace, or one \
             that is not bound to a workspace"
                .to_owned()
        }
        Refused::NeedsSignIn => "this takes the token of a sign-in, not an API key".to_owned(),
        Refused::Hidden => "there is no such workspace".to_owned(),
    }
}

fn last_admin(workspaces: &[WorkspaceId]) -> String {
    let names: Vec<&str> = workspaces.iter().map(WorkspaceId::as_str).collect();
    let (names, those) = match names.as_slice() {
        [] => ("a workspace".to_owned(), "that workspace"),
        [only] => (format!("the workspace {only}"), "that workspace"),
        several => (format!("the workspaces {}", several.join(", ")), "those workspaces"),
    };
    format!(
        "the last administrator of {names} stays: make another member an administrator first, or \
         delete {those}"
    )
}

fn too_often(limit: Limit) -> &'static str {
    match limit {
        Limit::Logins => "too many failed tries to sign in: wait before the next one",
        Limit::Signups => "too many accounts were made from this address: try again later",
        Limit::AnonymousLinks => {
            "too many links were made from this address without an account: sign in, or try again later"
        }
        Limit::Misses => "too many addresses that do not exist were asked for: try again later",
        Limit::BadCredentials => {
            "too many keys that are nobody's were shown from this address: try again later"
        }
        Limit::Links => "too many links were made with this account: try again later",
        Limit::Reports => "too many reports came from this address: try again later",
        Limit::Calls => "too many calls with this account or key: try again later",
        Limit::LinkPasswords => "too many passwords were tried for this link: try again later",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    Link,
    Workspace,
    Host,
    User,
    Key,
    Member,
    Invitation,
    /// A link that the token opens.
    Claim,
    Session,
    Report,
    Share,
    Alias,
    Tag,
    Page,
}

impl Resource {
    /// The stable name of the error.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Link => "link-not-found",
            Self::Workspace => "workspace-not-found",
            Self::Host => "host-not-found",
            Self::User => "user-not-found",
            Self::Key => "key-not-found",
            Self::Member => "member-not-found",
            Self::Invitation => "invitation-not-found",
            Self::Claim => "claim-not-found",
            Self::Session => "session-not-found",
            Self::Report => "report-not-found",
            Self::Share => "share-not-found",
            Self::Alias => "alias-not-found",
            Self::Tag => "tag-not-found",
            Self::Page => "not-found",
        }
    }
}

impl Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Link => "link",
            Self::Workspace => "workspace",
            Self::Host => "host",
            Self::User => "user",
            Self::Key => "key",
            Self::Member => "member",
            Self::Invitation => "invitation",
            Self::Claim => "link to be claimed with this token",
            Self::Session => "session",
            Self::Report => "report",
            Self::Share => "share",
            Self::Alias => "alias of the link",
            Self::Tag => "tag",
            Self::Page => "page",
        })
    }
}

/// One field that cannot be as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The field, as the request names it.
    pub field: Cow<'static, str>,
    /// The stable name of the error.
    pub code: &'static str,
    /// A sentence that says what is accepted.
    pub detail: String,
}

impl FieldError {
    pub(crate) fn new(
        field: impl Into<Cow<'static, str>>,
        code: &'static str,
        detail: impl Display,
    ) -> Self {
        Self { field: field.into(), code, detail: detail.to_string() }
    }
}

impl From<RefusedField> for FieldError {
    fn from(refused: RefusedField) -> Self {
        Self::new(refused.field, refused.error.code(), refused.error)
    }
}

impl From<FieldError> for AppError {
    fn from(error: FieldError) -> Self {
        Self::Invalid(vec![error])
    }
}
