//! RFC 9457 problems with stable codes: the only place that turns an error into a status.
//!
//! Invariant: nothing internal is sent. A failure of the server is logged here, once; the caller learns only
//! that the server failed. Words of the request that a sentence repeats hold no hidden characters.

mod body;
mod catalogue;

use std::borrow::Cow;
use std::error::Error;
use std::num::NonZeroU32;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use utoipa::{IntoResponses, ToSchema};

use crate::app::{AppError, FieldError};
use crate::store;
use crate::telemetry::{RequestId, current_request_id, error_chain};
use kurz_core::account::Refused;
use kurz_core::visible_text::visible;

pub(crate) use body::read_body;

/// Why a request was not done.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// Always `about:blank`: `code` says more.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The status in words.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// The stable name of the error.
    #[schema(example = "url-scheme-not-allowed")]
    code: &'static str,
    /// A sentence for people.
    #[schema(value_type = String)]
    detail: Box<str>,
    /// What is wrong, field by field.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<ProblemField>, required = false)]
    errors: Box<[ProblemField]>,
    /// The workspaces that it is about, where it is about some.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<String>, required = false, nullable = false)]
    workspaces: Option<Box<WorkspaceNames>>,
    /// The id of the request, which the log of the server has as well; also in `X-Request-Id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false, nullable = false, example = "9f86d081884c7d65")]
    request_id: Option<Box<RequestId>>,
    /// What `WWW-Authenticate` says.
    #[serde(skip)]
    #[schema(ignore)]
    challenge: Option<&'static str>,
    /// What `Retry-After` says, in seconds.
    #[serde(skip)]
    #[schema(ignore)]
    retry_after: Option<NonZeroU32>,
}

/// Names of workspaces, apart so that a problem stays small.
#[derive(Clone, Debug, Serialize)]
struct WorkspaceNames(Vec<String>);

/// One field that cannot be as it is.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ProblemField {
    /// The field, as the request names it.
    #[schema(value_type = String)]
    field: Cow<'static, str>,
    /// The stable name of the error.
    code: &'static str,
    /// A sentence for people.
    detail: String,
}

