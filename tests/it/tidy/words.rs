//! Words that belong to one place: a table of names with the modules that may use them, and SQL, which
//! is known by its looks. Clippy's `disallowed-methods` sees calls; this sees every mention.

use super::Finding;
use super::source::Source;

/// Where a rule holds.
enum Where {
    InCore,
    OutsideOf(&'static str),
}

/// Names, with spaces between, and where they must not appear. A name may be a path; `x::` is `x` with
/// something after it.
struct Ban {
    names: &'static str,
    place: Where,
    why: &'static str,
}

const BANS: &[Ban] = &[
    Ban {
        names: "async await tokio futures_util rusqlite tokio_postgres deadpool_postgres axum hyper \
                reqwest http:: std::fs SystemTime Instant",
        place: Where::InCore,
        why: "`kurz-core` is pure: nothing in it is async, does I/O or reads the time, so that tables of \
              cases, simulations and fuzzers can test it",
    },
    Ban {
        names: "rusqlite tokio_postgres deadpool_postgres",
        place: Where::OutsideOf("store"),
        why: "only `store` knows that there is a database: a second place that does is a second copy \
              of a query, and copies drift apart",
    },
    Ban {
        names: "redis::aio redis::cluster redis::cluster_async redis::cmd redis::Client",
        place: Where::OutsideOf("redis"),
        why: "only `redis` knows its protocol: whoever else speaks it has neither budget nor breaker",
    },
    Ban {
        names: "SystemTime::now Timestamp::now Zoned::now",
        place: Where::OutsideOf("clock"),
        why: "only `clock` reads the time; everybody else takes a `Clock`, which a test can move",
    },
    Ban {
        names: "std::env",
        place: Where::OutsideOf("config"),
        why: "only `config` reads the environment: a setting read elsewhere has no bounds, no \
              documentation and no place in the file",
    },
];

/// Names in places that are not theirs.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    let Some((module, _)) = source.module() else { return Vec::new() };
    let mut findings = Vec::new();
    for path in source.paths() {
        for Ban { names, place, why } in BANS {
            let holds = match place {
                Where::InCore => source.is_core(),
                Where::OutsideOf(only) => module != *only,
            };
            let mut names = names.split_whitespace();
            if let Some(name) = names.find(|name| holds && mentions(&path.what, name)) {
                findings
                    .push(source.finding(path.line, format!("`{module}` names `{name}`: {why}")));
            }
        }
    }
    findings
}

fn mentions(path: &[String], name: &str) -> bool {
    let parts = name.trim_end_matches("::").split("::").collect::<Vec<_>>();
    let more = usize::from(name.ends_with("::"));
    path.windows(parts.len() + more).any(|window| window.iter().zip(&parts).all(|(a, b)| a == b))
}

/// Strings that read as SQL outside of `store`, and of `clickhouse`, whose SQL is another.
pub(super) fn check_sql(source: &Source) -> Vec<Finding> {
    let has_sql = |module: &str| matches!(module, "store" | "clickhouse");
    let Some((module, _)) = source.module().filter(|(module, _)| !has_sql(module)) else {
        return Vec::new();
    };
    let sql = source.strings().into_iter().filter(|string| looks_like_sql(&string.what));
    let rule = format!(
        "`{module}` holds a string that reads as SQL: every statement stands once, in `store`, where a \
         test prepares it on both databases. If it is prose, put it in other words"
    );
    sql.map(|string| source.finding(string.line, rule.clone())).collect()
}

