//! What visitors see where there is no redirect: constants, in three languages, so that they are
//! there when nothing else is. They say what happened and nothing of the link or its owner.

use crate::language::Language;
use crate::redirect::answer::Refusal;
use crate::redirect::disabled_pages;

/// Allows the style below and nothing else.
pub(super) const POLICY: &str = "default-src 'none'; style-src 'sha256-Q2bxGLjdqzGubVFNvqdBHTc8mejqt0c6F1x4PYSqMzs='; base-uri 'none'; \
                                 form-action 'none'; frame-ancestors 'none'";

macro_rules! style {
    () => {
        concat!(
            ":root{color-scheme:light dark;--ink:#1b1d29;--soft:#585c70;--paper:#f6f6fb;--card:#f",
            "ff;--line:#d9dae6}@media(prefers-color-scheme:dark){:root{--ink:#eceef8;--soft:#a6ab",
            "c4;--paper:#12131c;--card:#1b1d2a;--line:#353950}}body{margin:0;min-height:100vh;dis",
            "play:grid;place-items:center;background:var(--paper);color:var(--ink);font:1.05rem/1",
            ".6 system-ui,sans-serif}main{box-sizing:border-box;width:calc(100% - 2rem);max-width",
            ":34rem;padding:2rem;background:var(--card);border:1px solid var(--line);border-radiu",
            "s:.9rem;text-align:center}h1{font-size:1.7rem;line-height:1.2;margin:0 0 .8rem}p{mar",
            "gin:0;color:var(--soft)}",
        )
    };
}

macro_rules! html {
    ($language:literal, $title:literal, $text:literal) => {
        concat!(
            "<!doctype html><html lang=\"",
            $language,
            "\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, \
             initial-scale=1\"><meta name=\"robots\" content=\"noindex\"><title>",
            $title,
            "</title><style>",
            $crate::redirect::refusal_pages::style!(),
            "</style><main><h1>",
            $title,
            "</h1><p>",
            $text,
            "</p></main></html>"
        )
    };
}
pub(super) use {html, style};

pub(super) const fn page(refusal: Refusal, language: Language) -> &'static str {
    if let Refusal::Withheld(reason) = refusal {
        return disabled_pages::page(reason, language);
    }
    let refusal = match refusal {
        Refusal::Blocked { status: 404, .. } => Refusal::NotFound,
        other => other,
    };
    match language {
        Language::English => english(refusal),
        Language::German => german(refusal),
        Language::Spanish => spanish(refusal),
    }
}

const fn english(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::NotFound => html!(
            "en",
            "Link not found",
            "There is no link at this address. Check it for typing errors: capital and small letters \
             differ."
        ),
        Refusal::Gone | Refusal::Withheld(_) => html!(
            "en",
            "Link expired",
            "This link was made for a limited time, and its time is over. Ask whoever gave it to you \
             for a new one."
        ),
        Refusal::OverLimit { .. } => html!(
            "en",
            "Link used up for this month",
            "This link has been followed as often as it may be in one month. It works again from the \
             first day of the next month (UTC)."
        ),
        Refusal::TooManyMisses { .. } => html!(
            "en",
            "Too many wrong addresses",
            "There is no link here that we could show, and too many such addresses were asked for from \
             where you are. Wait a minute and check the address. Links that exist still work."
        ),
        Refusal::Unavailable => html!(
            "en",
            "Please try again",
            "The link cannot be looked up right now. It is not lost: try again in a few seconds."
        ),
        Refusal::Uncounted => html!(
            "en",
            "Please try again",
            "How often this link may still be followed cannot be told right now. Try again in a few seconds."
        ),
        Refusal::NotYet => {
            html!("en", "Not yet", "The time of this link has not begun. Try again later.")
        }
        Refusal::UsedUp => html!(
            "en",
            "Link used up",
            "This link has been followed as often as it may be. Ask whoever gave it to you for a new one."
        ),
        Refusal::Blocked { status: 451, .. } => html!(
            "en",
            "Not available here",
            "This link is not available where you are, for legal reasons."
        ),
        Refusal::Blocked { .. } => html!(
            "en",
            "Not for you",
            "Whoever made this link did not mean it for visitors like you."
        ),
        Refusal::PasswordMissing | Refusal::PasswordWrong => {
            html!("en", "Password needed", "This link needs a password.")
        }
        Refusal::TooManyPasswords { .. } => html!(
            "en",
            "Too many attempts",
            "Too many passwords were tried for this link. Wait a few minutes and try again."
        ),
        Refusal::Busy => html!(
            "en",
            "Please try again",
            "Too many passwords are being compared right now. Try again in a few seconds."
        ),
    }
}

