//! The fields of a plan beside rules and splits, read from JSON.

use super::document::{
    AndroidApp, AppLinks, Card, Consent, ConsentShow, IosApp, PlanDocument, PlanField,
    QueryForwarding, Robots, Utm, UtmField,
};
use super::json::PlanJson;
use super::plan_error::PlanError;
use super::prepared_url::Template;
use super::read::{PlanReader, join};

/// The largest lifetime limit that can be asked for.
pub const CLICK_LIMIT: i64 = 1_000_000_000_000;
pub const UTM_CHARS: usize = 200;
pub const CONSENT_CHARS: usize = 2_000;
pub const BUTTON_CHARS: usize = 100;
pub const CARD_TITLE_CHARS: usize = 200;
pub const CARD_DESCRIPTION_CHARS: usize = 500;
pub const CARD_IMAGE_CHARS: usize = 2_048;
/// The most certificates of an app.
pub const FINGERPRINTS: usize = 8;
const APP_ID_CHARS: usize = 155;
const APP_PATH_CHARS: usize = 1_024;

impl PlanReader {
    pub(super) fn setting(
        &mut self,
        field: PlanField,
        value: &PlanJson,
        document: &mut PlanDocument,
    ) {
        let path = field.name();
        if *value == PlanJson::Null {
            clear(field, document);
            return;
        }
        match field {
            PlanField::ValidFrom => document.valid_from = self.time(field, path, value),
            PlanField::ClickLimit => match value {
                PlanJson::Integer(limit) if (0..=CLICK_LIMIT).contains(limit) => {
                    document.click_limit = u64::try_from(*limit).unwrap_or_default();
                }
                _ => {
                    let message =
                        format!("a click limit is a whole number from 0 (none) to {CLICK_LIMIT}");
                    self.invalid(field, path, message);
                }
            },
            PlanField::ExpiredUrl => document.expired_url = self.url(field, value),
            PlanField::PendingUrl => document.pending_url = self.url(field, value),
            PlanField::FallbackUrl => document.fallback_url = self.url(field, value),
            PlanField::Query => match value {
                PlanJson::Text(text) if QueryForwarding::parse(text).is_some() => {
                    document.query = QueryForwarding::parse(text);
                }
                _ => self.invalid(field, path, "it is drop or merge".to_owned()),
            },
            PlanField::Robots => match value {
                PlanJson::Text(text) if Robots::parse(text).is_some() => {
                    document.robots = Robots::parse(text);
                }
                _ => self.invalid(field, path, "it is noindex or index".to_owned()),
            },
            PlanField::Utm => document.utm = self.utm(value),
            PlanField::Consent => document.consent = self.consent(value),
            PlanField::App => document.app = self.app(value),
            PlanField::Card => document.card = self.card(value),
            // Read elsewhere.
            PlanField::Rules | PlanField::Split | PlanField::Password => {}
        }
    }

    fn url(&mut self, field: PlanField, value: &PlanJson) -> Option<String> {
        match value {
            PlanJson::Text(url) => Some(url.clone()),
            other => {
                self.wrong(field, field.name(), "a URL or null", other);
                None
            }
        }
    }

    /// A text of at most `most` characters; one of nothing but space is none.
    fn text(
        &mut self,
        field: PlanField,
        path: &str,
        value: &PlanJson,
        most: usize,
    ) -> Option<String> {
        let has_lines = field == PlanField::Consent;
        let is_plain = |c: char| !c.is_control() || has_lines && c == '\n';
        match value {
            PlanJson::Null => None,
            PlanJson::Text(text) => {
                // Forms send lines that end with both.
                let text = text.trim().replace("\r\n", "\n");
                if text.chars().count() <= most && text.chars().all(is_plain) {
                    return Some(text).filter(|text| !text.is_empty());
                }
                let message =
                    format!("it is a text of at most {most} characters without control characters");
                self.invalid(field, path, message);
                None
            }
            other => {
                self.wrong(field, path, "a text", other);
                None
            }
        }
    }

