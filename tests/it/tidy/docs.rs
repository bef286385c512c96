//! What the documentation names exists: paths, modules, types, SQL tables and columns, cargo targets in
//! backticks, and every relative link with its anchor. A name that was changed in the code and not in
//! the docs fails here. It does not read what the docs say about a name.
//!
//! Rules for a word in backticks:
//! - a path (`redirect/answer.rs`, `store/`, `./scripts/test`) is one from the top, from the page, or the
//!   end of one outside of the tests;
//! - a name in a column headed `module`, or after the word "module", is below the sources of a crate;
//! - `a::b::Type` names a module and words of the code;
//! - `table.column`, a name in a column headed `table` and a name after the word "table" are in the
//!   migrations, and docs/ARCHITECTURE.md names every table;
//! - `--bench NAME` and `--test NAME` are targets of a Cargo.toml;
//! - any other identifier that stands alone is a word of the code, the migrations or the scripts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use super::{Finding, assert_tidy, files, top};

/// Names of other programs, files of users and parts of examples.
const OUTSIDE: &[&str] = &[
    "KeyError",
    "artifacts/",
    "awk",
    "click_count",
    "click_event",
    "is_active",
    "is_deleted",
    "kurz.toml",
    "kurz::access",
    "pg_restore",
    "short_link",
    "xxe",
];

/// Folders that hold no source.
const SKIPPED: &[&str] = &[".git", "target", "fuzz/target", "fuzz/artifacts", "fuzz/coverage"];
const EXTENSIONS: &[&str] =
    &["css", "html", "js", "json", "jsonl", "lua", "md", "rs", "sql", "svg", "toml", "txt", "yaml"];

/// What exists.
#[derive(Default)]
struct Tree {
    /// Files and folders, from the top, with `/` between.
    paths: BTreeSet<String>,
    /// Identifiers of code, migrations and scripts, without comments.
    words: BTreeSet<String>,
    /// Tables and views with their columns.
    tables: BTreeMap<String, BTreeSet<String>>,
    /// Tests and benches of cargo.
    targets: BTreeSet<String>,
    /// Headings of the pages, as anchors.
    anchors: BTreeMap<String, BTreeSet<String>>,
}

impl Tree {
    fn add_path(&mut self, path: &str) {
        let mut ancestors = Path::new(path).ancestors();
        let names = ancestors.by_ref().filter_map(Path::to_str).filter(|name| !name.is_empty());
        self.paths.extend(names.map(str::to_owned));
    }

    fn add_code(&mut self, text: &str) {
        for line in text.lines() {
            let line = line.trim_start();
            if !["//", "--"].iter().any(|comment| line.starts_with(comment)) {
                self.words.extend(words(line).map(str::to_owned));
            }
        }
    }

    /// What a migration creates, adds and renames.
    fn add_migration(&mut self, text: &str) {
        let mut table = None;
        for line in text.lines() {
            let all: Vec<&str> = words(line).collect();
            match all.as_slice() {
                ["create", "table" | "view", name, ..]
                | ["create", "virtual", "table", name, ..] => {
                    let columns = self.tables.entry((*name).to_owned()).or_default();
                    // The columns of a view stand after `as` in its one line.
                    columns
                        .extend(all.windows(2).filter(|w| w[0] == "as").map(|w| w[1].to_owned()));
                    table = line.trim_end().ends_with('(').then(|| (*name).to_owned());
                }
                ["alter", "table", name, "add", "column", column, ..] => {
                    self.tables.entry((*name).to_owned()).or_default().insert((*column).to_owned());
                }
                ["alter", "table", name, "rename", "column", old, "to", new] => {
                    let columns = self.tables.entry((*name).to_owned()).or_default();
                    columns.remove(*old);
                    columns.insert((*new).to_owned());
                }
                ["alter", "table", name, "rename", "to", new] => {
                    let columns = self.tables.remove(*name).unwrap_or_default();
                    self.tables.insert((*new).to_owned(), columns);
                }
                [column, ..] if line.starts_with(' ') && table.is_some() => {
                    let name = table.clone().unwrap_or_default();
                    self.tables.entry(name).or_default().insert((*column).to_owned());
                }
                _ => table = None,
            }
        }
    }

