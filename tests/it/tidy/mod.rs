//! The rules of the house, as tests over the repository's own files. A rule lives here when neither the
//! compiler nor clippy can hold it; each says why it is there when it fails, and each checker is shown
//! to fail on a made-up file beside it.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use source::Source;

mod docs;
mod imports;
mod names;
mod shape;
mod source;
mod threats;
mod words;

/// A rule that a file breaks, and where.
#[derive(Clone, Debug, PartialEq)]
struct Finding {
    path: String,
    line: usize,
    rule: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.rule)
    }
}

impl Source {
    fn finding(&self, line: usize, rule: String) -> Finding {
        Finding { path: self.path.clone(), line, rule }
    }
}

#[track_caller]
fn assert_tidy(findings: &[Finding]) {
    let lines = findings.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert!(lines.is_empty(), "the house is not tidy:\n  {}\n", lines.join("\n  "));
}

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file under `folder`; none when it does not exist.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// Every Rust file of the program and its tests.
fn sources() -> Vec<Source> {
    let sources = sources_in(&["src", "crates", "tests"]);
    for library in ["src/lib.rs", "crates/core/src/lib.rs"] {
        assert!(sources.iter().any(|one| one.path == library), "the walk finds {library}");
    }
    sources
}

/// Every Rust file under these folders.
fn sources_in(folders: &[&str]) -> Vec<Source> {
    let paths: Vec<PathBuf> =
        folders.iter().flat_map(|folder| files(&top().join(folder))).collect();
    let rust = paths.iter().filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let sources = rust.map(|path| {
        let name = path.strip_prefix(top()).unwrap().to_str().unwrap();
        Source::new(name, &fs::read_to_string(path).unwrap())
    });
    sources.collect()
}

#[track_caller]
fn assert_all_tidy(check: fn(&Source) -> Vec<Finding>) {
    assert_tidy(&sources().iter().flat_map(check).collect::<Vec<_>>());
}

#[test]
fn imports_run_in_one_direction() {
    assert_all_tidy(imports::check);
}

#[test]
fn time_environment_databases_and_waiting_stay_where_they_belong() {
    assert_all_tidy(words::check);
}

#[test]
fn sql_stays_in_the_store() {
    assert_all_tidy(words::check_sql);
}

#[test]
fn files_are_short_introduced_and_finished() {
    assert_all_tidy(shape::check);
}

#[test]
fn every_shape_of_the_api_has_a_name_of_its_own() {
    assert_tidy(&shape::check_schemas(&sources()));
}

#[test]
fn a_type_name_belongs_to_one_module() {
    assert_tidy(&names::check_types(&sources()));
}

#[test]
fn a_file_name_is_there_once_outside_the_folders_with_one_file_per_feature() {
    assert_tidy(&names::check_files(&sources()));
}

#[test]
fn no_file_is_included_by_path() {
    assert_tidy(&names::check_paths(&sources_in(&[
        "tests",
        "fuzz/src",
        "fuzz/fuzz_targets",
        "benches",
    ])));
}

#[test]
fn the_map_fits_on_a_few_screens() {
    let text = fs::read_to_string(top().join("docs/ARCHITECTURE.md")).unwrap_or_default();
    assert_tidy(&shape::check_architecture(&text));
}

#[test]
fn both_databases_take_the_same_steps() {
    let names = |folder: &str| {
        let files = files(&top().join("migrations").join(folder));
        let names = files.iter().map(|file| file.file_name().unwrap().to_str().unwrap().to_owned());
        names.collect::<BTreeSet<_>>()
    };
    assert_tidy(&shape::check_migrations(&names("sqlite"), &names("postgres")));
}
