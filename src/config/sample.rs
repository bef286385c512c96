//! Generates `deploy/kurz.toml`, the sample of a settings file, from the declarations of settings: every
//! setting with its default, commented out, so that a copy follows later defaults.
//!
//! Invariant: the committed file is up to date, and each of its lines is valid; tests check both.

use std::fmt::Write;

use super::sections;
use super::setting::{DocumentedDefault, Setting};
use super::value_parser::ValueForm;

const HEAD: &str = "\
# The settings of kurz with their defaults. Copy this file to kurz.toml in the folder that kurz runs in,
# or anywhere with --config FILE, and remove the # before what you change. docs/CONFIG.md says what each
# setting accepts. A setting in the environment (KURZ_ and the key in upper case) wins over this file.
# Generated from src/config: UPDATE_DOCS=1 cargo test --lib config::sample
";

/// A sample of a settings file.
pub fn sample() -> String {
    let mut page = HEAD.to_owned();
    for (title, settings) in sections() {
        let _ = writeln!(page, "\n## {title}");
        for setting in settings {
            let _ = write!(page, "\n# {}\n{}\n", setting.doc, line(&setting));
        }
    }
    page
}

fn line(setting: &Setting) -> String {
    let key = setting.key;
    match setting.default {
        DocumentedDefault::Value(text) => format!("#{key} = {}", value(setting.form, text)),
        DocumentedDefault::Description(description) => {
            format!("#{key} = \"\"    # not set: {description}")
        }
    }
}

/// The text of a default as TOML.
fn value(form: ValueForm, text: &str) -> String {
    match (form, text) {
        (ValueForm::Number, number) => number.to_owned(),
        (ValueForm::Switch, "on") => "true".to_owned(),
        (ValueForm::Switch, "off") => "false".to_owned(),
        (ValueForm::Switch, word) => word.to_owned(),
        (ValueForm::Text | ValueForm::TextOrNumber, text) => format!("\"{text}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Overrides};
    use super::*;

    const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/kurz.toml");

    #[test]
    fn the_committed_sample_is_up_to_date() {
        let page = sample();
        #[expect(clippy::disallowed_methods, reason = "a switch of this test, not a setting")]
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(PATH, &page).unwrap();
        }
        let committed = std::fs::read_to_string(PATH).unwrap_or_default();
        assert!(
            committed == page,
            "deploy/kurz.toml is out of date: run `UPDATE_DOCS=1 cargo test --lib config::sample`"
        );
    }

    #[test]
    fn every_line_of_the_sample_is_valid_and_says_the_default() {
        let page = sample();
        let settings: Vec<Setting> = sections().into_iter().flat_map(|(_, all)| all).collect();
        let is_key =
            |line: &str| settings.iter().any(|one| line.starts_with(&format!("{} =", one.key)));
        let lines: Vec<&str> = page
            .lines()
            .filter_map(|line| line.strip_prefix('#'))
            .filter(|line| is_key(line))
            .collect();
        assert_eq!(lines.len(), settings.len(), "each setting once");
        let given = lines.iter().copied().filter(|line| !line.contains("# not set: "));
        let text = given.collect::<Vec<_>>().join("\n");
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("kurz.toml"), text).unwrap();
        let none = std::iter::empty();
        let changed = Config::load(&Overrides::default(), none.clone(), folder.path()).unwrap();
        let default = Config::load(&Overrides::default(), none, "/nonexistent".as_ref()).unwrap();
        assert_eq!(format!("{changed:?}"), format!("{default:?}"));
        // As it is, it says nothing.
        std::fs::write(folder.path().join("kurz.toml"), &page).unwrap();
        let table: toml::Table = toml::from_str(&page).unwrap();
        assert!(table.is_empty());
    }
}