impl From<FieldError> for ProblemField {
    fn from(FieldError { field, code, detail }: FieldError) -> Self {
        Self { field, code, detail: visible(&detail).into_owned() }
    }
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        debug_assert!(
            catalogue::knows(code, status.as_u16()),
            "{code} with {status} is not in the catalogue"
        );
        Self {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            code,
            detail: visible(&detail.into()).into_owned().into_boxed_str(),
            errors: Box::default(),
            workspaces: None,
            request_id: None,
            challenge: None,
            retry_after: NonZeroU32::new(5).filter(|_| status == StatusCode::SERVICE_UNAVAILABLE),
        }
    }

    /// The same problem, with its fields named as another wire shape names them.
    pub(crate) fn renaming(mut self, names: &[(&'static str, &'static str)]) -> Self {
        for error in &mut self.errors {
            if let Some((_, to)) = names.iter().find(|(from, _)| *from == error.field) {
                error.field = (*to).into();
            }
        }
        self
    }

    /// The same problem with another sentence as a whole.
    pub(crate) fn saying(self, detail: &str) -> Self {
        Self { detail: detail.into(), ..self }
    }

    /// A 401 or 403.
    fn refused(refused: Refused, detail: String) -> Self {
        let (code, challenge) = match refused {
            Refused::Unauthenticated => {
                return Self {
                    challenge: Some("Bearer"),
                    ..Self::new(StatusCode::UNAUTHORIZED, "unauthenticated", detail)
                };
            }
            Refused::NotOwner => {
                // The contract fixes this sentence to the letter: no full stop.
                let detail = detail.trim_end_matches('.');
                return Self::new(StatusCode::FORBIDDEN, "not-owner", detail);
            }
            Refused::MissingScope(_) => {
                ("missing-scope", Some("Bearer error=\"insufficient_scope\""))
            }
            Refused::MissingRole(_) => ("missing-role", None),
            Refused::NeedsSignIn => ("sign-in-needed", None),
            Refused::OtherWorkspace => ("key-workspace", None),
            Refused::Hidden => {
                return Self::new(StatusCode::NOT_FOUND, "workspace-not-found", detail);
            }
        };
        Self { challenge, ..Self::new(StatusCode::FORBIDDEN, code, detail) }
    }

    /// A 429 that ends in `seconds`.
    fn over_limit(code: &'static str, seconds: i64, detail: String) -> Self {
        Self {
            retry_after: u32::try_from(seconds).ok().and_then(NonZeroU32::new),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, code, detail)
        }
    }

    /// The same problem outside of the router, where its request's id is not known by itself.
    pub(crate) fn with_request_id(self, id: RequestId) -> Self {
        Self { request_id: Some(Box::new(id)), ..self }
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    pub(crate) const fn code(&self) -> &'static str {
        self.code
    }

    /// After how many seconds it may be tried again, where that is known.
    pub(crate) const fn retry_after(&self) -> Option<NonZeroU32> {
        self.retry_after
    }

    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// The workspaces that it is about.
    pub(crate) fn workspaces(&self) -> &[String] {
        self.workspaces.as_ref().map_or(&[], |names| names.0.as_slice())
    }

    /// The fields that cannot be as they are: name, code, sentence.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &'static str, &str)> {
        self.errors.iter().map(|error| (&*error.field, error.code, error.detail.as_str()))
    }

    /// A 422 for one or more fields.
    fn invalid(fields: Vec<FieldError>) -> Self {
        let (code, detail) = match fields.as_slice() {
            [only] => (only.code, only.detail.clone()),
            _ => ("validation-failed", "several fields are not valid: see errors".to_owned()),
        };
        debug_assert!(fields.iter().all(|one| catalogue::knows(one.code, 422)), "{fields:?}");
        let errors = fields.into_iter().map(ProblemField::from);
        Self {
            errors: errors.collect(),
            ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail)
        }
    }

    /// The last administrator of these workspaces stays.
    fn last_admin(names: Vec<String>, detail: String) -> Self {
        Self {
            workspaces: Some(Box::new(WorkspaceNames(names))),
            ..Self::new(StatusCode::CONFLICT, "last-admin", detail)
        }
    }

    /// Nothing was stored, because of the link at `at`.
    fn batch(at: usize, why: AppError) -> Self {
        let why = Self::from(why);
        let detail =
            format!("Nothing was stored, because link {at} (from 0) was refused: {}", why.detail);
        Self {
            errors: why.errors,
            ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, "bulk-refused", detail)
        }
    }

    fn store(error: &store::Error) -> Self {
        let (status, code, detail) = match error.kind() {
            store::Error::Unavailable(_) => (
                StatusCode::SERVICE_UNAVAILABLE,
                "store-unavailable",
                "The database does not answer right now. Nothing was changed: try again.",
            ),
            store::Error::TooSlow(_) => (
                StatusCode::SERVICE_UNAVAILABLE,
                "statement-timeout",
                "The database took longer than `statement_timeout` allows, and was stopped. Nothing was \
                 changed: ask for less, such as a smaller list or a longer text to search for.",
            ),
            store::Error::Full(_) => (
                StatusCode::INSUFFICIENT_STORAGE,
                "storage-full",
                "There is no room left to store anything. Existing links still work.",
            ),
            store::Error::Dangling(_) => {
                (StatusCode::NOT_FOUND, "workspace-not-found", "There is no such workspace.")
            }
            _ => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal-error",
                "Something went wrong on the server. It has been logged.",
            ),
        };
        if status.is_server_error() {
            log_failure(error, status, code);
        }
        Self::new(status, code, detail)
    }

    /// 503, and a second is enough to wait.
    fn overloaded(code: &'static str, detail: String) -> Self {
        Self {
            retry_after: Some(NonZeroU32::MIN),
            ..Self::new(StatusCode::SERVICE_UNAVAILABLE, code, detail)
        }
    }
}

