//! The pages for links that the operator disabled or that the block list covers, in three languages.
//! Constants, as all pages of the data plane.

use crate::language::Language;
use crate::redirect::refusal_pages::html;
use kurz_core::link::Reason;

#[rustfmt::skip]
pub(super) const fn page(reason: Reason, language: Language) -> &'static str {
    match (language, reason) {
        (Language::English, Reason::Abuse) => html!("en", "Link disabled", "This link was used for spam or other misuse. Whoever runs this server has disabled it.</p><p><a href=\"/app/report\">Report a link</a>"),
        (Language::English, Reason::Malware) => html!("en", "Link disabled", "This link led to harmful software. Whoever runs this server has disabled it, to protect you.</p><p><a href=\"/app/report\">Report a link</a>"),
        (Language::English, Reason::Phishing) => html!("en", "Link disabled", "This link led to a place that pretends to be another, to steal passwords or money. Whoever runs this server has disabled it, to protect you.</p><p><a href=\"/app/report\">Report a link</a>"),
        (Language::English, Reason::Legal) => html!("en", "Link disabled", "This link was disabled for legal reasons.</p><p><a href=\"/app/report\">Report a link</a>"),
        (Language::English, Reason::Other) => html!("en", "Link disabled", "Whoever runs this server has disabled this link.</p><p><a href=\"/app/report\">Report a link</a>"),
        (Language::English, Reason::Account) => html!("en", "Link disabled", "The account that this link belongs to has been disabled.</p><p><a href=\"/app/report\">Report a link</a>"),
        (Language::English, Reason::Blocked) => html!("en", "Link disabled", "This link leads to a place that is on this server's block list. You are not sent there, to protect you.</p><p><a href=\"/app/report\">Report a link</a>"),
        (Language::German, Reason::Abuse) => html!("de", "Link gesperrt", "Dieser Link wurde für Spam oder anderen Missbrauch benutzt. Wer diesen Server betreibt, hat ihn gesperrt.</p><p><a href=\"/app/report\">Einen Link melden</a>"),
        (Language::German, Reason::Malware) => html!("de", "Link gesperrt", "Dieser Link führte zu schädlicher Software. Wer diesen Server betreibt, hat ihn zu deinem Schutz gesperrt.</p><p><a href=\"/app/report\">Einen Link melden</a>"),
        (Language::German, Reason::Phishing) => html!("de", "Link gesperrt", "Dieser Link führte zu einer Seite, die sich für eine andere ausgibt, um Passwörter oder Geld zu stehlen. Wer diesen Server betreibt, hat ihn zu deinem Schutz gesperrt.</p><p><a href=\"/app/report\">Einen Link melden</a>"),
        (Language::German, Reason::Legal) => html!("de", "Link gesperrt", "Dieser Link wurde aus rechtlichen Gründen gesperrt.</p><p><a href=\"/app/report\">Einen Link melden</a>"),
        (Language::German, Reason::Other) => html!("de", "Link gesperrt", "Wer diesen Server betreibt, hat diesen Link gesperrt.</p><p><a href=\"/app/report\">Einen Link melden</a>"),
        (Language::German, Reason::Account) => html!("de", "Link gesperrt", "Das Konto, zu dem dieser Link gehört, wurde gesperrt.</p><p><a href=\"/app/report\">Einen Link melden</a>"),
        (Language::German, Reason::Blocked) => html!("de", "Link gesperrt", "Dieser Link führt an einen Ort, der auf der Sperrliste dieses Servers steht. Zu deinem Schutz wirst du nicht dorthin geleitet.</p><p><a href=\"/app/report\">Einen Link melden</a>"),
        (Language::Spanish, Reason::Abuse) => html!("es", "Enlace desactivado", "Este enlace se usó para correo basura u otro abuso. Quien gestiona este servidor lo ha desactivado.</p><p><a href=\"/app/report\">Denunciar un enlace</a>"),
        (Language::Spanish, Reason::Malware) => html!("es", "Enlace desactivado", "Este enlace llevaba a programas dañinos. Quien gestiona este servidor lo ha desactivado para protegerte.</p><p><a href=\"/app/report\">Denunciar un enlace</a>"),
        (Language::Spanish, Reason::Phishing) => html!("es", "Enlace desactivado", "Este enlace llevaba a una página que se hace pasar por otra para robar contraseñas o dinero. Quien gestiona este servidor lo ha desactivado para protegerte.</p><p><a href=\"/app/report\">Denunciar un enlace</a>"),
        (Language::Spanish, Reason::Legal) => html!("es", "Enlace desactivado", "Este enlace se ha desactivado por motivos legales.</p><p><a href=\"/app/report\">Denunciar un enlace</a>"),
        (Language::Spanish, Reason::Other) => html!("es", "Enlace desactivado", "Quien gestiona este servidor ha desactivado este enlace.</p><p><a href=\"/app/report\">Denunciar un enlace</a>"),
        (Language::Spanish, Reason::Account) => html!("es", "Enlace desactivado", "La cuenta a la que pertenece este enlace ha sido desactivada.</p><p><a href=\"/app/report\">Denunciar un enlace</a>"),
        (Language::Spanish, Reason::Blocked) => html!("es", "Enlace desactivado", "Este enlace lleva a un lugar que está en la lista de bloqueo de este servidor. No te enviamos allí para protegerte.</p><p><a href=\"/app/report\">Denunciar un enlace</a>"),
    }
}

/// The same as a problem in JSON.
#[rustfmt::skip]
pub(super) const fn problem(reason: Reason) -> &'static str {
    match reason {
        Reason::Abuse => problem!(410, "Gone", "link-disabled", "This link was disabled because of spam or other misuse."),
        Reason::Malware => problem!(410, "Gone", "link-disabled", "This link was disabled because it led to harmful software."),
        Reason::Phishing => problem!(410, "Gone", "link-disabled", "This link was disabled because it led to a place that pretends to be another."),
        Reason::Legal => problem!(410, "Gone", "link-disabled", "This link was disabled for legal reasons."),
        Reason::Other => problem!(410, "Gone", "link-disabled", "This link was disabled by whoever runs this server."),
        Reason::Account => problem!(410, "Gone", "link-disabled", "This link was disabled together with the account that it belongs to."),
        Reason::Blocked => problem!(410, "Gone", "link-disabled", "This link leads to a place that is on this server's block list."),
    }
}

use crate::redirect::answer::problem;

#[cfg(test)]
mod tests {
    use super::*;

    // threats: A17
    #[test]
    fn every_reason_is_named_in_every_language() {
        let mut seen = Vec::new();
        for language in [Language::English, Language::German, Language::Spanish] {
            for reason in Reason::ALL {
                let page = page(reason, language);
                assert!(page.contains("href=\"/app/report\"") && !seen.contains(&page));
                seen.push(page);
                let problem: serde_json::Value = serde_json::from_str(problem(reason)).unwrap();
                assert_eq!(
                    (&problem["status"], &problem["code"]),
                    (&410.into(), &"link-disabled".into())
                );
            }
        }
    }
}
