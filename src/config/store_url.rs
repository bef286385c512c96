//! The URL of the database. Only its scheme and its form are checked here; the rest of a PostgreSQL URL
//! is checked when the store is opened.
//!
//! Invariant: neither `Display` nor `Debug` shows a password.

use std::fmt;
use std::path::PathBuf;

use url::Url;

use super::error::ConfigError;
use super::value_parser::{ValueForm, ValueParser};

/// The URL of the database.
#[derive(Clone, PartialEq, Eq)]
pub enum StoreUrl {
    /// The path of an SQLite file.
    Sqlite(PathBuf),
    /// A PostgreSQL URL, password included.
    Postgres(String),
}

impl StoreUrl {
    /// `sqlite://FILE`, the path of a file alone, or `postgres://…`.
    pub fn parse(text: &str) -> Option<Self> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return is_bare_file(text).then(|| Self::Sqlite(PathBuf::from(text)));
        };
        if rest.is_empty() || rest.contains(char::is_control) {
            return None;
        }
        match scheme {
            "sqlite" if is_file(rest) => Some(Self::Sqlite(PathBuf::from(rest))),
            "postgres" | "postgresql" if !rest.contains(char::is_whitespace) => {
                Some(Self::Postgres(text.to_owned()))
            }
            _ => None,
        }
    }

    /// The same with the whole path of a file, for people who may be in another folder.
    #[must_use]
    pub fn absolute(&self) -> Self {
        match self {
            Self::Sqlite(path) => {
                Self::Sqlite(std::path::absolute(path).unwrap_or_else(|_| path.clone()))
            }
            other @ Self::Postgres(_) => other.clone(),
        }
    }

    /// Whether a `@` is where a password would have to have it percent-encoded: a second one, or one
    /// after a `/`, which ends the host.
    pub fn has_bare_password_sign(&self) -> bool {
        let Self::Postgres(text) = self else { return false };
        let address = text.split_once("://").map_or("", |(_, rest)| rest);
        let address = address.split_once('?').map_or(address, |(address, _)| address);
        address.matches('@').count() > 1
            || address.split_once(['/', '#']).is_some_and(|(_, rest)| rest.contains('@'))
    }

    /// Parse the value of the flag `name`; an error names the flag.
    pub fn read_flag(name: &str, text: &str) -> Result<Self, ConfigError> {
        parser().read(name, text)
    }
}

/// Whether text without a scheme is meant as the path of a file, such as `kurz.db`. A colon, `=` or `@`
/// belongs to an address of a database.
fn is_bare_file(text: &str) -> bool {
    let is_plain = !text.contains([':', '=', '@', '#']) && !text.contains(char::is_control);
    text.contains(['.', '/']) && is_plain && is_file(text)
}

/// Whether this is the name of a file to SQLite and to people: `:memory:` and `file:` have another
/// meaning to SQLite, and a question mark begins options in most URLs.
fn is_file(path: &str) -> bool {
    !path.contains('?')
        && !path.starts_with([':', ' '])
        && !path.starts_with("file:")
        && !path.ends_with('/')
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite://{}", path.display()),
            Self::Postgres(url) => f.write_str(&without_password(url)),
        }
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreUrl({self})")
    }
}

/// User, host and database. A password can also be in the query, and an unescaped `/`, `#` or `@` in a
/// password changes where the URL's parts begin: when an `@` is in an unexpected position, nothing is
/// shown.
fn without_password(text: &str) -> String {
    let ats = text.matches('@').count();
    let url = Url::parse(text).ok().filter(|url| ats == usize::from(!url.username().is_empty()));
    let Some(mut url) = url else { return "postgres://[hidden]".to_owned() };
    url.set_query(None);
    url.set_fragment(None);
    if url.password().is_some() && url.set_password(None).is_err() {
        return "postgres://[hidden]".to_owned();
    }
    url.into()
}

pub(super) fn parser() -> ValueParser<StoreUrl> {
    let accepts = "sqlite://FILE, or the path of the file alone (a database in memory would lose every \
                   link at exit), or postgres://USER:PASSWORD@HOST/DATABASE";
    // A rejected value may still contain a password.
    ValueParser::new(ValueForm::Text, accepts, StoreUrl::parse)
        .holding_secret(|text| text.contains(['@', '=', '#']))
}

pub(super) fn postgres() -> ValueParser<StoreUrl> {
    let parse =
        |text: &str| StoreUrl::parse(text).filter(|url| matches!(url, StoreUrl::Postgres(_)));
    ValueParser::new(ValueForm::Text, "postgres://USER:PASSWORD@HOST/DATABASE", parse)
        .holding_secret(|text| text.contains(['@', '=', '#']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_relative_or_absolute() {
        let table = [
            ("sqlite://kurz.db", "kurz.db"),
            ("sqlite://data/kurz.db", "data/kurz.db"),
            ("sqlite:///var/lib/kurz/kurz.db", "/var/lib/kurz/kurz.db"),
            ("kurz.db", "kurz.db"),
            ("./kurz", "./kurz"),
            ("/var/lib/kurz/kurz.db", "/var/lib/kurz/kurz.db"),
        ];
        for (text, path) in table {
            let url = StoreUrl::parse(text).unwrap();
            assert_eq!(url, StoreUrl::Sqlite(PathBuf::from(path)));
            assert_eq!(url.to_string(), format!("sqlite://{path}"));
        }
    }

    #[test]
    fn memory_options_and_other_databases_are_refused() {
        let table = [
            "",
            "kurz",
            ":memory:",
            "kurz.db?mode=memory",
            "data/",
            "sqlite:kurz.db",
            "sqlite://",
            "sqlite::memory:",
            "sqlite://:memory:",
            "sqlite://file::memory:",
            "sqlite://file:kurz.db",
            "sqlite://kurz.db?mode=memory",
            "sqlite:///var/lib/kurz/",
            "sqlite://a\0b",
            "postgres://",
            "postgres:db",
            "mysql://host/db",
            "host=db password=hunter2",
        ];
        for text in table {
            assert_eq!(StoreUrl::parse(text), None, "{text:?}");
        }
    }

    // threats: H12
    #[test]
    fn a_password_is_never_shown() {
        let table = [
            ("postgres://me:hunter2@db:5432/kurz", "postgres://me@db:5432/kurz"),
            ("postgresql://me@db/kurz?sslmode=require", "postgresql://me@db/kurz"),
            ("postgres://db/kurz?password=hunter2", "postgres://db/kurz"),
            ("postgres://me:12#hunter2@db/kurz", "postgres://[hidden]"),
            ("postgres://me:12/hunter2@db/kurz", "postgres://[hidden]"),
            ("postgres://me:hunter@2@db/kurz", "postgres://[hidden]"),
            ("postgres://me:hunter2/@db/kurz", "postgres://[hidden]"),
            ("postgres:///kurz?host=/run/postgresql", "postgres:///kurz"),
        ];
        for (text, shown) in table {
            let url = StoreUrl::parse(text).unwrap();
            assert_eq!(url.to_string(), shown);
            assert!(!format!("{url:?} {url}").contains("hunter"), "{text}");
            assert_eq!(url, StoreUrl::Postgres(text.to_owned()));
        }
    }
}
