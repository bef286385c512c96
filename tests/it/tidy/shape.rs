//! The shape of files: how long, how they open, what is left unfinished, that the two folders of
//! migrations are twins, and that no two shapes of the API share a name. It does not read what code does.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::source::Source;

const MAX_LINES: usize = 500;
const MAX_ARCHITECTURE_LINES: usize = 200;

/// Length, opening and unfinished work of one Rust file.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = source.text.lines().count();
    if lines > MAX_LINES {
        let rule = format!(
            "{lines} lines, at most {MAX_LINES}: a file is one idea that a reader takes in at once; \
             split it by what its parts are about"
        );
        findings.push(source.finding(MAX_LINES + 1, rule));
    }
    let needs_introduction = ["src/", "crates/"].iter().any(|top| source.path.starts_with(top));
    if needs_introduction && !source.text.starts_with("//!") {
        let rule = "it opens with `//!` that says what it is, what it is not and what it keeps true: \
                    whoever opens it first needs exactly that";
        findings.push(source.finding(1, rule.to_owned()));
    }
    for mark in source.macros_and_attributes() {
        let why = match mark.what.as_str() {
            "todo!" | "unimplemented!" => "what is merged works; what is not there yet has no name",
            "#ignore" => "a test that does not run looks just like one that passes",
            _ => continue,
        };
        findings.push(source.finding(mark.line, format!("`{}`: {why}", mark.what)));
    }
    findings
}

/// `docs/ARCHITECTURE.md` stays short.
pub(super) fn check_architecture(text: &str) -> Vec<Finding> {
    let lines = text.lines().count();
    let rule = format!(
        "{lines} lines, at most {MAX_ARCHITECTURE_LINES}: a map is read by everybody once, details \
         stand in the files they are about"
    );
    let finding =
        Finding { path: "docs/ARCHITECTURE.md".to_owned(), line: MAX_ARCHITECTURE_LINES + 1, rule };
    if lines > MAX_ARCHITECTURE_LINES { vec![finding] } else { Vec::new() }
}

/// Both databases take the same steps, numbered 0001, 0002, … without a gap.
pub(super) fn check_migrations(
    sqlite: &BTreeSet<String>,
    postgres: &BTreeSet<String>,
) -> Vec<Finding> {
    let finding = |folder: &str, name: &str, rule: String| Finding {
        path: format!("migrations/{folder}/{name}"),
        line: 1,
        rule,
    };
    let mut findings = Vec::new();
    for (folder, here, there) in [("sqlite", sqlite, postgres), ("postgres", postgres, sqlite)] {
        for name in here.difference(there) {
            let rule = "only one of the two databases takes this step: a store of one kind could not \
                        be copied to the other any more";
            findings.push(finding(folder, name, rule.to_owned()));
        }
        for (number, name) in (1..).zip(here) {
            let named = name.strip_suffix(".sql").and_then(|name| name.split_once('_'));
            if named.is_none_or(|(first, _)| first != format!("{number:04}")) {
                let rule = format!(
                    "it should be called {number:04}_….sql: steps run in the order of their numbers, and \
                     a gap or a second one with the same number is two branches that met"
                );
                findings.push(finding(folder, name, rule));
                break;
            }
        }
    }
    findings
}

/// Every type of the API's document has a name of its own.
pub(super) fn check_schemas(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut known = BTreeMap::new();
    for source in sources {
        let mut is_schema = false;
        for (number, line) in (1..).zip(source.text.lines()) {
            is_schema |= line.starts_with("#[derive(") && line.contains("ToSchema");
            let mut words = line.split(|letter: char| !letter.is_alphanumeric());
            let Some(name) = words.find(|word| ["struct", "enum"].contains(word)) else { continue };
            let name = words.next().unwrap_or(name);
            if !std::mem::take(&mut is_schema) {
                continue;
            }
            if let Some(first) = known.insert(name, &source.path) {
                let rule = format!(
                    "`{name}` is a shape of the API in {first} already: the document has one place for \
                     a name, so one of the two would be described as the other"
                );
                findings.push(source.finding(number, rule));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_shapes_of_one_name_are_found() {
        let file = |path: &str, text: &str| Source::new(path, text);
        let shape = "#[derive(Debug, ToSchema)]\n#[serde(untagged)]\npub(crate) struct Body {\n}";
        let other = "#[derive(ToSchema)]\nenum Body {}";
        let found = check_schemas(&[file("src/api/a.rs", shape), file("src/api/b.rs", other)]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("src/api/b.rs", 2));
        assert!(found[0].rule.contains("`Body` is a shape of the API in src/api/a.rs already"));
        let inner = "#[derive(Debug)]\nstruct Body;\n#[derive(ToSchema)]\nstruct Other;";
        assert_eq!(check_schemas(&[file("src/api/a.rs", shape), file("src/app/a.rs", inner)]), []);
    }

    fn rules(path: &str, text: &str) -> Vec<String> {
        check(&Source::new(path, text)).into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn a_long_file_is_found() {
        let text = format!("//! A.\n{}", "\n".repeat(MAX_LINES));
        assert!(rules("src/a.rs", &text)[0].starts_with("501 lines"));
        assert!(rules("tests/it/a.rs", &text)[0].starts_with("501 lines"));
        assert_eq!(rules("src/a.rs", &format!("//! A.\n{}", "\n".repeat(MAX_LINES - 1))).len(), 0);
    }

    #[test]
    fn a_file_that_does_not_say_what_it_is_is_found() {
        assert!(rules("src/a.rs", "use b::c;\n//! Late.")[0].contains("opens with `//!`"));
        assert!(rules("crates/core/src/a.rs", "use b::c;")[0].contains("opens with `//!`"));
        assert_eq!(rules("tests/it/a.rs", "use b::c;").len(), 0);
    }

    #[test]
    fn unfinished_work_is_found_in_tests_as_well() {
        for text in ["fn f() { g(todo! {}) }", "fn f() { unimplemented! {} }"] {
            assert!(rules("src/a.rs", &format!("//! A.\n{text}"))[0].contains("what is merged"));
        }
        for text in ["#[test] # [ignore] fn f() {}", "mod m { # [ignore = \"slow\"] fn f() {} }"] {
            assert!(rules("tests/it/a.rs", text)[0].contains("does not run"));
        }
        assert_eq!(rules("src/a.rs", "//! A.\n// todo\nfn todo() { ignore(\"a\") }").len(), 0);
    }

    #[test]
    fn a_long_map_is_found() {
        assert_eq!(check_architecture(&"line\n".repeat(200)), []);
        assert!(check_architecture(&"line\n".repeat(201))[0].rule.starts_with("201 lines"));
    }

    #[test]
    fn migrations_that_are_no_twins_or_leave_a_gap_are_found() {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let check = |a: &[&str], b: &[&str]| check_migrations(&set(a), &set(b));
        assert_eq!(check(&["0001_a.sql", "0002_b.sql"], &["0001_a.sql", "0002_b.sql"]), []);
        let one = check(&["0001_a.sql", "0002_b.sql"], &["0001_a.sql"]);
        assert_eq!(one.len(), 1);
        assert_eq!(one[0].path, "migrations/sqlite/0002_b.sql");
        assert!(one[0].rule.contains("only one of the two"));
        for names in [["0001_a.sql", "0003_b.sql"], ["0001_a.sql", "0001_b.sql"]] {
            assert!(check(&names, &names)[0].rule.contains("0002_….sql"), "{names:?}");
        }
    }
}
