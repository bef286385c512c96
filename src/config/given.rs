//! What was given, and where: the layers file < environment < command line, laid over each other.
//! It knows which names exist, not what they mean.
//!
//! Invariant: a name that no setting has never gets in, so a typing error stops the start instead
//! of being ignored.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::error::ConfigError;
use super::rule::ValueForm;
use super::setting::{Declared, Default, PREFIX, Setting};

/// Variables that kurz knows and that are not settings of the server: the first two are read by
/// the client subcommands, the third names the file.
const NOT_SETTINGS: [&str; 3] = ["KURZ_URL", "KURZ_API_KEY", "KURZ_CONFIG"];

/// A configuration file holds a few dozen short lines; more is a mistake, and memory has an end.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// A value as it was written.
#[derive(Clone, Debug)]
enum Written {
    Text(String),
    Number(i64),
    Flag(bool),
    /// A type that no setting has, in words.
    Other(&'static str),
}

/// All values given, by key.
#[derive(Debug)]
pub(super) struct Given {
    settings: Vec<Setting>,
    values: BTreeMap<&'static str, GivenValue>,
}

#[derive(Debug)]
struct GivenValue {
    /// The setting as the user wrote it.
    setting: String,
    /// Text that came without types: from the environment or the command line.
    untyped: bool,
    written: Written,
}

impl Given {
    /// Nothing given yet, of these settings.
    pub(super) fn new(settings: Vec<Setting>) -> Self {
        Self { settings, values: BTreeMap::new() }
    }

    /// Lay a file over what there is.
    pub(super) fn add_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let text = read_file(path)?;
        let table: toml::Table = toml::from_str(&text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
            let reason = error.message().replace('\n', ", ");
            ConfigError::NotToml { path: path.to_owned(), line, reason }
        })?;
        for (name, value) in table {
            let setting = format!("{name} in {}", path.display());
            let key =
                self.find_key(&name).ok_or_else(|| self.unknown(&name, &setting, str::to_owned))?;
            let written = match value {
                toml::Value::String(text) => Written::Text(text),
                toml::Value::Integer(number) => Written::Number(number),
                toml::Value::Boolean(flag) => Written::Flag(flag),
                toml::Value::Float(_) => Written::Other("a number with a fraction"),
                toml::Value::Datetime(_) => Written::Other("a date"),
                toml::Value::Array(_) => Written::Other("a list"),
                toml::Value::Table(_) => Written::Other("a table"),
            };
            self.values.insert(key, GivenValue { setting, untyped: false, written });
        }
        Ok(())
    }

    /// Lay the variables over what there is; those of other programs are passed over.
    pub(super) fn add_environment<'a>(
        &mut self,
        variables: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<(), ConfigError> {
        for (name, text) in variables {
            let Some(rest) = name.strip_prefix(PREFIX) else { continue };
            if NOT_SETTINGS.contains(&name) {
                continue;
            }
            // `KURZ_listen` would name no variable that the documentation shows.
            let lower = rest.to_ascii_lowercase();
            let shouted = !rest.bytes().any(|byte| byte.is_ascii_lowercase());
            let key = self.find_key(&lower).filter(|_| shouted).ok_or_else(|| {
                let spell = |key: &str| format!("{PREFIX}{}", key.to_ascii_uppercase());
                self.unknown(&lower, name, spell)
            })?;
            self.insert_text(key, name.to_owned(), text);
        }
        Ok(())
    }

    /// Lay one flag of the command line over what there is.
    pub(super) fn add_flag(&mut self, key: &str, text: &str) -> Result<(), ConfigError> {
        let flag = |key: &str| format!("--{}", key.replace('_', "-"));
        let known = self.find_key(key).ok_or_else(|| self.unknown(key, &flag(key), flag))?;
        self.insert_text(known, flag(key), text);
        Ok(())
    }

    fn insert_text(&mut self, key: &'static str, setting: String, text: &str) {
        let written = Written::Text(text.to_owned());
        self.values.insert(key, GivenValue { setting, untyped: true, written });
    }

    fn find_key(&self, name: &str) -> Option<&'static str> {
        self.settings.iter().map(|setting| setting.key).find(|key| *key == name)
    }

    fn unknown(&self, name: &str, setting: &str, spell: impl Fn(&str) -> String) -> ConfigError {
        let near = self.settings.iter().map(|setting| (distance(name, setting.key), setting.key));
        let hint = match near.min() {
            Some((steps, key)) if steps <= 3 => format!(" (did you mean {}?)", spell(key)),
            _ => String::new(),
        };
        ConfigError::Unknown { setting: setting.to_owned(), hint }
    }

    /// The value of a setting: what was given last, or its default.
    pub(super) fn read<T: 'static>(
        &self,
        key: &'static str,
        declared: Declared<T>,
    ) -> Result<T, ConfigError> {
        let rule = declared.rule;
        let Some(value) = self.values.get(key) else {
            return Ok(match declared.default {
                Default::Text(text) => {
                    (rule.parse)(text).expect("a default keeps the bounds of its own setting")
                }
                Default::Absent { value, .. } => value,
            });
        };
        let text = value.text(rule.form);
        text.as_deref().and_then(&rule.parse).ok_or_else(|| ConfigError::Refused {
            setting: value.setting.clone(),
            value: value.shown(rule.hides),
            accepts: rule.accepts,
        })
    }
}

impl GivenValue {
    /// The value as text for a rule; `None` when the file gave it another type.
    fn text(&self, form: ValueForm) -> Option<String> {
        match (&self.written, form) {
            (Written::Text(_), ValueForm::Number) if !self.untyped => None,
            (Written::Text(text), _) => Some(text.clone()),
            (Written::Number(number), ValueForm::Number | ValueForm::TextOrNumber) => {
                Some(number.to_string())
            }
            (Written::Flag(flag), ValueForm::Switch) => Some(flag.to_string()),
            _ => None,
        }
    }

    /// The value as an error shows it.
    fn shown(&self, hides: fn(&str) -> bool) -> String {
        let (plain, shown) = match &self.written {
            Written::Text(text) => (text.clone(), format!("{text:?}")),
            Written::Number(number) => (number.to_string(), number.to_string()),
            Written::Flag(flag) => (flag.to_string(), flag.to_string()),
            Written::Other(words) => return (*words).to_owned(),
        };
        if hides(&plain) { "[hidden]".to_owned() } else { shown }
    }
}

fn read_file(path: &Path) -> Result<String, ConfigError> {
    let unreadable = |reason: String| ConfigError::Unreadable { path: path.to_owned(), reason };
    let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
    let mut text = String::new();
    file.take(MAX_FILE_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| unreadable(error.to_string()))?;
    let fits = u64::try_from(text.len()).is_ok_and(|length| length <= MAX_FILE_BYTES);
    if fits { Ok(text) } else { Err(unreadable("it is larger than 1 MiB".to_owned())) }
}

/// How many letters to add, drop or change to get from one name to the other.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.bytes().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, b) in row.iter_mut().skip(1).zip(to.bytes()) {
            left = (diagonal + usize::from(a != b)).min(*cell + 1).min(left + 1);
            diagonal = std::mem::replace(cell, left);
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(from.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_between_names_counts_letters() {
        let table =
            [("", "abc", 3), ("abc", "", 3), ("listen", "listen", 0), ("listn", "listen", 1)];
        for (from, to, steps) in table {
            assert_eq!(distance(from, to), steps, "{from} {to}");
        }
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
