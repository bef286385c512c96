//! The sources of values, merged: file < environment < command line. Values are parsed later, by the
//! setting that reads them.
//!
//! Invariant: an unknown name is an error, so that a typing error stops the start instead of being
//! ignored.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::error::ConfigError;
use super::kubernetes::is_service_variable;
use super::secret_file;
use super::setting::{Declaration, DefaultValue, PREFIX, Setting};
use super::value_parser::ValueForm;

/// Variables with our prefix that are not settings: the first three are read by the client subcommands,
/// the last names the file.
const NOT_SETTINGS: [&str; 4] = ["KURZ_URL", "KURZ_API_KEY", "KURZ_API_KEY_FILE", "KURZ_CONFIG"];

/// A configuration file has a few dozen short lines; a larger one is a mistake.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// A value before parsing.
#[derive(Clone, Debug)]
enum RawValue {
    Text(String),
    Integer(i64),
    Boolean(bool),
    /// The description of a type that no setting has.
    Other(&'static str),
}

/// The merged values, by key.
#[derive(Debug)]
pub(super) struct Layers {
    settings: Vec<Setting>,
    values: BTreeMap<&'static str, LayerValue>,
}

#[derive(Debug)]
struct LayerValue {
    /// The setting as the user wrote it.
    setting: String,
    /// From the environment or the command line, which have no types but text.
    untyped: bool,
    /// From the file of a secret: never shown.
    hidden: bool,
    raw: RawValue,
}

impl Layers {
    pub(super) fn new(settings: Vec<Setting>) -> Self {
        Self { settings, values: BTreeMap::new() }
    }

    pub(super) fn add_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let text = read_file(path)?;
        let table: toml::Table = toml::from_str(&text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
            let reason = error.message().replace('\n', ", ");
            ConfigError::NotToml { path: path.to_owned(), line, reason }
        })?;
        let mut given = BTreeMap::new();
        for (name, value) in table {
            let setting = format!("{name} in {}", path.display());
            if let (Some(key), toml::Value::String(file)) = (self.find_secret_file(&name), &value) {
                refuse_both(&mut given, key, &setting)?;
                self.insert_secret(key, setting, file)?;
                continue;
            }
            let key =
                self.find_key(&name).ok_or_else(|| self.unknown(&name, &setting, str::to_owned))?;
            let raw = match value {
                toml::Value::String(text) => RawValue::Text(text),
                toml::Value::Integer(number) => RawValue::Integer(number),
                toml::Value::Boolean(value) => RawValue::Boolean(value),
                toml::Value::Float(_) => RawValue::Other("a number with a fraction"),
                toml::Value::Datetime(_) => RawValue::Other("a date"),
                toml::Value::Array(_) => RawValue::Other("a list"),
                toml::Value::Table(_) => RawValue::Other("a table"),
            };
            refuse_both(&mut given, key, &setting)?;
            self.values.insert(key, LayerValue { setting, untyped: false, hidden: false, raw });
        }
        Ok(())
    }

    /// Add the variables that begin with our prefix.
    pub(super) fn add_environment<'a>(
        &mut self,
        variables: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<(), ConfigError> {
        let mut given = BTreeMap::new();
        for (name, text) in variables {
            let Some(rest) = name.strip_prefix(PREFIX) else { continue };
            if NOT_SETTINGS.contains(&name) {
                continue;
            }
            // `KURZ_listen` is refused: no such variable is documented.
            let lower = rest.to_ascii_lowercase();
            let is_upper = !rest.bytes().any(|byte| byte.is_ascii_lowercase());
            if let Some(key) = self.find_key(&lower).filter(|_| is_upper) {
                refuse_both(&mut given, key, name)?;
                self.insert_text(key, name.to_owned(), text);
            } else if let Some(key) = self.find_secret_file(&lower).filter(|_| is_upper) {
                refuse_both(&mut given, key, name)?;
                self.insert_secret(key, name.to_owned(), text)?;
            } else if !is_service_variable(name, text) {
                let spell = |key: &str| format!("{PREFIX}{}", key.to_ascii_uppercase());
                return Err(self.unknown(&lower, name, spell));
            }
        }
        Ok(())
    }

    pub(super) fn add_flag(&mut self, key: &str, text: &str) -> Result<(), ConfigError> {
        let flag = |key: &str| format!("--{}", key.replace('_', "-"));
        let known = self.find_key(key).ok_or_else(|| self.unknown(key, &flag(key), flag))?;
        self.insert_text(known, flag(key), text);
        Ok(())
    }

    fn insert_text(&mut self, key: &'static str, setting: String, text: &str) {
        let raw = RawValue::Text(text.to_owned());
        self.values.insert(key, LayerValue { setting, untyped: true, hidden: false, raw });
    }

    /// Insert the text of the file at `path`.
    fn insert_secret(
        &mut self,
        key: &'static str,
        setting: String,
        path: &str,
    ) -> Result<(), ConfigError> {
        let raw = RawValue::Text(secret_file::read(&setting, path)?);
        self.values.insert(key, LayerValue { setting, untyped: true, hidden: true, raw });
        Ok(())
    }

    /// The setting whose secret is in the file that `name` names, such as `jwt_secret_file`.
    fn find_secret_file(&self, name: &str) -> Option<&'static str> {
        let name = name.strip_suffix(&secret_file::SUFFIX.to_ascii_lowercase())?;
        let secrets = self.settings.iter().filter(|setting| setting.is_secret);
        secrets.map(|setting| setting.key).find(|key| *key == name)
    }

    fn find_key(&self, name: &str) -> Option<&'static str> {
        self.settings.iter().map(|setting| setting.key).find(|key| *key == name)
    }

    fn unknown(&self, name: &str, setting: &str, spell: impl Fn(&str) -> String) -> ConfigError {
        let similar =
            self.settings.iter().map(|setting| (edit_distance(name, setting.key), setting.key));
        let hint = match similar.min() {
            Some((edits, key)) if edits <= 3 => format!(" (did you mean {}?)", spell(key)),
            _ => String::new(),
        };
        ConfigError::Unknown { setting: setting.to_owned(), hint }
    }

    /// The parsed value of a setting: from the last source that has it, or its default.
    pub(super) fn read<T: 'static>(
        &self,
        key: &'static str,
        declaration: Declaration<T>,
    ) -> Result<T, ConfigError> {
        let parser = declaration.parser;
        let Some(value) = self.values.get(key) else {
            return Ok(match declaration.default {
                DefaultValue::Text(text) => {
                    (parser.parse)(text).expect("a test reads every default")
                }
                DefaultValue::Absent { value, .. } => value,
            });
        };
        let text = value.text(parser.form);
        text.as_deref().and_then(&parser.parse).ok_or_else(|| ConfigError::Refused {
            setting: value.setting.clone(),
            value: if value.hidden { "[hidden]".to_owned() } else { value.display(parser.redact) },
            accepts: parser.accepts,
        })
    }
}

