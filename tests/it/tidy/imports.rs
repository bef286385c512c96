//! Which module may import which: the table, and its check. A module that is not in the table does not
//! pass. The modules of `kurz-core` are in the same table; that they import nothing of `kurz` is checked by
//! cargo.

use super::Finding;
use super::source::Source;

/// A module right under `src` of `kurz` or `kurz-core`, what it may import (names with spaces between),
/// and why no more. Where both libraries have a module of the same name, that of `kurz-core` is
/// `core::name`; a module that may import `name` may import both.
struct Row {
    module: &'static str,
    may_import: &'static str,
    why: &'static str,
}

const BOTTOM: &str = "everybody imports it, so it stands at the bottom";
const PURE: &str = "it is pure: what it decides depends on its arguments alone, so that a table of \
                    cases tests it and nothing can make it wait";
const BEHIND: &str = "it sits between the redirect and the store; it must know neither who asks nor \
                      the rest of the program";
const EDGE: &str = "it translates between one wire shape and `app`; what the program does lives in \
                    `app`, once, whoever asks";

/// Before the name of a module of `kurz-core` that `kurz` has too.
const CORE: &str = "core::";

/// The module that every other may import: a point in time is a number.
const EVERYWHERE: &str = "time";

const ALLOWED: &[Row] = &[
    Row { module: "clock", may_import: "", why: BOTTOM },
    Row { module: "entropy", may_import: "", why: BOTTOM },
    Row { module: "time", may_import: "", why: BOTTOM },
    Row { module: "sync", may_import: "", why: BOTTOM },
    Row { module: "host_name", may_import: "", why: BOTTOM },
    Row { module: "visible_text", may_import: "", why: PURE },
    Row { module: "csv_cell", may_import: "", why: PURE },
    Row { module: "lease", may_import: "", why: PURE },
    Row { module: "group_commit", may_import: "", why: PURE },
    Row { module: "file_version", may_import: "", why: BOTTOM },
    Row { module: "throttle", may_import: "", why: BOTTOM },
    Row { module: "client_address", may_import: "", why: BOTTOM },
    Row { module: "language", may_import: "", why: PURE },
    Row { module: "limits", may_import: "", why: PURE },
    Row {
        module: "config",
        may_import: "code account clock core::analytics",
        why: "settings are read before anything runs; it may ask the pure modules whether a value is \
              sound",
    },
    Row { module: "code", may_import: "", why: PURE },
    Row { module: "link", may_import: "code account", why: PURE },
    Row { module: "plan", may_import: "core::analytics core::clicks link code", why: PURE },
    Row { module: "account", may_import: "code", why: PURE },
    Row { module: "counters", may_import: "core::clicks core::quota link sync", why: PURE },
    Row { module: "core::clicks", may_import: "link sync", why: PURE },
    Row { module: "core::analytics", may_import: "core::clicks link", why: PURE },
    Row { module: "core::quota", may_import: "link sync", why: PURE },
    Row {
        module: "store",
        may_import: "core::analytics core::clicks core::quota group_commit code link account clock entropy \
                     config",
        why: "it keeps what the pure modules define and decides nothing itself",
    },
    Row {
        module: "telemetry",
        may_import: "config account client_address clock entropy",
        why: "both planes report to it; it knows requests and callers, and nothing of links",
    },
    Row {
        module: "redis",
        may_import: "config",
        why: "it knows the protocol of one server and nothing of what is kept there",
    },
    Row {
        module: "clickhouse",
        may_import: "config code link core::analytics",
        why: "it knows the interface of one server, and of events no more than their columns and what a scan \
              asks about them",
    },
    Row {
        module: "peers",
        may_import: "redis store clock entropy",
        why: "it carries what instances say to each other; what that means is for others to decide",
    },
    Row {
        module: "cache",
        may_import: "core::analytics plan counters clicks quota store link code clock",
        why: BEHIND,
    },
    Row { module: "quota", may_import: "peers redis store link code clock config", why: BEHIND },
    Row {
        module: "clicks",
        may_import: "core::analytics plan store link code clock file_version",
        why: BEHIND,
    },
    Row {
        module: "redirect",
        may_import: "cache quota clicks plan link limits throttle code client_address clock language \
                     telemetry",
        why: "it is the data plane: it must go on when the store, the API and the pages do not, and \
              it never waits for a write",
    },
    Row {
        module: "egress",
        may_import: "clock",
        why: "it is the only door to places that users name; a small module is one that can be guarded",
    },
    Row {
        module: "app",
        may_import: "core::analytics clickhouse plan store cache quota clicks peers egress link limits throttle code account \
                     host_name clock entropy config",
        why: "it is what the program does, whoever asks; it must not know who that is",
    },
    Row {
        module: "problem",
        may_import: "app account store telemetry visible_text",
        why: "it is the one place where a refusal becomes a status; the edges share it",
    },
    Row {
        module: "api",
        may_import: "problem app plan core::analytics link code account client_address clock telemetry csv_cell",
        why: EDGE,
    },
    Row {
        module: "compat",
        may_import: "api problem app link code account client_address clock",
        why: EDGE,
    },
    Row {
        module: "web",
        may_import: "core::analytics problem app plan link code account client_address clock language telemetry \
                     visible_text csv_cell",
        why: EDGE,
    },
    Row {
        module: "jobs",
        may_import: "app",
        why: "a job decides when; what is done then is `app`'s, so that a command can do it as well",
    },
    Row {
        module: "net",
        may_import: "config limits host_name client_address clock file_version",
        why: "it knows sockets and HTTP framing; what a request means is for the service behind it",
    },
    Row {
        module: "server",
        may_import: "net redirect api compat web problem jobs app config store cache quota clicks peers \
                     clickhouse redis egress link limits code account client_address clock entropy telemetry core::analytics \
                     file_version",
        why: "it puts the planes together and opens the sockets; only the command line starts it",
    },
    Row {
        module: "cli",
        may_import: "core::analytics plan server net redirect api compat web jobs app config store cache quota clicks \
                     peers clickhouse redis egress link limits code account client_address clock entropy telemetry visible_text",
        why: "it is the outermost module; nothing but `main` imports it",
    },
    Row { module: "main", may_import: "cli", why: "it is thin: the command line is in `cli`" },
    Row {
        module: "lib",
        may_import: "",
        why: "it is the map of the crate; a name that it hands on would hide where that name lives",
    },
];