    fn utm(&mut self, value: &PlanJson) -> Utm {
        const FIELD: PlanField = PlanField::Utm;
        let keys: Vec<&str> = UtmField::ALL.iter().map(|field| field.name()).collect();
        let mut utm = Utm::default();
        let Some(entries) = self.object(FIELD, FIELD.name(), value, &keys) else { return utm };
        for (place, field) in utm.0.iter_mut().zip(UtmField::ALL) {
            let path = join(FIELD.name(), field.name());
            let entry = entries.iter().find(|(key, _)| key == field.name());
            *place = entry.and_then(|(_, value)| self.text(FIELD, &path, value, UTM_CHARS));
            if let Some(text) = place
                && let Err(unknown) = Template::parse(text)
            {
                self.problem(&path, PlanError::PlaceholderUnknown(unknown));
            }
        }
        utm
    }

    fn consent(&mut self, value: &PlanJson) -> Option<Consent> {
        const FIELD: PlanField = PlanField::Consent;
        let mut consent = Consent { text: None, button: None, show: ConsentShow::Always };
        if let PlanJson::Text(show) = value {
            consent.show = self.show(FIELD.name(), show)?;
            return Some(consent);
        }
        let entries = self.object(FIELD, FIELD.name(), value, &["text", "button", "show"])?;
        for (key, value) in entries {
            let path = join(FIELD.name(), key);
            match (key.as_str(), value) {
                ("text", value) => consent.text = self.text(FIELD, &path, value, CONSENT_CHARS),
                ("button", value) => consent.button = self.text(FIELD, &path, value, BUTTON_CHARS),
                ("show", PlanJson::Null) => {}
                ("show", PlanJson::Text(show)) => consent.show = self.show(&path, show)?,
                ("show", other) => self.wrong(FIELD, &path, "always or once", other),
                _ => {}
            }
        }
        Some(consent)
    }

    fn show(&mut self, path: &str, text: &str) -> Option<ConsentShow> {
        let show = ConsentShow::parse(text);
        if show.is_none() {
            let message = "it is always, once, or an object with a text".to_owned();
            self.invalid(PlanField::Consent, path, message);
        }
        show
    }

    fn card(&mut self, value: &PlanJson) -> Option<Card> {
        const FIELD: PlanField = PlanField::Card;
        let keys = ["title", "description", "image_url"];
        let entries = self.object(FIELD, FIELD.name(), value, &keys)?;
        let mut card = Card::default();
        for (key, value) in entries {
            let path = join(FIELD.name(), key);
            let (place, most) = match key.as_str() {
                "title" => (&mut card.title, CARD_TITLE_CHARS),
                "description" => (&mut card.description, CARD_DESCRIPTION_CHARS),
                "image_url" => (&mut card.image_url, CARD_IMAGE_CHARS),
                _ => continue,
            };
            *place = self.text(FIELD, &path, value, most);
        }
        (card != Card::default()).then_some(card)
    }

    fn app(&mut self, value: &PlanJson) -> Option<AppLinks> {
        const FIELD: PlanField = PlanField::App;
        let entries = self.object(FIELD, FIELD.name(), value, &["ios", "android"])?;
        let mut app = AppLinks::default();
        for (key, value) in entries.iter().filter(|(_, value)| *value != PlanJson::Null) {
            match key.as_str() {
                "ios" => app.ios = self.ios(value),
                "android" => app.android = self.android(value),
                _ => {}
            }
        }
        (app != AppLinks::default()).then_some(app)
    }

    fn ios(&mut self, value: &PlanJson) -> Option<IosApp> {
        const PATH: &str = "app.ios";
        let keys = ["app_id", "path", "store_url"];
        let entries = self.object(PlanField::App, PATH, value, &keys)?;
        let mut text = |key: &str, most| self.entry(PATH, entries, key, most);
        let app_id = text("app_id", APP_ID_CHARS);
        let (path, store_url) = (text("path", APP_PATH_CHARS), text("store_url", APP_PATH_CHARS));
        self.app_path(PATH, path.as_deref());
        let Some(app_id) = app_id.filter(|id| is_ios_app(id)) else {
            let message =
                "an app id is a team and a bundle, such as ABCDE12345.com.example.app".to_owned();
            self.invalid(PlanField::App, &join(PATH, "app_id"), message);
            return None;
        };
        Some(IosApp { app_id, path, store_url })
    }