impl LayerValue {
    /// The text to parse; `None` when the value has another type in the file.
    fn text(&self, form: ValueForm) -> Option<String> {
        match (&self.raw, form) {
            (RawValue::Text(_), ValueForm::Number) if !self.untyped => None,
            (RawValue::Text(text), _) => Some(text.clone()),
            (RawValue::Integer(number), ValueForm::Number | ValueForm::TextOrNumber) => {
                Some(number.to_string())
            }
            (RawValue::Boolean(value), ValueForm::Switch) => Some(value.to_string()),
            _ => None,
        }
    }

    /// The value as an error shows it.
    fn display(&self, redact: fn(&str) -> bool) -> String {
        let (text, displayed) = match &self.raw {
            RawValue::Text(text) => (text.clone(), format!("{text:?}")),
            RawValue::Integer(number) => (number.to_string(), number.to_string()),
            RawValue::Boolean(value) => (value.to_string(), value.to_string()),
            RawValue::Other(description) => return (*description).to_owned(),
        };
        if redact(&text) { "[hidden]".to_owned() } else { displayed }
    }
}

/// Note that `setting` gives `key` a value in this layer, and refuse a second one.
fn refuse_both(
    given: &mut BTreeMap<&'static str, String>,
    key: &'static str,
    setting: &str,
) -> Result<(), ConfigError> {
    match given.insert(key, setting.to_owned()) {
        // The last word of several on one variable counts.
        Some(first) if first != setting => {
            Err(ConfigError::Both { first, second: setting.to_owned() })
        }
        _ => Ok(()),
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

/// The Levenshtein distance.
fn edit_distance(from: &str, to: &str) -> usize {
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
    fn the_edit_distance_counts_inserted_deleted_and_changed_letters() {
        let table =
            [("", "abc", 3), ("abc", "", 3), ("listen", "listen", 0), ("listn", "listen", 1)];
        for (from, to, edits) in table {
            assert_eq!(edit_distance(from, to), edits, "{from} {to}");
        }
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }
}