impl From<AppError> for Problem {
    fn from(error: AppError) -> Self {
        let detail = sentence(&error.to_string());
        let (status, code) = match error {
            AppError::Invalid(fields) => return Self::invalid(fields),
            AppError::Store(error) => return Self::store(&error),
            AppError::NotFound(missing) => (StatusCode::NOT_FOUND, missing.code()),
            AppError::CodeTaken => (StatusCode::CONFLICT, "code-taken"),
            AppError::LinkExists => (StatusCode::CONFLICT, "link-exists"),
            AppError::TagTaken => (StatusCode::CONFLICT, "tag-taken"),
            AppError::WorkspaceTaken => (StatusCode::CONFLICT, "workspace-taken"),
            AppError::WorkspaceDeleted(_) => (StatusCode::CONFLICT, "workspace-deleted"),
            AppError::MainStays | AppError::WorkspaceInUse => {
                (StatusCode::CONFLICT, "workspace-in-use")
            }
            AppError::HostTaken => (StatusCode::CONFLICT, "host-taken"),
            AppError::HostQuarantined { .. } => (StatusCode::CONFLICT, "host-quarantined"),
            AppError::HostReserved => (StatusCode::FORBIDDEN, "host-reserved"),
            AppError::HostUnproven { .. } => (StatusCode::CONFLICT, "host-unproven"),
            AppError::WorkspaceLimit { .. } => (StatusCode::FORBIDDEN, "workspaces-too-many"),
            AppError::ChangedMeanwhile => (StatusCode::CONFLICT, "changed-meanwhile"),
            AppError::LinkLocked => (StatusCode::FORBIDDEN, "link-locked"),
            AppError::ReportsFull => (StatusCode::SERVICE_UNAVAILABLE, "reports-full"),
            AppError::NotDisabled => (StatusCode::CONFLICT, "not-disabled"),
            AppError::NotDeleted => (StatusCode::CONFLICT, "not-deleted"),
            AppError::Purged { .. } => (StatusCode::GONE, "link-purged"),
            AppError::BatchRefused { at, why } => return Self::batch(at, *why),
            AppError::UrlTaken => (StatusCode::CONFLICT, "url-taken"),
            AppError::EmailTaken => (StatusCode::CONFLICT, "email-taken"),
            AppError::MemberTaken => (StatusCode::CONFLICT, "member-taken"),
            AppError::MembersFull => (StatusCode::CONFLICT, "members-too-many"),
            AppError::OwnerDeleted => (StatusCode::CONFLICT, "owner-deleted"),
            AppError::InvitationNeedsLink => (StatusCode::FORBIDDEN, "invitation-link-needed"),
            AppError::LastAdmin { workspaces } => {
                let names = workspaces.iter().map(ToString::to_string).collect();
                return Self::last_admin(names, detail);
            }
            AppError::SignupClosed => (StatusCode::FORBIDDEN, "signup-closed"),
            AppError::InviteInvalid => (StatusCode::FORBIDDEN, "invite-invalid"),
            AppError::WrongPassword => (StatusCode::FORBIDDEN, "wrong-password"),
            AppError::Refused(refused) => return Self::refused(refused, detail),
            AppError::InvalidToken => {
                return Self {
                    challenge: Some("Bearer error=\"invalid_token\""),
                    ..Self::new(StatusCode::UNAUTHORIZED, "invalid-token", detail)
                };
            }
            AppError::WrongCredentials => {
                return Self {
                    challenge: Some("Bearer"),
                    ..Self::new(StatusCode::UNAUTHORIZED, "wrong-credentials", detail)
                };
            }
            AppError::MonthlyLimit { seconds_left, .. } => {
                return Self::over_limit("monthly-limit", seconds_left, detail);
            }
            AppError::CustomCodeLimit { seconds_left, .. } => {
                return Self::over_limit("custom-code-limit", seconds_left, detail);
            }
            AppError::TooOften { seconds, .. } | AppError::HostCheckedJustNow { seconds } => {
                return Self::over_limit("too-many-requests", seconds.into(), detail);
            }
            AppError::TooManySearches => return Self::overloaded("too-many-searches", detail),
            AppError::AnalyticsSlow => return Self::overloaded("analytics-slow", detail),
            AppError::Busy => return Self::overloaded("busy", detail),
            AppError::NoFreeCode(_) => {
                let (status, code) = (StatusCode::INTERNAL_SERVER_ERROR, "no-free-code");
                log_failure(&error, status, code);
                // The contract fixes this sentence to the letter.
                return Self::new(status, code, error.to_string());
            }
        };
        Self::new(status, code, detail)
    }
}

/// The one place that logs why a request failed. The line stands in the request's span, which has
/// its id, method and route; a failed statement is named in the chain of causes.
fn log_failure(error: &dyn Error, status: StatusCode, code: &'static str) {
    let error = error_chain(error);
    tracing::error!(status = status.as_u16(), code, error, "the request failed");
}

/// A capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).chain(['.']).collect()
}

impl IntoResponse for Problem {
    fn into_response(mut self) -> Response {
        if self.request_id.is_none() {
            self.request_id = current_request_id().map(Box::new);
        }
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (self.status(), body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds.get()));
        }
        if let Some(challenge) = self.challenge {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        response
    }
}

/// The problems that any endpoint may answer with.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "described in the OpenAPI document, made by `Problem` itself")]
pub(crate) enum Problems {
    /// The request cannot be read.
    #[response(status = 400, content_type = "application/problem+json")]
    BadRequest(Problem),
    /// A credential is missing or not valid.
    #[response(status = 401, content_type = "application/problem+json")]
    Unauthenticated(Problem),
    /// The caller may not do this.
    #[response(status = 403, content_type = "application/problem+json")]
    Forbidden(Problem),
    /// What the request names does not exist.
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(Problem),
    /// The request is too large.
    #[response(status = 413, content_type = "application/problem+json")]
    TooLarge(Problem),
    /// The request can be read, but something in it cannot be as it is.
    #[response(status = 422, content_type = "application/problem+json")]
    Invalid(Problem),
    /// It was asked for too often: `Retry-After` says when to try again.
    #[response(status = 429, content_type = "application/problem+json")]
    TooOften(Problem),
    /// A failure of the server.
    #[response(status = 500, content_type = "application/problem+json")]
    Internal(Problem),
    /// The database does not answer right now.
    #[response(status = 503, content_type = "application/problem+json")]
    Unavailable(Problem),
}
