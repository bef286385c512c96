//! One name for one thing: no type name in two modules right under `src`, no file name twice outside the
//! folders that repeat one word per feature, and no file that belongs to two crates.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::source::Source;

/// Modules with one file per feature, where the same word in each is what a reader looks for.
const BY_FEATURE: [&str; 7] = ["api", "app", "cli", "compat", "config", "store", "web"];

/// Type names that several modules still share. The list only gets shorter: a name that is no longer
/// shared must go from it.
const SHARED_TYPES: &[&str] = &[
    "Answer",
    "Entry",
    "Failure",
    "Json",
    "Member",
    "Operation",
    "Page",
    "Problem",
    "ProblemField",
    "Refusal",
];

/// File names that are still there twice; see [`SHARED_TYPES`].
const SHARED_FILES: &[&str] =
    &["blocklist.rs", "body.rs", "health.rs", "host.rs", "path.rs", "tls.rs"];

/// Files that still include others by path; see [`SHARED_TYPES`].
const INCLUDING: &[&str] = &[
    "fuzz/fuzz_targets/json.rs",
    "fuzz/src/lib.rs",
    "fuzz/src/link.rs",
    "tests/corpus.rs",
    "tests/loom/quota.rs",
    "tests/loom/link.rs",
    "tests/loom/main.rs",
    "tests/loom/cache.rs",
    "tests/loom/clicks.rs",
];

/// Types of the same name in two modules right under `src`.
pub(super) fn check_types(sources: &[Source]) -> Vec<Finding> {
    let mut places = BTreeMap::<String, Vec<(&Source, usize)>>::new();
    for source in sources {
        for one in source.types() {
            places.entry(one.what).or_default().push((source, one.line));
        }
    }
    let module = |source: &Source| source.module().map(|(module, _)| module.to_owned());
    let shared = places.into_iter().filter(|(_, places)| {
        places.iter().filter_map(|(source, _)| module(source)).collect::<BTreeSet<_>>().len() > 1
    });
    let shared: Vec<_> = shared.collect();
    let mut findings = stale(SHARED_TYPES, &shared.iter().map(|one| one.0.clone()).collect());
    for (name, places) in shared {
        if SHARED_TYPES.contains(&name.as_str()) {
            continue;
        }
        for (source, line) in &places {
            let others = places.iter().map(|(other, _)| other.path.as_str());
            let others: Vec<&str> = others.filter(|path| *path != source.path).collect();
            let rule = format!(
                "`{name}` is a type of {} as well: whoever searches for it finds the wrong one",
                others.join(", ")
            );
            findings.push(source.finding(*line, rule));
        }
    }
    findings
}

/// Files of the same name, outside the modules with one file per feature.
pub(super) fn check_files(sources: &[Source]) -> Vec<Finding> {
    let mut places = BTreeMap::<&str, Vec<&Source>>::new();
    for source in sources {
        let Some((module, _)) = source.module() else { continue };
        let name = source.path.rsplit('/').next().unwrap_or_default();
        let in_tests = source.path.contains("/tests/") || ["mod.rs", "tests.rs"].contains(&name);
        if !in_tests && !BY_FEATURE.contains(&module) {
            places.entry(name).or_default().push(source);
        }
    }
    places.retain(|_, sources| sources.len() > 1);
    let shared = places.keys().map(|name| (*name).to_owned()).collect();
    let mut findings = stale(SHARED_FILES, &shared);
    for (name, sources) in places {
        if SHARED_FILES.contains(&name) {
            continue;
        }
        for source in sources {
            let rule = format!("there is another `{name}`: a file's name says what is in it alone");
            findings.push(source.finding(1, rule));
        }
    }
    findings
}

/// Files that are included by path, so that they are compiled in two crates.
pub(super) fn check_paths(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut including = BTreeSet::new();
    for source in sources {
        for mark in source.macros_and_attributes().iter().filter(|mark| mark.what == "#path") {
            including.insert(source.path.clone());
            if !INCLUDING.contains(&source.path.as_str()) {
                let rule =
                    "`#[path]` includes a file of another crate: link a library that holds it";
                findings.push(source.finding(mark.line, rule.to_owned()));
            }
        }
    }
    findings.extend(stale(INCLUDING, &including));
    findings
}

/// Exceptions for which there is no need any more.
fn stale(exceptions: &[&str], needed: &BTreeSet<String>) -> Vec<Finding> {
    let stale = exceptions.iter().filter(|exception| !needed.contains(**exception));
    let finding = |exception: &&str| Finding {
        path: "tests/it/tidy/names.rs".to_owned(),
        line: 1,
        rule: format!("`{exception}` is no exception any more: take it from the list"),
    };
    stale.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(findings: Vec<Finding>) -> Vec<String> {
        let findings = findings.into_iter().filter(|one| one.path != "tests/it/tidy/names.rs");
        findings.map(|one| format!("{}:{} {}", one.path, one.line, one.rule)).collect()
    }

    #[test]
    fn a_type_name_in_two_modules_is_found() {
        let one = Source::new("src/cache/a.rs", "mod inner {\n    pub struct Ready<T>(T);\n}");
        let two = Source::new("src/quota/b.rs", "//! A.\nenum Ready { Yes }");
        let found = rules(check_types(&[one, two]));
        assert_eq!(found.len(), 2);
        assert!(
            found[0].starts_with("src/cache/a.rs:2 `Ready` is a type of src/quota/b.rs as well"),
            "{found:?}"
        );
        assert!(found[1].starts_with("src/quota/b.rs:2 "), "{found:?}");
    }

    #[test]
    fn types_of_tests_of_functions_and_of_one_module_may_share_a_name() {
        let inner = "impl Iterator for A { type Item = u8; } fn f() { struct Local; }";
        let test = "#[cfg(test)] mod tests { struct Ready; struct Local; trait Item {} }";
        let sources = [
            Source::new("src/cache/a.rs", inner),
            Source::new("src/quota/b.rs", test),
            Source::new("src/link/c.rs", "struct Ready; type Item = u8; struct Local;"),
            Source::new("src/link/d.rs", "struct Ready;"),
            Source::new("src/limits/tests.rs", "struct Ready;"),
        ];
        assert_eq!(rules(check_types(&sources)), [""; 0]);
    }

    #[test]
    fn a_file_name_in_two_modules_is_found_except_where_it_is_a_feature() {
        let file = |path: &str| Source::new(path, "");
        let found = rules(check_files(&[file("src/net/once.rs"), file("src/cache/once.rs")]));
        assert_eq!(found.len(), 2, "{found:?}");
        let allowed = ["src/net/once.rs", "src/api/once.rs", "src/web/once.rs"].map(file);
        assert_eq!(rules(check_files(&allowed)), [""; 0]);
        let usual = ["src/net/mod.rs", "src/link/mod.rs", "src/net/tests.rs", "src/net/tests/a.rs"];
        assert_eq!(rules(check_files(&usual.map(file))), [""; 0]);
    }

    #[test]
    fn a_file_that_includes_another_is_found() {
        let text = "#[path = \"../../src/a.rs\"]\nmod a;";
        let found = rules(check_paths(&[Source::new("benches/new/main.rs", text)]));
        assert!(found[0].starts_with("benches/new/main.rs:1 `#[path]`"), "{found:?}");
    }

    #[test]
    fn an_exception_that_nobody_needs_is_found() {
        let found = stale(&["One", "Two"], &BTreeSet::from(["Two".to_owned()]));
        assert_eq!(found.len(), 1);
        assert!(found[0].rule.starts_with("`One` is no exception any more"));
    }
}
