//! What goes wrong on a page: as a page of its own, or as sentences beside the fields of a form.

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, header};

use crate::app::AppError;
use crate::problem::Problem;
use crate::web::i18n::{Words, fill};
use crate::web::page::{self, Layout, PageStatus};
use crate::web::plan_errors;
use crate::web::visitor::words_of;

/// An error that ends a page. `guard` makes a page of it, in the visitor's language.
#[derive(Clone, Debug)]
pub(super) struct PageError(Problem);

impl From<AppError> for PageError {
    fn from(error: AppError) -> Self {
        Self(error.into())
    }
}

impl From<Problem> for PageError {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let mut response = self.0.clone().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Whether a response is a failure that is shown as a page.
pub(super) fn is_page_error(response: &Response, headers: &HeaderMap) -> bool {
    response.extensions().get::<PageError>().is_some() && page::wants_page(headers)
}

/// The page of a failure, for browsers.
pub(super) fn dress(response: Response, headers: &HeaderMap) -> Response {
    dress_in(response, headers, Layout::bare(words_of(headers)))
}

/// The same in a layout that knows the visitor.
pub(super) fn dress_in(response: Response, headers: &HeaderMap, layout: Layout) -> Response {
    let Some(PageError(problem)) = response.extensions().get::<PageError>() else {
        return response;
    };
    if !page::wants_page(headers) {
        return response;
    }
    let words = layout.words;
    let trouble = &words.trouble;
    let explained = tell(words, problem);
    let status = problem.status();
    let (title, text) = match status {
        StatusCode::NOT_FOUND => (trouble.not_found, trouble.not_found_text),
        StatusCode::GONE => (trouble.gone, explained.as_str()),
        StatusCode::FORBIDDEN if problem.code() == "csrf" => (trouble.csrf, trouble.csrf_text),
        StatusCode::FORBIDDEN => (trouble.forbidden, explained.as_str()),
        StatusCode::TOO_MANY_REQUESTS => (trouble.too_often, explained.as_str()),
        StatusCode::SERVICE_UNAVAILABLE
            if ["too-many-searches", "statement-timeout"].contains(&problem.code()) =>
        {
            (trouble.too_often, explained.as_str())
        }
        StatusCode::SERVICE_UNAVAILABLE => (trouble.away, trouble.away_text),
        status if status.is_server_error() => (trouble.broken, trouble.broken_text),
        _ => (trouble.refused, explained.as_str()),
    };
    let mut page = page::trouble(layout, status, title, text);
    if let Some(wait) = response.headers().get(header::RETRY_AFTER) {
        page.headers_mut().insert(header::RETRY_AFTER, wait.clone());
    }
    page
}

#[derive(Clone, Debug, Default)]
pub(super) struct FormErrors {
    pub(super) status: PageStatus,
    /// What is not about one field.
    pub(super) general: Option<String>,
    fields: Vec<(String, String)>,
}

impl FormErrors {
    /// With the errors of one field at another, where the form has another name for it.
    pub(super) fn renamed(mut self, from: &str, to: &str) -> Self {
        for (field, _) in self.fields.iter_mut().filter(|(field, _)| *field == from) {
            to.clone_into(field);
        }
        self
    }

    /// With the errors of these fields above the forms: a page has several fields of the name.
    pub(super) fn in_general(mut self, names: &[&str]) -> Self {
        let of_them = |(field, _): &mut (String, String)| names.contains(&&**field);
        let texts: Vec<String> =
            self.fields.extract_if(.., of_them).map(|(_, text)| text).collect();
        if !texts.is_empty() {
            self.general = Some(texts.join(" "));
        }
        self
    }

    /// In the visitor's language; a failure of the server is a page of its own.
    pub(super) fn read(error: AppError, words: &Words) -> Result<Self, PageError> {
        let problem = Problem::from(error);
        let is_ours = problem.status().is_server_error() && problem.code() != "busy";
        if is_ours || problem.status() == StatusCode::NOT_FOUND {
            return Err(PageError(problem));
        }
        let fields: Vec<_> = problem
            .fields()
            .map(|(field, code, detail)| {
                let text = plan_errors::explain(words, field, code, detail);
                (field.to_owned(), text.unwrap_or_else(|| explain(words, code, detail)))
            })
            .collect();
        let general = tell(words, &problem);
        let general = fields.is_empty().then_some(general);
        let status = PageStatus { status: problem.status(), retry_after: problem.retry_after() };
        Ok(Self { status, general, fields })
    }

