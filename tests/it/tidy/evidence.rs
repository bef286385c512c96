//! `docs/EVIDENCE.md` names the tests for each threat, and names those that there are: whoever writes
//! a test for a threat begins its name with the threat's id, and the page follows.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use super::{SOURCES, files, top};

/// How many threats there are of each kind.
const KINDS: [(char, usize); 8] =
    [('a', 17), ('b', 12), ('c', 18), ('d', 12), ('e', 15), ('f', 10), ('g', 12), ('h', 16)];
/// What stands in place of tests where a threat meets nothing that kurz has.
const NONE: &str = "does not apply";

/// The ids that a name begins with: `a1_a2_schemes_are_refused` answers two.
fn ids(name: &str) -> Vec<&str> {
    let is_id = |part: &&str| {
        part.len() > 1
            && part.starts_with(|first: char| ('a'..='h').contains(&first))
            && part.chars().skip(1).all(|digit| digit.is_ascii_digit())
    };
    name.split('_').take_while(is_id).collect()
}

/// The names of the functions in a file.
fn functions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (before, after) = line.split_once("fn ")?;
        let is_head =
            before.split_whitespace().all(|word| word.starts_with("pub") || word == "async");
        let end = after.find(['(', '<'])?;
        is_head.then_some(&after[..end])
    })
}

/// The page with the last cell of each threat's row as the code says.
fn with_tests(page: &str, tests: &BTreeMap<String, Vec<String>>) -> String {
    let mut written = String::new();
    for line in page.lines() {
        let mut cells = line.split(" | ");
        let id = cells.next().and_then(|cell| cell.strip_prefix("| ")).map(str::to_lowercase);
        match (id, cells.next()) {
            (Some(id), Some(answer)) if ids(&id) == [id.as_str()] => {
                let named =
                    tests.get(&id).map_or_else(|| NONE.to_owned(), |names| names.join(" · "));
                writeln!(written, "| {} | {answer} | {named} |", id.to_uppercase()).unwrap();
            }
            _ => writeln!(written, "{line}").unwrap(),
        }
    }
    written
}

#[test]
fn every_threat_has_its_row_and_its_tests() {
    let path = top().join("docs/EVIDENCE.md");
    let page = fs::read_to_string(&path).unwrap();
    let mut tests = BTreeMap::<String, Vec<String>>::new();
    for file in SOURCES.map(|folder| files(&top().join(folder))).concat() {
        if file.extension().is_none_or(|end| end != "rs") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let place = file.strip_prefix(top()).unwrap().display().to_string();
        for function in functions(&text) {
            for id in ids(function) {
                let names = tests.entry(id.to_owned()).or_default();
                let link = format!("[`{function}`](../{place})");
                if !names.contains(&link) {
                    names.push(link);
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
            "docs/EVIDENCE.md is not what the tests say: run UPDATE_DOCS=1 cargo test --test it evidence\n{first:?}"
        );
    }

    let all =
        KINDS.iter().flat_map(|(kind, count)| (1..=*count).map(move |at| format!("{kind}{at}")));
    for id in all {
        let start = format!("| {} | ", id.to_uppercase());
        let rows: Vec<&str> = written.lines().filter(|line| line.starts_with(&start)).collect();
        assert_eq!(rows.len(), 1, "{id} has one row");
        let is_excused = rows[0].contains("Kurz has no");
        assert_eq!(
            tests.contains_key(&id),
            !is_excused,
            "{id} has tests, or kurz has no such thing"
        );
    }
    let is_known = |id: &str| {
        KINDS.iter().any(|(kind, most)| {
            id.strip_prefix(*kind).is_some_and(|at| at.parse().is_ok_and(|at: usize| at <= *most))
        })
    };
    assert!(
        tests.keys().all(|id| is_known(id)),
        "a test names a threat that there is none: {:?}",
        tests.keys()
    );
}

#[test]
fn a_row_that_names_other_tests_is_found() {
    assert_eq!(ids("a1_b12_what_it_shows"), ["a1", "b12"]);
    assert!(ids("a_link_is_made").is_empty());
    assert!(ids("g_1_x").is_empty());
    let text = "    async fn a1_one() {\n pub(crate) fn b2_two<T>() {\n // fn c3_three()\n";
    assert_eq!(functions(text).collect::<Vec<_>>(), ["a1_one", "b2_two"]);
    let tests = BTreeMap::from([("a1".to_owned(), vec!["`a1_one`".to_owned()])]);
    let page = "| A1 | refused | `a1_other` |\n| A2 | refused | `a2_gone` |\nText.\n";
    let right = "| A1 | refused | `a1_one` |\n| A2 | refused | does not apply |\nText.\n";
    assert_eq!(with_tests(page, &tests), right);
}
