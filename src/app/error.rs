//! Why something was not done, in terms of kurz; the edge turns it into status codes.

use std::fmt::{self, Display};

use thiserror::Error;

use crate::store;

/// A refusal or a failure.
#[derive(Clone, Debug, Error)]
pub enum AppError {
    /// Something in the request cannot be as it is.
    #[error("the request is not valid")]
    Invalid(Vec<FieldError>),
    /// What the request names does not exist.
    #[error("there is no such {0}")]
    NotFound(Missing),
    /// The custom code leads elsewhere.
    #[error("the code is taken by another link: choose another one")]
    CodeTaken,
    /// The workspace exists already.
    #[error("a workspace of this name exists already")]
    WorkspaceTaken,
    /// A workspace that still has links cannot be removed.
    #[error("the workspace still has links: delete them first")]
    WorkspaceInUse,
    /// The workspace `main` cannot be removed.
    #[error("the workspace main is everybody's: it cannot be removed")]
    MainStays,
    /// The host belongs to a workspace already.
    #[error("the host belongs to a workspace already")]
    HostTaken,
    /// The link changed while it was being changed.
    #[error("the link was changed by somebody else at the same time: look at it and try again")]
    ChangedMeanwhile,
    /// The link is not deleted, so it cannot be restored.
    #[error("the link is not deleted")]
    NotDeleted,
    /// No free code was found.
    #[error("Failed to generate unique short code after {0} attempts")]
    NoFreeCode(u32),
    /// Of links that were to be made all or none, one was refused.
    #[error("nothing was stored, because link {at} (from 0) was refused: {why}")]
    BatchRefused {
        /// Which, counted from 0.
        at: usize,
        /// Why.
        why: Box<AppError>,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// What is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A link.
    Link,
    /// A workspace.
    Workspace,
    /// A host of a workspace.
    Host,
}

impl Missing {
    /// The stable name of the error.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Link => "link-not-found",
            Self::Workspace => "workspace-not-found",
            Self::Host => "host-not-found",
        }
    }
}

impl Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Link => "link",
            Self::Workspace => "workspace",
            Self::Host => "host",
        })
    }
}

/// One field that cannot be as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The field, as the request names it.
    pub field: &'static str,
    /// The stable name of the error.
    pub code: &'static str,
    /// A sentence that says what is accepted.
    pub detail: String,
}

impl FieldError {
    pub(crate) fn new(field: &'static str, code: &'static str, detail: impl Display) -> Self {
        Self { field, code, detail: detail.to_string() }
    }
}

impl From<FieldError> for AppError {
    fn from(error: FieldError) -> Self {
        Self::Invalid(vec![error])
    }
}
