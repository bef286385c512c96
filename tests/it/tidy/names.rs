//! One name for one thing: no type name in two modules right under `src`, no file name twice outside the
//! folders that repeat one word per feature, and no file that belongs to two crates.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::source::Source;

/// Modules with one file per feature, where the same word in each is what a reader looks for.
const BY_FEATURE: [&str; 7] = ["api", "app", "cli", "compat", "config", "store", "web"];

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
    let mut findings = Vec::new();
    for (name, places) in shared {
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
        let is_common = ["lib.rs", "mod.rs", "tests.rs"].contains(&name);
        if !is_common && !source.path.contains("/tests/") && !BY_FEATURE.contains(&module) {
            places.entry(name).or_default().push(source);
        }
    }
    places.retain(|_, sources| sources.len() > 1);
    let mut findings = Vec::new();
    for (name, sources) in places {
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
    for source in sources {
        for mark in source.macros_and_attributes().iter().filter(|mark| mark.what == "#path") {
            let rule = "`#[path]` includes a file of another crate: link a library that holds it";
            findings.push(source.finding(mark.line, rule.to_owned()));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(findings: Vec<Finding>) -> Vec<String> {
        findings.into_iter().map(|one| format!("{}:{} {}", one.path, one.line, one.rule)).collect()
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
}