    pub(super) fn of(field: &'static str, text: &str) -> Self {
        let fields = vec![(field.to_owned(), text.to_owned())];
        Self { status: StatusCode::UNPROCESSABLE_ENTITY.into(), general: None, fields }
    }

    /// All that is about fields: their names and sentences.
    pub(super) fn into_fields(self) -> Vec<(String, String)> {
        self.fields
    }

    /// What is wrong with a field.
    pub(super) fn about(&self, field: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| *name == field).map(|(_, text)| text.as_str())
    }

    pub(super) fn line(&self) -> String {
        let fields = self.fields.iter().map(|(_, text)| text.as_str());
        self.general.as_deref().into_iter().chain(fields).collect::<Vec<_>>().join(" ")
    }
}

/// The sentence for the whole problem.
fn tell(words: &Words, problem: &Problem) -> String {
    match problem.retry_after().filter(|_| problem.code() == "too-many-requests") {
        Some(wait) if wait.get() <= 90 => fill(words.trouble.wait_seconds, wait),
        Some(wait) => fill(words.trouble.wait_minutes, wait.get().div_ceil(60)),
        None if problem.code() == "last-admin" => {
            fill(words.trouble.last_admin, problem.workspaces().join(", "))
        }
        None => explain(words, problem.code(), problem.detail()),
    }
}

/// The sentence for an error, in the visitor's language where it has one.
pub(super) fn explain(words: &Words, code: &str, detail: &str) -> String {
    let trouble = &words.trouble;
    let text = match code {
        "url-empty" => trouble.url_empty,
        "url-scheme-not-allowed" => match detail.split('`').nth(1) {
            // The sentence names the scheme, which has nothing but letters, digits and `+-.`.
            Some(scheme) => return fill(trouble.url_scheme_named, scheme.trim_end_matches(':')),
            None => trouble.url_scheme,
        },
        "url-scheme-missing" => trouble.url_scheme,
        "url-host-empty" | "url-host-invalid" => trouble.url_host,
        "url-self-reference" => trouble.url_own,
        "link-locked" => words.abuse.locked,
        "target-fixed" => words.abuse.fixed,
        "host-quarantined" => words.abuse.quarantined,
        "words-too-long" => words.abuse.words_too_long,
        "report-unknown" => words.abuse.report_unknown,
        "url-blocked" => trouble.url_blocked,
        "url-userinfo-not-allowed" => trouble.url_userinfo,
        "url-too-long" => trouble.url_too_long,
        "code-invalid" => trouble.code_invalid,
        "code-reserved" => trouble.code_reserved,
        "code-taken" => trouble.code_taken,
        "expires-at-past" => trouble.expires_past,
        "hit-limit-invalid" => trouble.number_invalid,
        "tag-invalid" | "tags-too-many" => trouble.tag_invalid,
        "title-invalid" => trouble.title_invalid,
        "note-invalid" => trouble.note_invalid,
        "tag-taken" => trouble.tag_taken,
        "aliases-too-many" => trouble.aliases_too_many,
        "url-own-host" => trouble.url_own_host,
        "wrong-credentials" => trouble.wrong_credentials,
        "wrong-password" => trouble.wrong_password,
        "password-invalid" | "password-length" => trouble.password_invalid,
        "email-invalid" => trouble.email_invalid,
        "email-taken" => trouble.email_taken,
        "invite-invalid" => trouble.invite_invalid,
        "invitations-too-many" => trouble.invitations_too_many,
        "invitation-link-needed" => words.workspace.needs_link,
        "members-too-many" => trouble.members_too_many,
        "member-taken" => trouble.member_taken,
        "host-invalid" => trouble.host_invalid,
        "host-taken" => trouble.host_taken,
        "host-reserved" => trouble.host_reserved,
        "workspaces-too-many" => trouble.workspace_limit,
        "custom-code-limit" => trouble.custom_code_limit,
        "workspace-taken" => trouble.workspace_taken,
        "workspace-deleted" => trouble.workspace_deleted,
        "link-purged" => trouble.link_purged,
        "workspace-in-use" => trouble.workspace_in_use,
        "scopes-empty" => trouble.scopes_empty,
        "too-many-searches" => trouble.too_many_searches,
        "statement-timeout" => trouble.statement_timeout,
        "changed-meanwhile" => words.plan_trouble.changed,
        "busy" => trouble.busy,
        _ => detail,
    };
    text.to_owned()
}
