//! The URL of Redis: one server, or the seeds of a cluster.
//!
//! Invariant: neither `Display` nor `Debug` shows a password.

use std::fmt;

use url::Url;

use super::setting::{Declaration, DefaultValue};
use super::value_parser::{ValueForm, ValueParser};

const MAX_SEEDS: usize = 32;

/// One server of Redis (or Valkey), or the seeds of a cluster.
#[derive(Clone, PartialEq, Eq)]
pub struct RedisUrl(Vec<String>);

impl RedisUrl {
    /// `redis://…` or `rediss://…`, several separated by commas.
    pub fn parse(text: &str) -> Option<Self> {
        let seeds: Vec<&str> = text.split(',').map(str::trim).collect();
        let is_valid = |seed: &&str| {
            let url = Url::parse(seed).ok();
            url.is_some_and(|url| {
                matches!(url.scheme(), "redis" | "rediss")
                    && url.host_str().is_some_and(|host| !host.is_empty())
                    && url.fragment().is_none()
                    && database(&url).is_some()
            })
        };
        if seeds.len() > MAX_SEEDS || !seeds.iter().all(is_valid) {
            return None;
        }
        Some(Self(seeds.into_iter().map(str::to_owned).collect()))
    }

    /// The URLs, passwords included.
    pub fn seeds(&self) -> &[String] {
        &self.0
    }

    /// More than one URL means a cluster.
    pub fn is_cluster(&self) -> bool {
        self.0.len() > 1
    }
}

/// The database number in the path; `None` when the path is something else.
fn database(url: &Url) -> Option<u32> {
    match url.path().trim_start_matches('/') {
        "" => Some(0),
        number => number.parse().ok(),
    }
}

impl fmt::Display for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, seed) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(",")?;
            }
            f.write_str(&without_password(seed))?;
        }
        Ok(())
    }
}

impl fmt::Debug for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisUrl({self})")
    }
}

/// Scheme, host, port and database.
fn without_password(text: &str) -> String {
    let hidden = || "redis://[hidden]".to_owned();
    let Ok(mut url) = Url::parse(text) else { return hidden() };
    url.set_query(None);
    if url.set_password(None).is_err() || url.set_username("").is_err() {
        return hidden();
    }
    url.into()
}

/// An empty value means no Redis.
pub(super) fn declaration() -> Declaration<Option<RedisUrl>> {
    let accepts = "redis://USER:PASSWORD@HOST:PORT/DATABASE, rediss:// for TLS, several separated by \
                   commas as the seeds of a cluster, or empty";
    let parser = ValueParser::new(ValueForm::Text, accepts, |text: &str| {
        if text.is_empty() { Some(None) } else { RedisUrl::parse(text).map(Some) }
    });
    let description = "none: instances talk through the database";
    Declaration {
        parser: parser.holding_secret(|text| text.contains(['@', '=', '#'])),
        default: DefaultValue::Absent { value: None, description },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_is_a_server_and_several_are_a_cluster() {
        let one = RedisUrl::parse("redis://:hunter2@cache:6380/3").unwrap();
        assert!(!one.is_cluster());
        assert_eq!(one.to_string(), "redis://cache:6380/3");
        let three = RedisUrl::parse("redis://a:1, redis://b:2,rediss://me:hunter2@c:3").unwrap();
        assert!(three.is_cluster());
        assert_eq!(three.seeds().len(), 3);
        assert_eq!(three.to_string(), "redis://a:1,redis://b:2,rediss://c:3");
        assert!(!format!("{one:?} {three:?}").contains("hunter2"));
    }

    #[test]
    fn other_urls_are_refused() {
        for text in ["redis", "redis://", "http://a:1", "redis://a:1,", "redis://a/b", "a:6379"] {
            assert_eq!(RedisUrl::parse(text), None, "{text:?}");
        }
        let many = vec!["redis://a:1"; MAX_SEEDS + 1].join(",");
        assert_eq!(RedisUrl::parse(&many), None);
    }
}
