//! The page of threats names the tests for each threat, and names those that there are. A test for a
//! threat has the threat's id in a line above its attributes, and the page is written from these lines:
//!
//! ```text
//! // threats: A1, B12
//! #[test]
//! fn hostile_targets_are_refused() {
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use super::source::Source;
use super::{Finding, assert_all_tidy, files, top};

/// How many threats there are of each kind.
const KINDS: [(char, usize); 8] =
    [('A', 17), ('B', 12), ('C', 18), ('D', 12), ('E', 15), ('F', 10), ('G', 12), ('H', 16)];
/// What stands in place of tests where a threat meets nothing that kurz has.
const NONE: &str = "does not apply";
/// What a line with ids begins with.
const MARK: &str = "// threats: ";

fn is_id(text: &str) -> bool {
    KINDS.iter().any(|(kind, most)| {
        let number = text.strip_prefix(*kind).and_then(|number| number.parse::<usize>().ok());
        number.is_some_and(|number| (1..=*most).contains(&number))
    })
}

/// The tests of a file that have threats: the line of the ids, the ids, and the test's name, or `None`
/// where no test follows.
fn marked(text: &str) -> Vec<(usize, Vec<&str>, Option<&str>)> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(ids) = line.strip_prefix(MARK) else { continue };
        let next = lines.iter().skip(at + 1).find(|line| !line.starts_with("#["));
        found.push((at + 1, ids.split(", ").collect(), next.and_then(|line| test_name(line))));
    }
    found
}

/// The name of the function that a line begins, or of the entry in a table of tests.
fn test_name(line: &str) -> Option<&str> {
    if let Some(entry) = line.strip_prefix("(\"") {
        return entry.split_once('"').map(|(name, _)| name);
    }
    let (before, after) = line.split_once("fn ")?;
    let is_head = before.split_whitespace().all(|word| word == "async");
    let end = after.find(['(', '<'])?;
    is_head.then(|| after.split_at(end).0)
}

/// Lines of ids that are wrong or stand above no test, and names of tests that begin with an id.
fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, ids, test) in marked(&source.text) {
        if let Some(id) = ids.iter().find(|id| !is_id(id)) {
            findings.push(source.finding(line, format!("there is no threat `{id}`")));
        }
        if test.is_none() {
            let rule = "no test follows: the line stands directly above the test's attributes";
            findings.push(source.finding(line, rule.to_owned()));
        }
    }
    let mut is_test = false;
    for (line, text) in (1..).zip(source.text.lines().map(str::trim)) {
        is_test |= ["#[test]", "#[tokio::test"].iter().any(|test| text.starts_with(test));
        let Some(name) = test_name(text) else { continue };
        let first = name.split('_').next().unwrap_or_default().to_uppercase();
        if std::mem::take(&mut is_test) && is_id(&first) {
            let rule =
                format!("`{name}` begins with a threat: write `{MARK}{first}` above the test");
            findings.push(source.finding(line, rule));
        }
    }
    findings
}

#[test]
fn threats_stand_in_a_line_above_tests() {
    assert_all_tidy(check);
}

/// The page with the last cell of each threat's row as the code says.
fn with_tests(page: &str, tests: &BTreeMap<String, Vec<String>>) -> String {
    let mut written = String::new();
    for line in page.lines() {
        let mut cells = line.split(" | ");
        let id = cells.next().and_then(|cell| cell.strip_prefix("| "));
        match (id, cells.next()) {
            (Some(id), Some(answer)) if is_id(id) => {
                let named =
                    tests.get(id).map_or_else(|| NONE.to_owned(), |names| names.join(" · "));
                writeln!(written, "| {id} | {answer} | {named} |").unwrap();
            }
            _ => writeln!(written, "{line}").unwrap(),
        }
    }
    written
}

/// The page, and how a link from it gets to the top of the repository.
fn page() -> (PathBuf, &'static str) {
    (top().join("docs/evidence/THREATS.md"), "../..")
}

#[test]
fn every_threat_has_its_row_and_its_tests() {
    let (path, up) = page();
    let page = fs::read_to_string(&path).unwrap();
    let mut tests = BTreeMap::<String, Vec<String>>::new();
    for file in ["src", "crates", "tests"].map(|folder| files(&top().join(folder))).concat() {
        if file.extension().is_none_or(|end| end != "rs") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let place = file.strip_prefix(top()).unwrap().display().to_string();
        for (_, ids, test) in marked(&text) {
            let link = format!("[`{}`]({up}/{place})", test.unwrap_or_default());
            for id in ids {
                let names = tests.entry(id.to_owned()).or_default();
                if !names.contains(&link) {
                    names.push(link.clone());
                }
            }
        }
    }
    for names in tests.values_mut() {
        names.sort();
    }
    let written = with_tests(&page, &tests);
    #[expect(clippy::disallowed_methods, reason = "the developer's word to this test alone")]
    let update = std::env::var("UPDATE_DOCS").is_ok();
    if update {
        fs::write(&path, &written).unwrap();
    } else {
        let first = page.lines().zip(written.lines()).find(|(is, should)| is != should);
        assert!(
            first.is_none(),
            "{} is not what the tests say: run UPDATE_DOCS=1 cargo test --test it threats\n{first:?}",
            path.display()
        );
    }

    let all =
        KINDS.iter().flat_map(|(kind, count)| (1..=*count).map(move |at| format!("{kind}{at}")));
    for id in all {
        let start = format!("| {id} | ");
        let rows: Vec<&str> = written.lines().filter(|line| line.starts_with(&start)).collect();
        assert_eq!(rows.len(), 1, "{id} has one row");
        let is_excused = rows[0].contains("Kurz has no");
        assert_eq!(
            tests.contains_key(&id),
            !is_excused,
            "{id} has tests, or kurz has no such thing"
        );
    }
}

#[test]
fn a_row_that_names_other_tests_is_found() {
    let text = [
        "// threats: A1, B12\n#[tokio::test]\nasync fn one() {",
        "// threats: C3\nfn two<T>() {",
        "// threats: D4\n(\"three\", run),",
        "// threats: E5\nlet four = 4;",
    ]
    .join("\n");
    let found: Vec<_> = marked(&text).into_iter().map(|(_, ids, test)| (ids, test)).collect();
    assert_eq!(found[0], (vec!["A1", "B12"], Some("one")));
    assert_eq!(found[1], (vec!["C3"], Some("two")));
    assert_eq!(found[2], (vec!["D4"], Some("three")));
    assert_eq!(found[3], (vec!["E5"], None));
    let tests = BTreeMap::from([("A1".to_owned(), vec!["`one`".to_owned()])]);
    let page = "| A1 | refused | `other` |\n| A2 | refused | `gone` |\nText.\n";
    let right = "| A1 | refused | `one` |\n| A2 | refused | does not apply |\nText.\n";
    assert_eq!(with_tests(page, &tests), right);
}

#[test]
fn a_line_of_ids_that_is_wrong_and_a_name_with_an_id_are_found() {
    let rules = |text: &str| -> Vec<String> {
        check(&Source::new("src/a.rs", text)).into_iter().map(|finding| finding.rule).collect()
    };
    assert_eq!(rules("// threats: A1\n#[test]\nfn one() {}\nfn h2_get() {}"), [""; 0]);
    assert_eq!(rules("// threats: A99\n#[test]\nfn one() {}"), ["there is no threat `A99`"]);
    assert!(rules("// threats: A1\nstruct One;")[0].starts_with("no test follows"));
    assert!(rules("#[test]\nfn a1_one() {}")[0].contains("begins with a threat"));
}