/// Imports against the table.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    let Some((module, _)) = source.module() else { return Vec::new() };
    let Some(row) = row(module, source.is_core()) else {
        let rule = format!(
            "`{module}` is a new top-level module. Add a row to ALLOWED in tests/it/tidy/imports.rs that says \
             what it may import and why: an import nobody decided on is how layers grow together"
        );
        return vec![source.finding(1, rule)];
    };
    let mut findings = Vec::new();
    for path in source.paths() {
        if module == "lib" && path.what == ["use"] {
            findings.push(source.finding(path.line, format!("`lib` imports nothing: {}", row.why)));
        }
        let Some(other) = target(&path.what, source) else { continue };
        if !row.grants(other) {
            let may = if row.may_import.is_empty() { "nothing" } else { row.may_import };
            let why = row.why;
            let module = row.module;
            let rule = format!("`{module}` imports `{other}` and may import {may}: {why}");
            findings.push(source.finding(path.line, rule));
        }
    }
    // Several names out of one module, in one line, are one import.
    findings.dedup();
    findings
}

/// The row of the module `name` of `kurz-core`, or of `kurz`.
fn row(name: &str, is_core: bool) -> Option<&'static Row> {
    let qualified = |row: &&Row| is_core && row.module.strip_prefix(CORE) == Some(name);
    let plain = |row: &&Row| row.module == name;
    ALLOWED.iter().find(qualified).or_else(|| ALLOWED.iter().find(plain))
}

impl Row {
    fn grants(&self, other: &str) -> bool {
        let plain = other.strip_prefix(CORE).unwrap_or(other);
        let mut granted = self.may_import.split_whitespace().chain([self.module, EVERYWHERE]);
        granted.any(|name| name == other || name == plain)
    }
}

