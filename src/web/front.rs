//! The front page: one field, one button, the result. Works without scripts; the script remembers
//! in the browser what was made without an account, so that it can be claimed.

use askama::Template;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::app::{App, AppError, Created, LinkRequest, MAIN};
use crate::web::errors::{FormErrors, PageError};
use crate::web::form::FormData;
use crate::web::i18n::fill;
use crate::web::page::{self, Layout};
use crate::web::visitor::{PublicCall, Visitor};
use kurz_core::link::qr::{self, Look};
use kurz_core::time::Timestamp;

#[derive(Template)]
#[template(path = "front.html")]
struct FrontPage {
    page: Layout,
    url: String,
    refusal: FormErrors,
    made: Option<CreatedLink>,
    banner: String,
    /// `None` where the operator does not want them to be shown.
    totals: Option<TotalsView>,
}

struct TotalsView {
    live_links: String,
    redirects: String,
    latency: String,
}

/// A link that was just made.
struct CreatedLink {
    code: String,
    short_url: String,
    target: String,
    /// RFC 3339; empty when it stays.
    expires_at: String,
    expires: String,
    claim_token: Option<String>,
    /// The QR code, as a `data:` URL.
    qr: String,
    page: String,
}

/// `GET /`
pub(super) async fn front(
    PublicCall { app, visitor, .. }: PublicCall,
) -> Result<Response, PageError> {
    Ok(page::show(&front_page(&app, &visitor).await?))
}

/// `POST /`: shorten.
pub(super) async fn shorten(
    PublicCall { app, visitor, .. }: PublicCall,
    form: FormData,
) -> Result<Response, PageError> {
    let given = form.text("url").trim();
    let request = LinkRequest { original_url: with_scheme(given), ..LinkRequest::default() };
    let main = App::workspace_id(MAIN)?;
    match app.create_link(&visitor.caller, &main, &request).await {
        Ok(created) => {
            let made = Some(made(created)?);
            Ok(page::show(&FrontPage { made, ..front_page(&app, &visitor).await? }))
        }
        Err(error) => {
            let refusal = FormErrors::read(error, visitor.words())?;
            let status = refusal.status;
            let front = front_page(&app, &visitor).await?;
            Ok(page::show_with(status, &FrontPage { url: given.to_owned(), refusal, ..front }))
        }
    }
}

/// The address with `https://` in front where it has no scheme.
pub(super) fn with_scheme(text: &str) -> String {
    if text.is_empty() || text.contains("://") || names_scheme(text) {
        text.to_owned()
    } else {
        format!("https://{text}")
    }
}

/// Whether a text begins with a scheme, such as `mailto:`, and not with a host and its port.
fn names_scheme(text: &str) -> bool {
    let Some(scheme) = kurz_core::code::scheme_of(text) else { return false };
    let rest = text.split_once(':').map_or("", |(_, rest)| rest);
    let is_port = rest.starts_with(|c: char| c.is_ascii_digit());
    !scheme.contains('.') && (!is_port || matches!(scheme.as_str(), "tel" | "sms" | "data"))
}

fn made(created: Created) -> Result<CreatedLink, AppError> {
    let shown = created.link;
    let picture = qr::svg(&shown.short_url, &Look::default())?;
    let link = shown.link;
    Ok(CreatedLink {
        page: format!("/app/w/{}/l/{}", link.workspace, link.code),
        code: link.code.to_string(),
        qr: format!("data:image/svg+xml;base64,{}", STANDARD.encode(picture)),
        short_url: shown.short_url,
        target: link.target,
        expires_at: link.fields.expires_at.map(Timestamp::to_rfc3339).unwrap_or_default(),
        expires: link.fields.expires_at.map(page::time).unwrap_or_default(),
        claim_token: created.claim_token,
    })
}

async fn front_page(app: &App, visitor: &Visitor) -> Result<FrontPage, AppError> {
    let totals = if app.policy().front_totals { Some(app.totals().await?) } else { None };
    let totals = totals.map(|totals| TotalsView {
        live_links: page::number(totals.live_links),
        redirects: page::number(totals.redirects),
        latency: page::milliseconds(totals.mean_ms),
    });
    let words = visitor.words();
    let hours = app.policy().anon_ttl.as_secs() / 3600;
    Ok(FrontPage {
        page: Layout::new(app, visitor),
        url: String::new(),
        refusal: FormErrors::default(),
        made: None,
        banner: fill(words.front.banner, hours),
        totals,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_scheme_gets_https() {
        assert_eq!(with_scheme("example.com/a"), "https://example.com/a");
        assert_eq!(with_scheme("example.com:8080"), "https://example.com:8080");
        assert_eq!(with_scheme("http://example.com"), "http://example.com");
        assert_eq!(with_scheme("ftp://example.com"), "ftp://example.com");
        assert_eq!(with_scheme(""), "");
        assert_eq!(with_scheme("localhost:8080/a"), "https://localhost:8080/a");
        for text in ["javascript:alert(1)", "mailto:ada@example.com", "tel:123", "data:,1"] {
            assert_eq!(with_scheme(text), text);
        }
        let dangerous = kurz_core::code::canonicalise(&with_scheme("javascript:alert(1)"));
        assert!(dangerous.is_err());
    }
}