    fn add_targets(&mut self, manifest: &str) {
        let names = manifest.lines().filter_map(|line| line.strip_prefix("name = \""));
        self.targets.extend(names.filter_map(|name| name.strip_suffix('"')).map(str::to_owned));
    }

    fn add_page(&mut self, path: &str, text: &str) {
        let headings = outside_of_fences(text).filter_map(|(_, line)| line.strip_prefix('#'));
        let anchors = headings.map(|heading| anchor(heading.trim_start_matches('#')));
        self.anchors.insert(path.to_owned(), anchors.collect());
    }

    fn has_path(&self, path: &str) -> bool {
        let end = format!("/{path}");
        let is_elsewhere =
            |known: &str| ["tests/", "benches/", "docs/"].iter().any(|top| known.starts_with(top));
        let mut ours = self.paths.iter().filter(|known| !is_elsewhere(known));
        self.paths.contains(path) || ours.any(|known| known.ends_with(&end))
    }

    fn has_module(&self, path: &str) -> bool {
        ["", ".rs", "/mod.rs"].iter().any(|end| self.has_path(&format!("{path}{end}")))
    }

    /// Why `word`, a path in backticks on `page`, leads nowhere.
    fn missing_path(&self, page: &str, word: &str) -> Option<String> {
        let name = word.strip_prefix("./").unwrap_or(word).trim_end_matches('/');
        let is_found =
            if word.ends_with('/') { self.has_path(name) } else { self.has_module(name) };
        let is_there = !is_path(word) || is_found || self.paths.contains(&resolve(page, name));
        (!is_there).then(|| format!("there is no path `{word}`"))
    }

    /// Why `word`, which stands alone in backticks, names nothing; `None` when it does, or is no name.
    fn missing_name(&self, word: &str) -> Option<String> {
        if let Some((table, column)) = word.split_once('.')
            && let Some(columns) = self.tables.get(table)
        {
            let found = columns.contains(column);
            return (!found).then(|| format!("the table `{table}` has no column `{column}`"));
        }
        let parts: Vec<&str> = word.split("::").collect();
        if !parts.iter().all(|part| is_identifier(part)) {
            return None;
        }
        if let [path @ .., last] = parts.as_slice()
            && !path.is_empty()
        {
            let is_type = |name: &&&str| name.starts_with(|first: char| first.is_uppercase());
            let modules: Vec<&str> =
                path.iter().take_while(|part| !is_type(part)).copied().collect();
            let is_found = modules.is_empty() || self.has_module(&modules.join("/"));
            let known = |part: &&str| self.words.contains(*part) || self.has_module(part);
            let is_known = path.iter().skip(modules.len()).chain([last]).all(known);
            return (!is_found || !is_known).then(|| format!("there is no `{word}`"));
        }
        // Placeholders (`EMAIL`, `W`) and header fields (`Location`) are not ours.
        let is_ours = word.starts_with(|first: char| first.is_ascii_lowercase())
            || word.contains(|letter: char| letter.is_ascii_lowercase())
                && word.chars().skip(1).any(|letter| letter.is_ascii_uppercase());
        let is_known =
            self.words.contains(word) || self.tables.contains_key(word) || self.has_module(word);
        (is_ours && !is_known).then(|| format!("nothing in the code is called `{word}`"))
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
}

fn is_identifier(word: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    word.starts_with(|first: char| first.is_ascii_alphabetic()) && word.chars().all(is_part)
}

/// A path in the repository: with a `/` inside or at its end, or with the extension of a source.
fn is_path(word: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
    let is_elsewhere = word.starts_with(|first: char| first == '/' || first.is_ascii_digit())
        || ["application/", "text/", "target/"].iter().any(|start| word.starts_with(start))
        || word.contains("//");
    let extension = Path::new(word).extension().and_then(|end| end.to_str());
    !is_elsewhere
        && word.chars().all(is_part)
        && word.contains(|letter: char| letter.is_ascii_alphabetic())
        && (word.contains('/') || extension.is_some_and(|end| EXTENSIONS.contains(&end)))
}

/// GitHub's anchor of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// Lines with their numbers, without those of code blocks.
fn outside_of_fences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_inside = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_inside ^= is_fence;
        !is_inside && !is_fence
    })
}

/// The texts in backticks, each with the text before it.
fn spans(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts: Vec<&str> = line.split('`').collect();
    (1..parts.len().saturating_sub(1)).step_by(2).map(move |at| (parts[at - 1], parts[at]))
}