/// The module of the table that `path` leads to from the top of its crate; `None` for any other path.
fn target(path: &[String], source: &Source) -> Option<&'static str> {
    let (module, depth) = source.module()?;
    let climbed = path.iter().take_while(|segment| *segment == "super").count();
    let first = path.first()?.as_str();
    let name = match first {
        "crate" | "kurz_core" => path.get(1),
        // To the binary, the library is another crate.
        "kurz" if module == "main" => path.get(1),
        // As many steps up as the file is deep end at the top.
        "super" if climbed >= depth => path.get(climbed),
        _ => None,
    }?;
    row(name, source.is_core() || first == "kurz_core").map(|row| row.module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(path: &str, text: &str, words: &str) {
        let findings = check(&Source::new(path, text));
        assert_eq!(findings.len(), 1, "one finding in {path}: {findings:?}");
        assert!(findings[0].rule.contains(words), "{} lacks {words}", findings[0].rule);
    }

    #[test]
    fn an_import_against_the_table_is_found_in_every_spelling() {
        let words = "`redirect` imports `store`";
        refused("src/redirect/mod.rs", "use crate::store::Store;", words);
        refused("src/redirect/mod.rs", "use crate::{cache::Cache, store::{self, Store}};", words);
        refused("src/redirect/answer.rs", "fn f(s: &crate::store::Store) {}", words);
        refused("src/redirect/answer.rs", "use super::super::store::Store;", words);
        refused("src/redirect/mod.rs", "use super::store::Store;", words);
        refused("src/redirect/mod.rs", "use crate::server::host;", "`redirect` imports `server`");
        refused("src/jobs/cleanup.rs", "use crate::store::Store;", "may import app: a job decides");
        refused("src/net/host.rs", "use kurz_core::link::Link;", "`net` imports `link`");
        refused("src/store/hits.rs", "use crate::clicks::ClickWriter;", "`store` imports `clicks`");
        refused("src/peers/mod.rs", "use kurz_core::quota::Take;", "imports `core::quota`");
        refused("crates/core/src/code/random.rs", "use kurz_core::link::Link;", "it is pure");
        refused("crates/core/src/code/random.rs", "use super::super::link::Link;", "it is pure");
        refused("src/clock.rs", "use crate::config::Config;", "may import nothing");
        refused("src/main.rs", "use kurz::server::serve;", "`main` imports `server`");
        refused("src/lib.rs", "pub use store::Store;", "`lib` imports nothing");
    }

    #[test]
    fn a_module_without_a_row_is_found() {
        refused("src/util.rs", "", "Add a row to ALLOWED");
    }

    #[test]
    fn what_the_table_grants_passes() {
        let passes = |path, text| assert_eq!(check(&Source::new(path, text)), []);
        passes("src/redirect/mod.rs", "use crate::{cache::Cache, clock::Clock, link};");
        passes("src/redirect/mod.rs", "#[cfg(test)] mod tests { use crate::store::Store; }");
        passes("src/store/links.rs", "use super::{Error, sqlite}; use crate::store::Db;");
        passes("src/main.rs", "fn main() { kurz::cli::run() }");
        passes("src/lib.rs", "//! The map.\npub mod clock;");
        passes("src/net/host.rs", "use kurz_core::{host_name::normalise_host, time::Timestamp};");
        passes("crates/core/src/counters/a.rs", "use crate::{quota::LocalQuota, link::LinkId};");
        passes("src/store/hits.rs", "use kurz_core::clicks::ClickTotals;");
        passes("src/clicks/writer.rs", "use kurz_core::clicks::ClickQueue;");
    }

    #[test]
    fn the_table_names_only_modules_with_a_row_and_none_both_ways() {
        let row = |name: &str| ALLOWED.iter().find(|row| row.module == name);
        for Row { module, may_import, .. } in ALLOWED {
            for other in may_import.split_whitespace() {
                let back = row(other).unwrap_or_else(|| panic!("{other} has no row")).may_import;
                let mutual = back.split_whitespace().any(|name| name == *module);
                assert!(!mutual, "{module} and {other} import each other");
            }
        }
    }
}
