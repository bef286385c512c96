//! The store's address. It names a database; it does not open it, and whether PostgreSQL likes the
//! rest of its URL is for the store to find out.
//!
//! Invariant: neither `Display` nor `Debug` shows a password.

use std::fmt;
use std::path::PathBuf;

use url::Url;

use super::error::ConfigError;
use super::rule::{Rule, ValueForm};

/// Which database holds everything.
#[derive(Clone, PartialEq, Eq)]
pub enum StoreUrl {
    /// A file of SQLite; a relative path counts from the working directory.
    Sqlite(PathBuf),
    /// A PostgreSQL URL, password included.
    Postgres(String),
}

impl StoreUrl {
    /// Read `sqlite://FILE` or `postgres://…`; `None` when the text is something else.
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
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

    /// The same for the value of the flag `name`, with a sentence for what is something else.
    pub fn read_flag(name: &str, text: &str) -> Result<Self, ConfigError> {
        rule().read(name, text)
    }
}

/// Whether SQLite would take this as the name of a file. It reads `:memory:` and `file:` as orders,
/// and a question mark would begin options in most other programs' URLs: none of them is meant.
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

/// User, host and database. A password can also stand in the query, and an unescaped `/`, `#` or
/// `@` in it moves its pieces elsewhere: when an `@` is not where it belongs, nothing is shown.
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

pub(super) fn rule() -> Rule<StoreUrl> {
    let accepts = "sqlite://FILE (a file: a database in memory would lose every link at exit) or \
                   postgres://USER:PASSWORD@HOST/DATABASE";
    // A bad value may still be an address with a password in it.
    Rule::new(ValueForm::Text, accepts, StoreUrl::parse)
        .hiding(|text| text.contains(['@', '=', '#']))
}

/// PostgreSQL alone.
pub(super) fn postgres() -> Rule<StoreUrl> {
    let parse =
        |text: &str| StoreUrl::parse(text).filter(|url| matches!(url, StoreUrl::Postgres(_)));
    Rule::new(ValueForm::Text, "postgres://USER:PASSWORD@HOST/DATABASE", parse)
        .hiding(|text| text.contains(['@', '=', '#']))
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
        ];
        for (text, path) in table {
            let url = StoreUrl::parse(text).unwrap();
            assert_eq!(url, StoreUrl::Sqlite(PathBuf::from(path)));
            assert_eq!(url.to_string(), text);
        }
    }

    #[test]
    fn memory_options_and_other_databases_are_refused() {
        let table = [
            "",
            "kurz.db",
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