/// The targets of Markdown's links and images.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// `path` from the folder of `page`, without `..`.
fn resolve(page: &str, path: &str) -> String {
    let mut whole = PathBuf::from(page);
    whole.pop();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            Component::Normal(name) => whole.push(name),
            _ => {}
        }
    }
    whole.to_str().unwrap_or_default().to_owned()
}

/// Every name and link of one page.
fn check(page: &str, text: &str, tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut find = |line: usize, rule: String| {
        findings.push(Finding { path: page.to_owned(), line, rule });
    };
    let mut columns: Vec<String> = Vec::new();
    for (number, line) in outside_of_fences(text) {
        let cells: Vec<&str> = line.split(" | ").collect();
        if !line.starts_with('|') {
            columns.clear();
        } else if columns.is_empty() {
            columns = cells.iter().map(|cell| cell.trim_matches([' ', '|']).to_owned()).collect();
        }
        for (cell, column) in
            cells.iter().zip(columns.iter().chain(std::iter::repeat(&String::new())))
        {
            for (before, span) in spans(cell) {
                let words = span.split_whitespace().filter(|word| !is_excused(word));
                words
                    .filter_map(|word| tree.missing_path(page, word))
                    .for_each(|rule| find(number, rule));
                if !is_excused(span)
                    && !is_path(span)
                    && let Some(rule) = tree.missing_name(span)
                {
                    find(number, rule);
                }
                let before = before.split_whitespace().next_back().unwrap_or_default();
                let is_table = (column == "table" || before == "table")
                    && is_identifier(span)
                    && !tree.tables.contains_key(span);
                if is_table && !is_excused(span) {
                    find(number, format!("the migrations have no table `{span}`"));
                }
                // A module right below the sources of a crate, or a path from there.
                let name = format!("src/{}", span.trim_end_matches('/'));
                let is_module = (column == "module" || before == "module")
                    && (is_path(span) || is_identifier(span));
                if is_module && !is_excused(span) && !tree.has_module(&name) {
                    find(number, format!("there is no module `{span}`"));
                }
            }
        }
        for link in links(line).filter(|link| !link.contains(':')) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let path = if path.is_empty() { page.to_owned() } else { resolve(page, path) };
            if !tree.paths.contains(&path) {
                find(number, format!("the link `{link}` leads nowhere"));
            } else if !anchor.is_empty()
                && !tree.anchors.get(&path).is_some_and(|all| all.contains(anchor))
            {
                find(number, format!("the link `{link}` names a heading that is not there"));
            }
        }
    }
    // Commands: in code blocks too.
    for (number, line) in (1..).zip(text.lines()) {
        let all: Vec<&str> = line.split([' ', '`']).collect();
        for pair in all.windows(2).filter(|pair| ["--bench", "--test"].contains(&pair[0])) {
            if !tree.targets.contains(pair[1]) && !is_excused(pair[1]) {
                find(number, format!("cargo has no target `{}`", pair[1]));
            }
        }
        for word in all.iter().filter(|word| word.starts_with("./") && is_path(word)) {
            if let Some(rule) = tree.missing_path("", word) {
                find(number, rule);
            }
        }
    }
    findings.sort_by_key(|finding| finding.line);
    findings.dedup();
    findings
}

fn is_excused(word: &str) -> bool {
    OUTSIDE.contains(&word)
}

/// The repository, and its pages with their texts.
static REPOSITORY: LazyLock<(Tree, Vec<(String, String)>)> = LazyLock::new(read_repository);