fn looks_like_sql(literal: &str) -> bool {
    let text = literal.to_lowercase().replace("\\n", " ");
    let words = text.split(|c: char| !c.is_alphanumeric() && !"_.*$".contains(c));
    let words = words.filter(|word| !word.is_empty()).collect::<Vec<_>>();
    (0..words.len()).any(|start| match words.get(start..).unwrap_or_default() {
        ["insert", "into", _, ..] | ["delete", "from", _, ..] | ["update", _, "set", _, ..] => true,
        ["select", rest @ ..] => rest.iter().skip(1).any(|word| *word == "from"),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(path: &str, text: &str, words: &str) {
        let source = Source::new(path, text);
        let findings = [check(&source), check_sql(&source)].concat();
        assert!(!findings.is_empty(), "{text} passes in {path}");
        assert!(findings.iter().any(|f| f.rule.contains(words)), "{findings:?} lack {words}");
    }

    #[track_caller]
    fn passes(path: &str, text: &str) {
        let source = Source::new(path, text);
        assert_eq!([check(&source), check_sql(&source)].concat(), []);
    }

    #[test]
    fn nothing_in_the_core_library_is_async_or_does_io() {
        let refused = |path, text, words| refused(&format!("crates/core/src/{path}"), text, words);
        let passes = |path, text| passes(&format!("crates/core/src/{path}"), text);
        refused("link/mod.rs", "async fn f() {}", "`link` names `async`");
        refused("code/base.rs", "use tokio::time::sleep;", "`code` names `tokio`");
        refused("account/role.rs", "use axum::http::StatusCode;", "`account` names `axum`");
        refused("account/role.rs", "fn f(s: http::StatusCode) {}", "`account` names `http::`");
        refused("quota/local.rs", "fn f() { Instant::now(); }", "reads the time");
        passes("link/mod.rs", "use crate::time::Timestamp; fn f(http: bool) { g(http) }");
        passes("link/mod.rs", "/// Not async.\nfn f() { /* tokio::spawn */ }");
    }

    #[test]
    fn other_modules_may_wait() {
        passes("src/app/mod.rs", "async fn f() { tokio::task::yield_now().await }");
    }

    #[test]
    fn only_store_names_a_database() {
        refused("src/cache/mod.rs", "use rusqlite::Connection;", "only `store` knows");
        refused("src/app/mod.rs", "fn f(r: tokio_postgres::Row) {}", "only `store` knows");
        refused("src/app/mod.rs", "use deadpool_postgres as pool;", "only `store` knows");
        passes("src/store/sqlite.rs", "use rusqlite::Connection;");
    }

    #[test]
    fn only_redis_speaks_its_protocol() {
        refused("src/quota/shared.rs", "use redis::aio::ConnectionLike;", "only `redis` knows");
        passes("src/quota/shared.rs", "use crate::redis::{Redis, Script};");
        passes("src/redis/wire.rs", "use redis::aio::MultiplexedConnection;");
    }

    #[test]
    fn only_store_holds_sql() {
        for sql in [
            "select id, target from links where code = $1",
            "SELECT count(*)\\n  FROM links",
            "begin; insert into links (code) values ($1)",
            "update links set target = $1",
            "delete from links",
        ] {
            refused("src/app/mod.rs", &format!("fn f() {{ g(\"{sql}\") }}"), "reads as SQL");
            refused("src/app/mod.rs", &format!("fn f() {{ g(r#\"{sql}\"#) }}"), "reads as SQL");
            passes("src/store/links.rs", &format!("fn f() {{ g(\"{sql}\") }}"));
            passes("src/app/mod.rs", &format!("/// {sql}\nfn f() {{}} // {sql}"));
        }
        passes("src/cli/doctor.rs", "fn f() { g(\"Update the salt, then set it everywhere\") }");
        passes("src/cli/doctor.rs", "fn f() { g(\"Deleted from main; selected 3\") }");
    }

    #[test]
    fn only_clock_reads_the_time() {
        refused("src/app/mod.rs", "fn f() { std::time::SystemTime::now(); }", "only `clock`");
        refused("src/app/mod.rs", "fn f() { jiff::Timestamp::now(); }", "only `clock`");
        passes("src/clock.rs", "fn f() { SystemTime::now(); }");
    }

    #[test]
    fn only_config_reads_the_environment() {
        refused("src/cli/mod.rs", "use std::env;", "only `config`");
        refused("src/cli/mod.rs", "use std::{env, fmt};", "only `config`");
        refused("src/cli/mod.rs", "fn f() { std::env::var(\"X\"); }", "only `config`");
        passes("src/config/mod.rs", "use std::env;");
        passes("src/cli/mod.rs", "#[cfg(test)] mod tests { use std::env; }");
        passes("src/cli/mod.rs", "const V: &str = env!(\"CARGO_PKG_VERSION\");");
    }
}
