//! Settings: a rule, a default and a name. The `settings!` macro makes, from one declaration, the
//! typed struct the program uses, its reader, and the rows of `docs/CONFIG.md`.
//!
//! Invariant: a setting is declared once. Its variable is its key in upper case after `KURZ_`.

use super::rule::Rule;

/// What every variable of kurz begins with.
pub(super) const PREFIX: &str = "KURZ_";

/// A row of the table of settings, for the documentation and the check for unknown names.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) key: &'static str,
    pub(super) default: ShownDefault,
    pub(super) accepts: String,
    pub(super) doc: String,
}

impl Setting {
    pub(super) fn of<T>(key: &'static str, doc: &str, declared: &Declared<T>) -> Self {
        let default = match &declared.default {
            Default::Text(text) => ShownDefault::Text(text),
            Default::Absent { words, .. } => ShownDefault::Words(words),
        };
        let accepts = declared.rule.accepts.clone();
        Self { key, default, accepts, doc: doc.trim().to_owned() }
    }

    pub(super) fn variable(&self) -> String {
        format!("{PREFIX}{}", self.key.to_ascii_uppercase())
    }
}

/// A default as the documentation shows it.
#[derive(Clone, Copy, Debug)]
pub(super) enum ShownDefault {
    /// A value one could write.
    Text(&'static str),
    /// What happens without a value.
    Words(&'static str),
}

/// A rule with its default.
pub(super) struct Declared<T> {
    pub(super) rule: Rule<T>,
    pub(super) default: Default<T>,
}

/// What holds when nobody set the setting.
pub(super) enum Default<T> {
    /// As if the user had written this.
    Text(&'static str),
    /// No value, which the words explain.
    Absent { value: T, words: &'static str },
}

impl<T: 'static> Rule<T> {
    /// Unless set: as if the user had written `text`.
    pub(super) fn or(self, text: &'static str) -> Declared<T> {
        Declared { rule: self, default: Default::Text(text) }
    }

    /// Unless set: `None`, which means what `words` say.
    pub(super) fn or_none(self, words: &'static str) -> Declared<Option<T>> {
        Declared { rule: self.map(Some), default: Default::Absent { value: None, words } }
    }
}

/// Declare the settings of one concern.
macro_rules! settings {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $(
        $(#[doc = $doc:literal])+
        $key:literal => $field:ident: $type:ty = $declared:expr,
    )+ }) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        $vis struct $name { $( $(#[doc = $doc])+ $vis $field: $type, )+ }

        impl $name {
            /// The rows of the table of settings.
            pub(super) fn settings() -> Vec<super::setting::Setting> {
                vec![$( super::setting::Setting::of($key, concat!($($doc),+), &$declared), )+]
            }

            /// Read each setting from what was given, or take its default.
            pub(super) fn read(given: &super::given::Given) -> Result<Self, super::ConfigError> {
                Ok(Self { $( $field: given.read($key, $declared)?, )+ })
            }
        }
    };
}
pub(super) use settings;
