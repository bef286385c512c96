//! `/app/admin/audit`: the audit log of the server, for its administrators. Kinds and actions are shown
//! as the API names them: they are what is filtered by.

use askama::Template;
use axum::response::Response;

use crate::app::{AUDIT_KINDS, Action, AuditEntry, AuditFilter};
use crate::web::errors::PageError;
use crate::web::i18n::Words;
use crate::web::page::{self, Layout};
use crate::web::visitor::PageCall;

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditTemplate {
    page: Layout,
    user: String,
    kind: String,
    action: String,
    kinds: &'static [&'static str],
    actions: Vec<&'static str>,
    entries: Vec<AuditLine>,
    next: Option<String>,
}

struct AuditLine {
    at: String,
    who: String,
    kind: String,
    action: String,
    subject: String,
    /// The page of the link, if it is about one.
    href: Option<String>,
    client: String,
    detail: String,
}

/// `GET /app/admin/audit`
pub(in crate::web) async fn audit(
    PageCall { app, visitor, query, .. }: PageCall,
) -> Result<Response, PageError> {
    let words = visitor.words();
    let text = |name| query.text(name).trim().to_owned();
    let (user, kind, action) = (text("user"), text("kind"), text("action"));
    let filter = AuditFilter {
        cursor: query.word("cursor").map(str::to_owned),
        limit: None,
        user: Some(user.clone()),
        action: Some(action.clone()),
        kind: Some(kind.clone()),
    };
    let found = app.list_audit(&visitor.caller, &filter).await?;
    let next = found.next.map(|cursor| {
        let mut next = url::form_urlencoded::Serializer::new("/app/admin/audit?".to_owned());
        next.append_pair("user", &user).append_pair("kind", &kind);
        next.append_pair("action", &action).append_pair("cursor", &cursor).finish()
    });
    Ok(page::show(&AuditTemplate {
        page: Layout::new(&app, &visitor),
        entries: found.items.into_iter().map(|entry| row(entry, words)).collect(),
        user,
        kind,
        action,
        kinds: &AUDIT_KINDS,
        actions: Action::ALL.iter().map(|action| action.as_str()).collect(),
        next,
    }))
}

/// Who did it: the address of the account, and whether with a key.
pub(in crate::web) fn who(entry: &AuditEntry, words: &Words) -> String {
    let who = entry.email.as_deref().unwrap_or(words.link.somebody);
    match entry.key {
        Some(_) => format!("{who} {}", words.link.with_key),
        None => who.to_owned(),
    }
}

fn row(entry: AuditEntry, words: &Words) -> AuditLine {
    let href = (entry.kind == "link").then_some(entry.subject.as_str());
    let href = href.and_then(|subject| subject.split_once('/'));
    let detail = serde_json::to_value(&entry.detail).unwrap_or_default();
    let detail = detail.as_object().into_iter().flatten().map(|(name, value)| match value {
        serde_json::Value::String(text) => format!("{name}: {text}"),
        other => format!("{name}: {other}"),
    });
    AuditLine {
        at: page::time(entry.at),
        who: who(&entry, words),
        href: href.map(|(workspace, code)| format!("/app/w/{workspace}/l/{code}")),
        kind: entry.kind,
        action: entry.action,
        subject: entry.subject,
        client: entry.client.unwrap_or_default(),
        detail: detail.collect::<Vec<_>>().join("; "),
    }
}
