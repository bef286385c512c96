//! `/app/w/{workspace}/new`: make a link, with everything that can be said about one.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};

use crate::app::{App, LinkRequest};
use crate::web::errors::{FormErrors, PageError};
use crate::web::form::FormData;
use crate::web::front::with_scheme;
use crate::web::i18n::Words;
use crate::web::links::WorkspaceView;
use crate::web::page::{self, Layout};
use crate::web::visitor::{LoggedIn, Visitor};
use kurz_core::link::field_text::Unreadable;
use kurz_core::link::{Link, LinkFieldChanges, LinkFields};

/// The form of a link: a new one, or one that is changed.
#[derive(Template)]
#[template(path = "form.html")]
pub(super) struct FormPage {
    pub(super) page: Layout,
    pub(super) place: WorkspaceView,
    pub(super) title: String,
    pub(super) action: String,
    pub(super) back: String,
    /// Of the link that is changed.
    pub(super) code: Option<String>,
    pub(super) form: FormFields,
    pub(super) refusal: FormErrors,
}

/// The form as it was filled in.
#[derive(Clone, Debug, Default)]
pub(super) struct FormFields {
    pub(super) original_url: String,
    pub(super) custom_code: String,
    pub(super) strategy: String,
    /// The texts of [`LinkFields::NAMES`], in that order.
    texts: Vec<String>,
}

impl FormFields {
    pub(super) fn read(form: &FormData) -> Self {
        let text = |name| form.text(name).trim().replace("\r\n", "\n");
        Self {
            original_url: text("original_url"),
            custom_code: text("custom_code"),
            strategy: text("strategy"),
            texts: LinkFields::NAMES.iter().copied().map(text).collect(),
        }
    }

    /// The form of a link as it is.
    pub(super) fn of(link: &Link) -> Self {
        Self {
            original_url: link.target.clone(),
            custom_code: link.code.to_string(),
            texts: LinkFields::NAMES.iter().map(|name| link.fields.text(name)).collect(),
            ..Self::default()
        }
    }

    /// What was filled in for a field of a link.
    pub(super) fn text(&self, name: &str) -> &str {
        let at = LinkFields::NAMES.iter().position(|one| *one == name);
        at.and_then(|at| self.texts.get(at)).map_or("", String::as_str)
    }

    /// What to set, where it differs from `before`; or which field cannot be read.
    pub(super) fn changes(
        &self,
        before: &Self,
        words: &Words,
    ) -> Result<LinkFieldChanges, FormErrors> {
        let mut changes = LinkFieldChanges::default();
        for name in LinkFields::NAMES.iter().copied() {
            let text = self.text(name);
            if text != before.text(name) {
                changes
                    .set_text(name, text)
                    .map_err(|expected| FormErrors::of(name, unreadable(words, expected)))?;
            }
        }
        Ok(changes)
    }

    /// The link that is asked for, or which field cannot be read.
    fn request(&self, words: &Words) -> Result<LinkRequest, FormErrors> {
        let custom_code = Some(self.custom_code.clone()).filter(|code| !code.is_empty());
        // A code of one's own is made by no strategy.
        let strategy = self.strategy.parse().ok().filter(|_| custom_code.is_none());
        Ok(LinkRequest {
            original_url: with_scheme(&self.original_url),
            custom_code,
            strategy,
            length: None,
            fields: self.changes(&Self::default(), words)?,
            ..LinkRequest::default()
        })
    }
}

/// The sentence for a text that cannot be read.
pub(super) const fn unreadable(words: &Words, expected: Unreadable) -> &'static str {
    match expected {
        Unreadable::Number => words.trouble.number_invalid,
        Unreadable::Time => words.trouble.time_invalid,
    }
}

fn form_page(app: &App, visitor: &Visitor, place: WorkspaceView) -> FormPage {
    FormPage {
        page: Layout::new(app, visitor),
        title: visitor.words().links.new.to_owned(),
        action: format!("{}/new", place.base),
        back: place.base.clone(),
        place,
        code: None,
        form: FormFields::default(),
        refusal: FormErrors::default(),
    }
}

/// `GET /app/w/{workspace}/new`
pub(in crate::web) async fn page(
    State(app): State<Arc<App>>,
    LoggedIn(visitor): LoggedIn,
    Path(workspace): Path<String>,
) -> Result<Response, PageError> {
    let place = WorkspaceView::enter(&app, &visitor, &workspace, "new").await?;
    Ok(page::show(&form_page(&app, &visitor, place)))
}

/// `POST /app/w/{workspace}/new`
pub(in crate::web) async fn create(
    State(app): State<Arc<App>>,
    LoggedIn(visitor): LoggedIn,
    Path(workspace): Path<String>,
    form: FormData,
) -> Result<Response, PageError> {
    let place = WorkspaceView::enter(&app, &visitor, &workspace, "new").await?;
    let words = visitor.words();
    let fields = FormFields::read(&form);
    let refusal = match fields.request(words) {
        Err(refusal) => refusal,
        Ok(request) => match app.create_link(&visitor.caller, &place.workspace, &request).await {
            Ok(created) => {
                let word = if created.is_new { "made" } else { "existed" };
                let page = place.link(created.link.link.code.as_str());
                return Ok(Redirect::to(&format!("{page}?note={word}")).into_response());
            }
            Err(error) => FormErrors::read(error, words)?,
        },
    };
    let status = refusal.status;
    let page = form_page(&app, &visitor, place);
    Ok(page::show_with(status, &FormPage { form: fields, refusal, ..page }))
}
