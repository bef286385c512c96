//! API keys, as a part of the account's page and of a workspace's.

use axum::response::{IntoResponse, Redirect, Response};
use http::StatusCode;

use crate::app::{ApiKey, App, AppError, KeyRequest, Resource};
use crate::web::errors::{FormErrors, PageError};
use crate::web::form::FormData;
use crate::web::i18n::Words;
use crate::web::page;
use crate::web::site::page_path;
use crate::web::visitor::PageCall;
use kurz_core::account::{Caller, KeyId, Scope};
use kurz_core::link::field_text::read_time;

/// The keys that a page shows, and the form for another.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pub(super) list: Vec<KeyRow>,
    /// A key that was just made: the only time that it is shown.
    pub(super) fresh: Option<String>,
    pub(super) refused: Option<String>,
    /// The workspace that new ones are bound to.
    pub(super) workspace: Option<String>,
    pub(super) action: String,
    pub(super) back: String,
}

#[derive(Debug)]
pub(super) struct KeyRow {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) prefix: String,
    pub(super) scopes: String,
    pub(super) workspace: String,
    pub(super) last_used: String,
    pub(super) until: String,
}

impl Keys {
    /// The caller's keys; of one workspace, those bound to it.
    pub(super) async fn read(
        app: &App,
        caller: &Caller,
        words: &Words,
        workspace: Option<&str>,
    ) -> Result<Self, AppError> {
        let mut keys = app.list_keys(caller).await?;
        if let Some(only) = workspace {
            keys.retain(|key| key.workspace.as_ref().is_some_and(|one| one.as_str() == only));
        }
        let (action, back) = match workspace {
            Some(workspace) => {
                let base = format!("/app/w/{workspace}");
                (format!("{base}/keys"), format!("{base}/settings"))
            }
            None => ("/app/keys".to_owned(), "/app/account".to_owned()),
        };
        Ok(Self {
            list: keys.iter().map(|key| row(key, words)).collect(),
            workspace: workspace.map(str::to_owned),
            action,
            back,
            ..Self::default()
        })
    }

    /// Make a key as a form asks for it; what to show about that.
    pub(super) async fn make(
        app: &App,
        caller: &Caller,
        words: &Words,
        form: &FormData,
        workspace: Option<&str>,
    ) -> Result<Self, PageError> {
        let made = match read_time(form.text("expires_at")) {
            Err(_) => Err(words.trouble.time_invalid.to_owned()),
            Ok(expires_at) => {
                let request = KeyRequest {
                    name: form.text("name").trim().to_owned(),
                    scopes: form.all("scope").map(str::to_owned).collect(),
                    workspace: workspace.or(form.word("workspace")).map(str::to_owned),
                    expires_at,
                };
                match app.create_key(caller, &request).await {
                    Ok(made) => Ok(made.secret),
                    Err(AppError::NotFound(Resource::Workspace)) => {
                        Err(words.trouble.not_found.to_owned())
                    }
                    Err(error) => Err(FormErrors::read(error, words)?.line()),
                }
            }
        };
        let keys = Self::read(app, caller, words, workspace).await?;
        Ok(match made {
            Ok(secret) => Self { fresh: Some(secret), ..keys },
            Err(refused) => Self { refused: Some(refused), ..keys },
        })
    }

    /// The status of the page that shows what became of the form.
    pub(super) fn status(&self) -> StatusCode {
        if self.refused.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK }
    }
}

fn row(key: &ApiKey, words: &Words) -> KeyRow {
    let scopes = key.scopes.iter().map(|scope| match scope {
        Scope::Read => words.account.scope_read,
        Scope::Create => words.account.scope_create,
        Scope::Manage => words.account.scope_manage,
    });
    let workspace = key.workspace.as_ref().map(ToString::to_string);
    let never = || words.site.never.to_owned();
    KeyRow {
        id: key.id.0,
        name: key.name.clone(),
        prefix: key.prefix.clone(),
        scopes: scopes.collect::<Vec<_>>().join(", "),
        workspace: workspace.unwrap_or_else(|| words.account.any_workspace.to_owned()),
        last_used: key.last_used_at.map_or_else(never, page::time),
        until: key.expires_at.map_or_else(|| "–".to_owned(), page::time),
    }
}

/// `POST /app/keys/revoke`
pub(super) async fn revoke(
    PageCall { app, visitor, .. }: PageCall,
    form: FormData,
) -> Result<Response, PageError> {
    let id = form.text("id").parse().map_err(|_| AppError::NotFound(Resource::Key))?;
    app.revoke_key(&visitor.caller, KeyId(id)).await?;
    let back = page_path(form.text("back")).unwrap_or("/app/account");
    Ok(Redirect::to(&format!("{back}?note=revoked")).into_response())
}