    fn android(&mut self, value: &PlanJson) -> Option<AndroidApp> {
        const PATH: &str = "app.android";
        let keys = ["package", "sha256", "path", "store_url"];
        let entries = self.object(PlanField::App, PATH, value, &keys)?;
        let mut text = |key: &str, most| self.entry(PATH, entries, key, most);
        let package = text("package", APP_ID_CHARS);
        let (path, store_url) = (text("path", APP_PATH_CHARS), text("store_url", APP_PATH_CHARS));
        self.app_path(PATH, path.as_deref());
        let sha256 = match entries.iter().find(|(key, _)| key == "sha256") {
            None | Some((_, PlanJson::Null)) => Vec::new(),
            Some((_, value)) => self.fingerprints(&join(PATH, "sha256"), value),
        };
        let Some(package) = package.filter(|name| is_android_app(name)) else {
            let message = "a package is a name such as com.example.app".to_owned();
            self.invalid(PlanField::App, &join(PATH, "package"), message);
            return None;
        };
        Some(AndroidApp { package, sha256, path, store_url })
    }

    fn entry(
        &mut self,
        path: &str,
        entries: &[(String, PlanJson)],
        key: &str,
        most: usize,
    ) -> Option<String> {
        let (_, value) = entries.iter().find(|(name, _)| name == key)?;
        self.text(PlanField::App, &join(path, key), value, most)
    }

    /// `/path`, or an address with a scheme of the app: one that runs no script and reads no file.
    fn app_path(&mut self, path: &str, value: Option<&str>) {
        const SCRIPTS: [&str; 5] = ["javascript", "data", "vbscript", "file", "blob"];
        let Some(value) = value else { return };
        let is_scheme = |scheme: &str| {
            let is_char = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
            scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.bytes().all(is_char)
        };
        let has_scheme = value.split_once("://").is_some_and(|(scheme, _)| {
            is_scheme(scheme) && !SCRIPTS.iter().any(|script| scheme.eq_ignore_ascii_case(script))
        });
        let is_safe = value.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_safe || !(value.starts_with('/') || has_scheme) {
            let message =
                "a path in an app begins with / or with the app's own scheme (myapp://), in ASCII";
            self.invalid(PlanField::App, &join(path, "path"), message.to_owned());
        }
    }

    fn fingerprints(&mut self, path: &str, value: &PlanJson) -> Vec<String> {
        let items = match value {
            PlanJson::List(items) if items.len() <= FINGERPRINTS => items.as_slice(),
            _ => {
                let message = format!("it is a list of at most {FINGERPRINTS} fingerprints");
                self.invalid(PlanField::App, path, message);
                &[]
            }
        };
        let mut all = Vec::new();
        for (at, item) in items.iter().enumerate() {
            match item {
                PlanJson::Text(text) if is_fingerprint(text) => all.push(text.to_ascii_uppercase()),
                _ => {
                    let message =
                        "a fingerprint is 32 bytes in hex with colons between, AB:CD:…".to_owned();
                    self.invalid(PlanField::App, &format!("{path}[{at}]"), message);
                }
            }
        }
        all
    }
}

fn clear(field: PlanField, document: &mut PlanDocument) {
    match field {
        PlanField::ValidFrom => document.valid_from = None,
        PlanField::ClickLimit => document.click_limit = 0,
        PlanField::ExpiredUrl => document.expired_url = None,
        PlanField::PendingUrl => document.pending_url = None,
        PlanField::FallbackUrl => document.fallback_url = None,
        PlanField::Query => document.query = None,
        PlanField::Utm => document.utm = Utm::default(),
        PlanField::Consent => document.consent = None,
        PlanField::App => document.app = None,
        PlanField::Card => document.card = None,
        PlanField::Robots => document.robots = None,
        PlanField::Password => document.password = None,
        PlanField::Rules => document.rules.clear(),
        PlanField::Split => document.split = None,
    }
}

fn is_ios_app(text: &str) -> bool {
    let Some((team, bundle)) = text.split_once('.') else { return false };
    let is_bundle = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    team.len() == 10
        && team.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        && !bundle.is_empty()
        && bundle.bytes().all(is_bundle)
}

fn is_android_app(text: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    text.contains('.') && text.split('.').all(is_part)
}

fn is_fingerprint(text: &str) -> bool {
    text.len() == 95
        && text
            .split(':')
            .all(|byte| byte.len() == 2 && byte.bytes().all(|digit| digit.is_ascii_hexdigit()))
}