const fn german(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::NotFound => html!(
            "de",
            "Link nicht gefunden",
            "Unter dieser Adresse gibt es keinen Link. Prüfe sie auf Tippfehler: Groß- und \
             Kleinbuchstaben sind verschieden."
        ),
        Refusal::Gone | Refusal::Withheld(_) => html!(
            "de",
            "Link abgelaufen",
            "Dieser Link war für begrenzte Zeit gemacht, und die ist vorbei. Bitte um einen neuen, von \
             wem du ihn hast."
        ),
        Refusal::OverLimit { .. } => html!(
            "de",
            "Link für diesen Monat aufgebraucht",
            "Diesem Link wurde so oft gefolgt, wie es in einem Monat geht. Ab dem Ersten des nächsten \
             Monats (UTC) führt er wieder ans Ziel."
        ),
        Refusal::TooManyMisses { .. } => html!(
            "de",
            "Zu viele falsche Adressen",
            "Hier gibt es keinen Link zu zeigen, und von deinem Anschluss wurden zu viele solche Adressen \
             aufgerufen. Warte eine Minute und prüfe die Adresse. Links, die es gibt, gehen weiter."
        ),
        Refusal::Unavailable => html!(
            "de",
            "Bitte gleich noch einmal",
            "Der Link lässt sich gerade nicht nachschlagen. Er ist nicht verloren: Versuche es in ein \
             paar Sekunden wieder."
        ),
        Refusal::Uncounted => html!(
            "de",
            "Bitte gleich noch einmal",
            "Wie oft diesem Link noch gefolgt werden darf, lässt sich gerade nicht sagen. Versuche es in ein paar Sekunden wieder."
        ),
        Refusal::NotYet => html!(
            "de",
            "Noch nicht",
            "Die Zeit dieses Links hat noch nicht begonnen. Versuche es später wieder."
        ),
        Refusal::UsedUp => html!(
            "de",
            "Link aufgebraucht",
            "Diesem Link wurde so oft gefolgt, wie es geht. Bitte um einen neuen, von wem du ihn hast."
        ),
        Refusal::Blocked { status: 451, .. } => html!(
            "de",
            "Hier nicht verfügbar",
            "Dieser Link ist dort, wo du bist, aus rechtlichen Gründen nicht verfügbar."
        ),
        Refusal::Blocked { .. } => html!(
            "de",
            "Nicht für dich",
            "Wer diesen Link gemacht hat, hat ihn nicht für Besucher wie dich gedacht."
        ),
        Refusal::PasswordMissing | Refusal::PasswordWrong => {
            html!("de", "Passwort nötig", "Dieser Link braucht ein Passwort.")
        }
        Refusal::TooManyPasswords { .. } => html!(
            "de",
            "Zu viele Versuche",
            "Für diesen Link wurden zu viele Passwörter versucht. Warte ein paar Minuten und versuche es wieder."
        ),
        Refusal::Busy => html!(
            "de",
            "Bitte gleich noch einmal",
            "Gerade werden zu viele Passwörter geprüft. Versuche es in ein paar Sekunden wieder."
        ),
    }
}

const fn spanish(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::NotFound => html!(
            "es",
            "Enlace no encontrado",
            "No hay ningún enlace en esta dirección. Revisa si hay errores: mayúsculas y minúsculas \
             son distintas."
        ),
        Refusal::Gone | Refusal::Withheld(_) => html!(
            "es",
            "Enlace caducado",
            "Este enlace se hizo para un tiempo limitado, que ya pasó. Pide uno nuevo a quien te lo \
             dio."
        ),
        Refusal::OverLimit { .. } => html!(
            "es",
            "Enlace agotado este mes",
            "Este enlace se ha seguido tantas veces como se puede en un mes. Vuelve a funcionar el \
             primer día del mes que viene (UTC)."
        ),
        Refusal::TooManyMisses { .. } => html!(
            "es",
            "Demasiadas direcciones erróneas",
            "Aquí no hay ningún enlace que mostrar, y desde tu conexión se han pedido demasiadas \
             direcciones así. Espera un minuto y revisa la dirección. Los enlaces que existen siguen \
             funcionando."
        ),
        Refusal::Unavailable => html!(
            "es",
            "Inténtalo de nuevo",
            "El enlace no se puede consultar ahora. No se ha perdido: inténtalo en unos segundos."
        ),
        Refusal::Uncounted => html!(
            "es",
            "Inténtalo de nuevo",
            "Ahora no se puede saber cuántas veces más se puede seguir este enlace. Inténtalo en unos segundos."
        ),
        Refusal::NotYet => html!(
            "es",
            "Todavía no",
            "El tiempo de este enlace aún no ha empezado. Inténtalo más tarde."
        ),
        Refusal::UsedUp => html!(
            "es",
            "Enlace agotado",
            "Este enlace se ha seguido tantas veces como se puede. Pide uno nuevo a quien te lo dio."
        ),
        Refusal::Blocked { status: 451, .. } => html!(
            "es",
            "No disponible aquí",
            "Este enlace no está disponible donde estás, por motivos legales."
        ),
        Refusal::Blocked { .. } => html!(
            "es",
            "No es para ti",
            "Quien hizo este enlace no lo pensó para visitantes como tú."
        ),
        Refusal::PasswordMissing | Refusal::PasswordWrong => {
            html!("es", "Hace falta una contraseña", "Este enlace necesita una contraseña.")
        }
        Refusal::TooManyPasswords { .. } => html!(
            "es",
            "Demasiados intentos",
            "Se han probado demasiadas contraseñas para este enlace. Espera unos minutos e inténtalo de nuevo."
        ),
        Refusal::Busy => html!(
            "es",
            "Inténtalo de nuevo",
            "Ahora se comprueban demasiadas contraseñas. Inténtalo en unos segundos."
        ),
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn the_policy_names_the_style_that_the_pages_have() {
        let hash = STANDARD.encode(Sha256::digest(style!()));
        assert!(POLICY.contains(&format!("'sha256-{hash}'")), "sha256-{hash}");
        assert!(page(Refusal::Gone, Language::German).contains(style!()));
    }
}
