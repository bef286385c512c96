//! The URL of a ClickHouse server: its HTTP interface, a user and a database.
//!
//! Invariant: neither `Display` nor `Debug` shows a password.

use std::fmt;

use url::Url;

use super::secret::Secret;
use super::setting::{Declaration, DefaultValue};
use super::value_parser::{ValueForm, ValueParser};

/// The ports of ClickHouse's HTTP interface, which a URL need not name.
const HTTP_PORT: u16 = 8123;
const HTTPS_PORT: u16 = 8443;

/// Where events are copied to.
#[derive(Clone)]
pub struct ClickHouseUrl {
    /// Scheme, host and port.
    server: Url,
    user: String,
    password: Secret,
    database: String,
}

impl ClickHouseUrl {
    /// `http(s)://USER:PASSWORD@HOST:PORT/DATABASE`; special characters of user and password are escaped by `%`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut url = Url::parse(text).ok()?;
        let port = match url.scheme() {
            "http" => HTTP_PORT,
            "https" => HTTPS_PORT,
            _ => return None,
        };
        // `Url` leaves out the port of the scheme: whoever writes `:80` means it.
        let authority = text.split_once("://")?.1.split('/').next()?;
        let is_named = authority.rsplit('@').next()?.rsplit(']').next()?.contains(':');
        if !is_named {
            url.set_port(Some(port)).ok()?;
        }
        let database = url.path().strip_prefix('/')?.to_owned();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if database.is_empty() || !database.bytes().all(is_plain) {
            return None;
        }
        if url.query().is_some() || url.fragment().is_some() {
            return None;
        }
        let user = unescape(url.username())?;
        let password = unescape(url.password().unwrap_or_default())?;
        let user = if user.is_empty() { "default".to_owned() } else { user };
        url.set_username("").ok()?;
        url.set_password(None).ok()?;
        url.set_path("");
        Some(Self { server: url, user, password: Secret::new(password), database })
    }

    pub(crate) fn server(&self) -> &Url {
        &self.server
    }

    pub(crate) fn user(&self) -> &str {
        &self.user
    }

    pub(crate) fn password(&self) -> &Secret {
        &self.password
    }

    pub(crate) fn database(&self) -> &str {
        &self.database
    }
}

/// Without the escapes by `%`; `None` when it holds what no HTTP field can.
fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let byte = match byte {
            b'%' => u8::try_from(digit(rest.next())? * 16 + digit(rest.next())?).ok()?,
            plain => plain,
        };
        bytes.push(byte);
    }
    let text = String::from_utf8(bytes).ok()?;
    text.chars().all(|letter| !letter.is_control()).then_some(text)
}

impl fmt::Display for ClickHouseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.server, self.database)
    }
}

impl fmt::Debug for ClickHouseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClickHouseUrl({self})")
    }
}

/// An empty value means no ClickHouse.
pub(super) fn declaration() -> Declaration<Option<ClickHouseUrl>> {
    let accepts = "http://USER:PASSWORD@HOST:PORT/DATABASE, https:// for TLS (special characters of user and \
                   password escaped as in %40), or empty";
    let parser = ValueParser::new(ValueForm::Text, accepts, |text: &str| {
        if text.is_empty() { Some(None) } else { ClickHouseUrl::parse(text).map(Some) }
    });
    let description = "none: events are in the store alone";
    Declaration {
        parser: parser.holding_secret(|text| text.contains(['@', '=', '#'])),
        default: DefaultValue::Absent { value: None, description },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // threats: H12
    #[test]
    fn a_url_names_server_user_and_database_and_never_shows_the_password() {
        for (text, shown, user, password) in [
            ("http://me:hunter2@ch/kurz", "http://ch:8123/kurz", "me", "hunter2"),
            ("https://me:hunter2@ch/kurz", "https://ch:8443/kurz", "me", "hunter2"),
            ("http://me:hunter2@ch:80/kurz", "http://ch/kurz", "me", "hunter2"),
            ("https://ch:9000/a_1", "https://ch:9000/a_1", "default", ""),
            ("http://m%40e:a%2Fb%25@[::1]:1/kurz", "http://[::1]:1/kurz", "m@e", "a/b%"),
            ("http://me:hunter2@[::1]/kurz", "http://[::1]:8123/kurz", "me", "hunter2"),
        ] {
            let url = ClickHouseUrl::parse(text).unwrap();
            assert_eq!(url.to_string(), shown);
            assert_eq!((url.user(), url.password().expose()), (user, password));
            assert!(!format!("{url:?}").contains("hunter2"));
        }
    }

    #[test]
    fn other_urls_are_refused() {
        for text in [
            "ch:8123/kurz",
            "clickhouse://ch/kurz",
            "http://ch",
            "http://ch/",
            "http://ch/a/b",
            "http://ch/a-b",
            "http://ch/kurz?password=x",
            "http://ch/kurz#x",
            "http:///kurz",
            "http://a:%zz@ch/kurz",
            "http://a:%0a@ch/kurz",
        ] {
            assert!(ClickHouseUrl::parse(text).is_none(), "{text:?}");
        }
    }
}
