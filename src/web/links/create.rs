//! `/app/w/{workspace}/new`: make a link, with everything that can be said about one.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};

use crate::app::{App, LinkRequest};
use crate::web::failure::{Failure, Refusal};
use crate::web::form::Form;
use crate::web::front::with_scheme;
use crate::web::i18n::Words;
use crate::web::links::{Place, read_tags, read_time};
use crate::web::page::{self, Page};
use crate::web::visitor::{Member, Visitor};

/// The form of a link: a new one, or one that is changed.
#[derive(Template)]
#[template(path = "form.html")]
pub(super) struct FormPage {
    pub(super) page: Page,
    pub(super) place: Place,
    pub(super) title: String,
    pub(super) action: String,
    pub(super) back: String,
    /// Of the link that is changed.
    pub(super) code: Option<String>,
    pub(super) form: Fields,
    pub(super) refusal: Refusal,
}

/// The fields as they were filled in.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    pub(super) original_url: String,
    pub(super) custom_code: String,
    pub(super) strategy: String,
    pub(super) title: String,
    pub(super) tags: String,
    pub(super) expires_at: String,
    pub(super) hit_limit: String,
    pub(super) redirect_status: String,
}

impl Fields {
    pub(super) fn read(form: &Form) -> Self {
        let text = |name| form.text(name).trim().to_owned();
        Self {
            original_url: text("original_url"),
            custom_code: text("custom_code"),
            strategy: text("strategy"),
            title: text("title"),
            tags: text("tags"),
            expires_at: text("expires_at"),
            hit_limit: text("hit_limit"),
            redirect_status: text("redirect_status"),
        }
    }

    /// What they ask for, or which of them cannot be read.
    pub(super) fn request(&self, words: &Words) -> Result<LinkRequest, Refusal> {
        let trouble = &words.trouble;
        let word = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let expires_at = read_time(&self.expires_at)
            .map_err(|()| Refusal::of("expires_at", trouble.time_invalid))?;
        let hit_limit = word(&self.hit_limit).map(|text| text.parse()).transpose();
        let hit_limit = hit_limit.map_err(|_| Refusal::of("hit_limit", trouble.number_invalid))?;
        let custom_code = word(&self.custom_code);
        // A code of one's own is made by no strategy.
        let strategy = self.strategy.parse().ok().filter(|_| custom_code.is_none());
        Ok(LinkRequest {
            original_url: with_scheme(&self.original_url),
            custom_code,
            strategy,
            expires_at,
            title: word(&self.title),
            tags: read_tags(&self.tags),
            hit_limit,
            redirect_status: self.redirect_status.parse().ok(),
        })
    }
}

fn form_page(app: &App, visitor: &Visitor, place: Place) -> FormPage {
    FormPage {
        page: Page::new(app, visitor),
        title: visitor.words().links.new.to_owned(),
        action: format!("{}/new", place.base),
        back: place.base.clone(),
        place,
        code: None,
        form: Fields::default(),
        refusal: Refusal::default(),
    }
}

/// `GET /app/w/{workspace}/new`
pub(in crate::web) async fn page(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
    Path(workspace): Path<String>,
) -> Result<Response, Failure> {
    let place = Place::enter(&app, &visitor, &workspace, "new").await?;
    Ok(page::show(&form_page(&app, &visitor, place)))
}

/// `POST /app/w/{workspace}/new`
pub(in crate::web) async fn create(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
    Path(workspace): Path<String>,
    form: Form,
) -> Result<Response, Failure> {
    let place = Place::enter(&app, &visitor, &workspace, "new").await?;
    let words = visitor.words();
    let fields = Fields::read(&form);
    let refusal = match fields.request(words) {
        Err(refusal) => refusal,
        Ok(request) => match app.create_link(&visitor.caller, &place.workspace, &request).await {
            Ok(created) => {
                let word = if created.is_new { "made" } else { "existed" };
                let page = place.link(created.link.link.code.as_str());
                return Ok(Redirect::to(&format!("{page}?note={word}")).into_response());
            }
            Err(error) => Refusal::read(error, words)?,
        },
    };
    let status = refusal.status;
    let page = form_page(&app, &visitor, place);
    Ok(page::show_with(status, &FormPage { form: fields, refusal, ..page }))
}
