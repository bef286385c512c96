//! Declaration of settings. From one declaration, the `settings!` macro generates the typed struct, the
//! function that reads it, and the rows of `docs/CONFIG.md`.
//!
//! Invariant: a setting is declared once. Its variable is its key in upper case after `KURZ_`.

use super::value_parser::{ValueForm, ValueParser};

pub(super) const PREFIX: &str = "KURZ_";

/// A setting without its type: for the documentation and the check for unknown names.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) key: &'static str,
    pub(super) default: DocumentedDefault,
    pub(super) accepts: String,
    pub(super) doc: String,
    pub(super) form: ValueForm,
    /// Whether the value may come from a file of its own.
    pub(super) is_secret: bool,
}

impl Setting {
    pub(super) fn of<T>(key: &'static str, doc: &str, declaration: &Declaration<T>) -> Self {
        let default = match &declaration.default {
            DefaultValue::Text(text) => DocumentedDefault::Value(text),
            DefaultValue::Absent { description, .. } => DocumentedDefault::Description(description),
        };
        let ValueParser { accepts, form, is_secret, .. } = &declaration.parser;
        let (accepts, form, is_secret) = (accepts.clone(), *form, *is_secret);
        Self { key, default, accepts, doc: doc.trim().to_owned(), form, is_secret }
    }

    pub(super) fn variable(&self) -> String {
        format!("{PREFIX}{}", self.key.to_ascii_uppercase())
    }
}

/// A default as the documentation shows it.
#[derive(Clone, Copy, Debug)]
pub(super) enum DocumentedDefault {
    /// A value that could be written in the file.
    Value(&'static str),
    /// What happens without a value.
    Description(&'static str),
}

/// What a setting accepts, and its default.
pub(super) struct Declaration<T> {
    pub(super) parser: ValueParser<T>,
    pub(super) default: DefaultValue<T>,
}

/// The value of a setting that is not set.
pub(super) enum DefaultValue<T> {
    /// Parsed like a value from the environment.
    Text(&'static str),
    /// Not a value that could be written; the documentation shows `description`.
    Absent { value: T, description: &'static str },
}

impl<T: 'static> ValueParser<T> {
    /// Default to `text`, parsed like a value from the environment.
    pub(super) fn or(self, text: &'static str) -> Declaration<T> {
        Declaration { parser: self, default: DefaultValue::Text(text) }
    }

    /// Default to `None`; the documentation shows `description`.
    pub(super) fn or_none(self, description: &'static str) -> Declaration<Option<T>> {
        let default = DefaultValue::Absent { value: None, description };
        Declaration { parser: self.map(Some), default }
    }
}

/// Declare the settings of one section of the documentation.
macro_rules! settings {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $(
        $(#[doc = $doc:literal])+
        $key:literal => $field:ident: $type:ty = $declaration:expr,
    )+ }) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        $vis struct $name { $( $(#[doc = $doc])+ $vis $field: $type, )+ }

        impl $name {
            pub(super) fn settings() -> Vec<super::setting::Setting> {
                vec![$( super::setting::Setting::of($key, concat!($($doc),+), &$declaration), )+]
            }

            pub(super) fn read(layers: &super::layers::Layers) -> Result<Self, super::ConfigError> {
                Ok(Self { $( $field: layers.read($key, $declaration)?, )+ })
            }
        }
    };
}
pub(super) use settings;
