//! The words of the pages, all in one folder: a table for each part of the site, with a column for
//! each language. A word that one language lacks does not compile.
//!
//! A language is added as a column here, a variant of [`Language`], and the pages of `redirect`.

mod abuse;
mod account;
mod admin;
mod analytics;
pub(super) mod formats;
mod front;
mod link;
mod links;
mod options;
mod plan_trouble;
mod privacy;
mod rules;
mod simulate;
mod site;
mod trouble;
mod workspace;

pub(super) use abuse::Abuse;
pub(super) use account::Account;
pub(super) use admin::Admin;
pub(super) use analytics::AnalyticsWords;
pub(super) use front::Front;
pub(super) use link::LinkWords;
pub(super) use links::Links;
pub(super) use options::OptionWords;
pub(super) use plan_trouble::PlanTrouble;
pub(super) use privacy::PrivacyWords;
pub(super) use rules::RuleWords;
pub(super) use simulate::SimulateWords;
pub(super) use site::Site;
pub(super) use trouble::Trouble;
pub(super) use workspace::Workspace;

use crate::language::Language;

/// Declare a table of words: a name, then English, German, Spanish.
macro_rules! words {
    ($(#[$doc:meta])* $table:ident { $($name:ident: $en:literal, $de:literal, $es:literal;)+ }) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(in crate::web) struct $table { $(pub(in crate::web) $name: &'static str,)+ }

        impl $table {
            pub(super) const EN: Self = Self { $($name: $en,)+ };
            pub(super) const DE: Self = Self { $($name: $de,)+ };
            pub(super) const ES: Self = Self { $($name: $es,)+ };
        }

        #[cfg(test)]
        pub(super) const TABLE: &[(&str, [&str; 3])] =
            &[$((stringify!($name), [$en, $de, $es]),)+];
    };
}
use words;

#[derive(Debug)]
pub(super) struct Words {
    /// The language's code, as HTML wants it.
    pub(super) code: &'static str,
    pub(super) site: Site,
    pub(super) front: Front,
    pub(super) account: Account,
    pub(super) links: Links,
    pub(super) link: LinkWords,
    pub(super) workspace: Workspace,
    pub(super) admin: Admin,
    pub(super) analytics: AnalyticsWords,
    pub(super) privacy: PrivacyWords,
    pub(super) rules: RuleWords,
    pub(super) options: OptionWords,
    pub(super) simulate: SimulateWords,
    pub(super) plan_trouble: PlanTrouble,
    pub(super) abuse: Abuse,
    pub(super) trouble: Trouble,
}

macro_rules! language {
    ($code:literal, $column:ident) => {
        Words {
            code: $code,
            site: Site::$column,
            front: Front::$column,
            account: Account::$column,
            links: Links::$column,
            link: LinkWords::$column,
            workspace: Workspace::$column,
            admin: Admin::$column,
            analytics: AnalyticsWords::$column,
            privacy: PrivacyWords::$column,
            rules: RuleWords::$column,
            options: OptionWords::$column,
            simulate: SimulateWords::$column,
            plan_trouble: PlanTrouble::$column,
            abuse: Abuse::$column,
            trouble: Trouble::$column,
        }
    };
}

static ENGLISH: Words = language!("en", EN);
static GERMAN: Words = language!("de", DE);
static SPANISH: Words = language!("es", ES);

impl Words {
    pub(super) fn of(language: Language) -> &'static Self {
        match language {
            Language::English => &ENGLISH,
            Language::German => &GERMAN,
            Language::Spanish => &SPANISH,
        }
    }

    // For templates, which take a table under a shorter name.
    pub(super) const fn site(&self) -> &Site {
        &self.site
    }

    pub(super) const fn front(&self) -> &Front {
        &self.front
    }

    pub(super) const fn account(&self) -> &Account {
        &self.account
    }

    pub(super) const fn links(&self) -> &Links {
        &self.links
    }

    pub(super) const fn link(&self) -> &LinkWords {
        &self.link
    }

    pub(super) const fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    pub(super) const fn abuse(&self) -> &Abuse {
        &self.abuse
    }

    pub(super) const fn admin(&self) -> &Admin {
        &self.admin
    }

    pub(super) const fn rules(&self) -> &RuleWords {
        &self.rules
    }

    pub(super) const fn options(&self) -> &OptionWords {
        &self.options
    }

    pub(super) const fn simulate(&self) -> &SimulateWords {
        &self.simulate
    }

    pub(super) const fn analytics(&self) -> &AnalyticsWords {
        &self.analytics
    }
}

/// `text` with its `{}` replaced by `value`.
pub(super) fn fill(text: &str, value: impl std::fmt::Display) -> String {
    text.replacen("{}", &value.to_string(), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_says_everything_and_leaves_the_same_gaps() {
        let tables = [
            abuse::TABLE,
            account::TABLE,
            admin::TABLE,
            analytics::TABLE,
            front::TABLE,
            link::TABLE,
            links::TABLE,
            options::TABLE,
            plan_trouble::TABLE,
            privacy::TABLE,
            rules::TABLE,
            simulate::TABLE,
            site::TABLE,
            trouble::TABLE,
            workspace::TABLE,
        ];
        for (name, words) in tables.into_iter().flatten() {
            let gaps = words.map(|word| word.matches("{}").count());
            assert!(gaps.iter().all(|gap| *gap == gaps[0]), "{name}: {words:?}");
            assert!(words.iter().all(|word| !word.trim().is_empty()), "{name}: {words:?}");
        }
    }
}