fn read_repository() -> (Tree, Vec<(String, String)>) {
    let mut tree = Tree::default();
    let mut pages = Vec::new();
    let skipped: Vec<PathBuf> = SKIPPED.iter().map(|name| top().join(name)).collect();
    let mut folders = vec![top().to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if skipped.contains(&path) {
                continue;
            }
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    // Migrations in their order.
    found.sort();
    for file in found {
        let path = file.strip_prefix(top()).unwrap().to_str().unwrap().to_owned();
        tree.add_path(&path);
        let extension = file.extension().and_then(|end| end.to_str()).unwrap_or_default();
        // Its own examples, inputs and generated texts prove nothing.
        let is_data = ["db", "json", "jsonl", "lock", "png", "svg", "txt"].contains(&extension);
        if is_data || path == "tests/it/tidy/docs.rs" || path.starts_with("fuzz/corpus") {
            continue;
        }
        let Ok(text) = fs::read_to_string(&file) else { continue };
        match extension {
            "md" if !path.starts_with('.') => {
                tree.add_page(&path, &text);
                pages.push((path, text));
            }
            _ => tree.add_code(&text),
        }
    }
    for file in files(&top().join("migrations")) {
        tree.add_migration(&fs::read_to_string(file).unwrap());
    }
    for manifest in ["Cargo.toml", "crates/core/Cargo.toml"] {
        tree.add_targets(&fs::read_to_string(top().join(manifest)).unwrap());
    }
    (tree, pages)
}

#[test]
fn paths_modules_tables_and_links_of_the_docs_exist() {
    let (tree, pages) = &*REPOSITORY;
    assert!(pages.len() > 20, "the walk finds the pages");
    let findings = pages.iter().flat_map(|(page, text)| check(page, text, tree));
    assert_tidy(&findings.collect::<Vec<_>>());
}

#[test]
fn the_architecture_names_every_table() {
    let (tree, _) = &*REPOSITORY;
    let text = fs::read_to_string(top().join("docs/ARCHITECTURE.md")).unwrap();
    let tables = tree.tables.keys().filter(|name| !text.contains(&format!("`{name}`")));
    // The clock is a view, and belongs to the locks.
    let missing: Vec<&String> = tables.filter(|name| *name != "database_clock").collect();
    assert!(missing.is_empty(), "docs/ARCHITECTURE.md does not name {missing:?}");
}

#[test]
fn a_stale_name_is_found() {
    let mut tree = Tree::default();
    for path in ["src/store/links.rs", "src/cache/mod.rs", "scripts/test", "docs/A.md"] {
        tree.add_path(path);
    }
    tree.add_code("pub(crate) struct CachedLink { target: u8 }\n// ledger\nfn load() {}");
    tree.add_migration("create table links (\n    id integer,\n    code text\n);\n");
    tree.add_migration(
        "alter table links add column seal bigint;\ncreate view now as select 1 as ms;",
    );
    tree.add_targets("[[bench]]\nname = \"gate\"\n");
    tree.add_page("docs/A.md", "# First\n\n## Two words, and `code`\n");
    let rules = |text: &str| {
        let found = check("docs/A.md", text, &tree).into_iter().map(|finding| finding.rule);
        found.collect::<Vec<_>>().join("; ")
    };
    for good in [
        "`store/links.rs`, `src/store/`, `cache/`, `./scripts/test quick`, `links.rs`",
        "`cache::CachedLink`, `CachedLink::load`, `cache`, `links.seal`, the table `links`",
        "| module | table |\n|---|---|\n| `cache` | `links`, `now` |",
        "[a](A.md#two-words-and-code), [b](../scripts/test), [c](#first), [d](https://x.example/y)",
        "`cargo bench --bench gate`, `/api/v1`, `application/json`, `POST`, `Location`, `{code}+`",
    ] {
        assert_eq!(rules(good), "", "{good}");
    }
    for (bad, words) in [
        ("`store/shelf.rs`", "there is no path `store/shelf.rs`"),
        ("`ledger/`", "there is no path `ledger/`"),
        ("`./scripts/tests`", "there is no path `./scripts/tests`"),
        ("`ledger`", "nothing in the code is called `ledger`"),
        ("`NearCache`", "nothing in the code is called `NearCache`"),
        ("`ledger::CachedLink`", "there is no `ledger::CachedLink`"),
        ("`cache::Entry`", "there is no `cache::Entry`"),
        ("`links.shelf`", "the table `links` has no column `shelf`"),
        ("the table `load`", "the migrations have no table `load`"),
        ("| table |\n|---|\n| `target` |", "the migrations have no table `target`"),
        ("| module |\n|---|\n| `load` |", "there is no module `load`"),
        ("[a](B.md)", "the link `B.md` leads nowhere"),
        ("[a](A.md#third)", "names a heading that is not there"),
        ("```sh\ncargo bench --bench campaign\n```", "cargo has no target `campaign`"),
        ("```sh\n./scripts/tests\n```", "there is no path `./scripts/tests`"),
    ] {
        assert!(rules(bad).contains(words), "{bad}: {}", rules(bad));
    }
}
