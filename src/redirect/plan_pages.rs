//! Pages of links with a plan: password, consent, app, and the card that previews show. What users wrote is escaped,
//! nothing runs, and nothing is fetched. Before the password is right no page says anything of the target.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::language::Language;
use kurz_core::plan::{AppLinks, Card, Consent};

/// Allows the style below, and a form that is sent to the same address and leads on from there.
pub(super) const FORM_POLICY: &str = concat!(
    "default-src 'none'; style-src '",
    "sha256-b9fcSMxkfiesTn0csE1+P4QxHjISgOcAswrA0JeTX64=",
    "'; base-uri 'none'; form-action 'self' http: https:; frame-ancestors 'none'"
);

macro_rules! form_style {
    () => {
        concat!(
            $crate::redirect::refusal_pages::style!(),
            "label{display:block;margin:1.2rem 0 .3rem;font-weight:600}input{box-sizing:border-box;width:100%;",
            "padding:.6rem;font:inherit;color:inherit;background:var(--paper);border:1px solid var(--soft);border-",
            "radius:.5rem}button,.button{display:inline-block;margin:1.2rem .3rem 0;padding:.6rem 1.4rem;font:inherit;",
            "font-weight:600;color:var(--card);background:var(--ink);border:0;border-radius:.5rem;text-decoration:none}",
            ".text{white-space:pre-line;overflow-wrap:anywhere}.error{color:var(--ink);font-weight:600}"
        )
    };
}
const STYLE: &str = form_style!();

/// The name of the form's field with the token of the consent page.
pub(super) const CONSENT_FIELD: &str = "consent";
/// The name of the form's field with the password.
pub(super) const PASSWORD_FIELD: &str = "password";

fn page(language: Language, title: &str, head: &str, main: &str) -> String {
    let (code, title) = (language.code(), escape(title));
    format!(
        "<!doctype html><html lang=\"{code}\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><meta name=\"robots\" content=\"noindex\">{head}\
         <title>{title}</title><style>{STYLE}</style><main><h1>{title}</h1>{main}</main></html>"
    )
}

/// Asks for the password; `is_wrong` says that the last one was.
pub(super) fn password(language: Language, is_wrong: bool) -> String {
    let [title, text, label, button, wrong] = match language {
        Language::English => [
            "Password needed",
            "Whoever gave you this link protected it with a password.",
            "Password",
            "Continue",
            "This password is not right.",
        ],
        Language::German => [
            "Passwort nötig",
            "Wer dir diesen Link gab, hat ihn mit einem Passwort geschützt.",
            "Passwort",
            "Weiter",
            "Dieses Passwort stimmt nicht.",
        ],
        Language::Spanish => [
            "Hace falta una contraseña",
            "Quien te dio este enlace lo protegió con una contraseña.",
            "Contraseña",
            "Continuar",
            "Esta contraseña no es correcta.",
        ],
    };
    let wrong = if is_wrong {
        format!("<p class=\"error\" role=\"alert\">{wrong}</p>")
    } else {
        String::new()
    };
    let main = format!(
        "<p>{text}</p>{wrong}<form method=\"post\"><label for=\"password\">{label}</label><input id=\"password\" \
         name=\"{PASSWORD_FIELD}\" type=\"password\" required autofocus autocomplete=\"off\" maxlength=\"71\">\
         <button>{button}</button></form>"
    );
    page(language, title, "", &main)
}

/// Says where the link leads, and asks before it goes on.
pub(super) fn consent(language: Language, consent: &Consent, host: &str, token: &str) -> String {
    let [title, text, button] = match language {
        Language::English => ["Before you go on", "This link leads to another site.", "Continue"],
        Language::German => {
            ["Bevor es weitergeht", "Dieser Link führt zu einer anderen Seite.", "Weiter"]
        }
        Language::Spanish => ["Antes de continuar", "Este enlace lleva a otro sitio.", "Continuar"],
    };
    let text = escape(consent.text.as_deref().unwrap_or(text));
    let button = escape(consent.button.as_deref().unwrap_or(button));
    let (host, token) = (escape(host), escape(token));
    let main = format!(
        "<p class=\"text\">{text}</p><p><strong>{host}</strong></p><form method=\"post\"><input \
         type=\"hidden\" name=\"{CONSENT_FIELD}\" value=\"{token}\"><button>{button}</button></form>"
    );
    page(language, title, "", &main)
}

