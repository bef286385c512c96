//! The words of the pages, all in one folder: a table for each part of the site, with a column for
//! each language. A word that one language lacks does not compile.
//!
//! A language is added as a column here and a choice in [`Language`]; nothing else knows them.

mod abuse;
mod account;
mod admin;
mod front;
mod link;
mod links;
mod site;
mod trouble;
mod workspace;

pub(super) use abuse::Abuse;
pub(super) use account::Account;
pub(super) use admin::Admin;
pub(super) use front::Front;
pub(super) use link::LinkWords;
pub(super) use links::Links;
pub(super) use site::Site;
pub(super) use trouble::Trouble;
pub(super) use workspace::Workspace;

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

/// A language of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    English,
    German,
    Spanish,
}

/// All words in one language.
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
            abuse: Abuse::$column,
            trouble: Trouble::$column,
        }
    };
}

static ENGLISH: Words = language!("en", EN);
static GERMAN: Words = language!("de", DE);
static SPANISH: Words = language!("es", ES);

impl Language {
    pub(super) const ALL: [Self; 3] = [Self::English, Self::German, Self::Spanish];

    /// Its code.
    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::Spanish => "es",
        }
    }

    /// What it calls itself.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "Deutsch",
            Self::Spanish => "Español",
        }
    }

    /// Its words.
    pub(super) fn words(self) -> &'static Words {
        match self {
            Self::English => &ENGLISH,
            Self::German => &GERMAN,
            Self::Spanish => &SPANISH,
        }
    }

    /// The language of a code, such as `de` or `de-AT`.
    pub(super) fn parse(tag: &str) -> Option<Self> {
        let first = tag.trim().split('-').next()?.to_ascii_lowercase();
        Self::ALL.into_iter().find(|language| language.code() == first)
    }

    /// The best of those that an `Accept-Language` names; English when it names none of ours.
    pub(super) fn accepted(header: &str) -> Self {
        let weighed = header.split(',').take(32).filter_map(|piece| {
            let (tag, weight) = piece.split_once(';').unwrap_or((piece, "q=1"));
            let weight: f32 = weight.trim().strip_prefix("q=")?.parse().ok()?;
            Some((Self::parse(tag)?, weight)).filter(|(_, weight)| *weight > 0.0)
        });
        // The first of those that weigh the same.
        let best = weighed.fold(None, |best: Option<(Self, f32)>, next| match best {
            Some(best) if best.1 >= next.1 => Some(best),
            _ => Some(next),
        });
        best.map_or(Self::English, |(language, _)| language)
    }
}

// For templates, which take a table under a shorter name.
impl Words {
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
}

/// `text` with its `{}` replaced by `value`.
pub(super) fn fill(text: &str, value: impl std::fmt::Display) -> String {
    text.replacen("{}", &value.to_string(), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_gets_the_language_that_it_likes_best() {
        let table = [
            ("", Language::English),
            ("fr", Language::English),
            ("de", Language::German),
            ("de-AT,en;q=0.8", Language::German),
            ("en;q=0.3, es;q=0.9", Language::Spanish),
            ("fr, es;q=0.5", Language::Spanish),
            ("es;q=0, de;q=0.1", Language::German),
            ("de;q=wild, *", Language::English),
            ("en, de", Language::English),
        ];
        for (header, language) in table {
            assert_eq!(Language::accepted(header), language, "{header:?}");
        }
    }

    #[test]
    fn every_language_says_everything_and_leaves_the_same_gaps() {
        let tables = [
            abuse::TABLE,
            account::TABLE,
            admin::TABLE,
            front::TABLE,
            link::TABLE,
            links::TABLE,
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