/// Two ways on, for visitors in the browser of an app, which does not open other apps by itself.
pub(super) fn app(language: Language, app_url: &str, location: &str) -> String {
    let [title, text, open, web] = match language {
        Language::English => [
            "Open in the app?",
            "This link can be opened in its app or in the browser.",
            "Open the app",
            "Go on in the browser",
        ],
        Language::German => [
            "In der App öffnen?",
            "Dieser Link lässt sich in seiner App oder im Browser öffnen.",
            "App öffnen",
            "Weiter im Browser",
        ],
        Language::Spanish => [
            "¿Abrir en la aplicación?",
            "Este enlace se puede abrir en su aplicación o en el navegador.",
            "Abrir la aplicación",
            "Seguir en el navegador",
        ],
    };
    let (app_url, location) = (escape(app_url), escape(location));
    let main = format!(
        "<p>{text}</p><p><a class=\"button\" href=\"{app_url}\">{open}</a><a class=\"button\" \
         href=\"{location}\" rel=\"noreferrer\">{web}</a></p>"
    );
    page(language, title, "", &main)
}

/// What previews of the link show: its own card, or one made from its title and host.
pub(super) fn card(card: Option<&Card>, title: Option<&str>, host: &str) -> String {
    let own = card.and_then(|card| card.title.as_deref());
    let title = own.or(title).unwrap_or(host);
    let mut head = String::new();
    let mut tag = |attribute: &str, name: &str, value: &str| {
        let value = escape(value);
        // Writing into a text does not fail.
        let _ = write!(head, "<meta {attribute}=\"{name}\" content=\"{value}\">");
    };
    tag("property", "og:type", "website");
    tag("property", "og:title", title);
    tag("name", "twitter:title", title);
    let description = card.and_then(|card| card.description.as_deref());
    if let Some(description) = description {
        tag("property", "og:description", description);
        tag("name", "twitter:description", description);
        tag("name", "description", description);
    }
    let image = card.and_then(|card| card.image_url.as_deref());
    if let Some(image) = image {
        tag("property", "og:image", image);
        tag("name", "twitter:image", image);
    }
    tag("name", "twitter:card", if image.is_some() { "summary_large_image" } else { "summary" });
    let text = escape(description.unwrap_or(host));
    page(Language::English, title, &head, &format!("<p class=\"text\">{text}</p>"))
}

/// The address that opens the app on this system, else its page in the store.
pub(super) fn app_address(app: &AppLinks, is_ios: bool) -> Option<&str> {
    let (path, store_url) = if is_ios {
        let app = app.ios.as_ref()?;
        (&app.path, &app.store_url)
    } else {
        let app = app.android.as_ref()?;
        (&app.path, &app.store_url)
    };
    path.as_deref().filter(|path| path.contains("://")).or(store_url.as_deref())
}

/// A text in HTML, in and between tags.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"', '\'']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest, Sha256};

    use super::*;
    use kurz_core::plan::ConsentShow;

    const HOSTILE: &str = "\"><script>alert('x')</script>&";

    #[test]
    fn the_policy_names_the_style_that_the_pages_have() {
        let hash = STANDARD.encode(Sha256::digest(STYLE));
        assert!(FORM_POLICY.contains(&format!("'sha256-{hash}'")), "sha256-{hash}");
        assert!(password(Language::German, false).contains(STYLE));
    }

    #[test]
    fn what_users_wrote_is_text_on_every_page() {
        let hostile = Some(HOSTILE.to_owned());
        let texts =
            Consent { text: hostile.clone(), button: hostile.clone(), show: ConsentShow::Always };
        let shown =
            Card { title: hostile.clone(), description: hostile.clone(), image_url: hostile };
        for page in [
            consent(Language::English, &texts, HOSTILE, HOSTILE),
            card(Some(&shown), None, HOSTILE),
            card(None, Some(HOSTILE), HOSTILE),
            app(Language::Spanish, HOSTILE, HOSTILE),
        ] {
            assert!(!page.contains("<script") && !page.contains("alert('x')"), "{page}");
            assert!(page.contains("&quot;&gt;&lt;script&gt;"), "{page}");
        }
    }

    #[test]
    fn a_wrong_password_is_said_in_every_language() {
        for language in Language::ALL {
            assert!(!password(language, false).contains("role=\"alert\""));
            assert!(password(language, true).contains("role=\"alert\""));
        }
    }
}
