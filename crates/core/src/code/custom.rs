//! Custom codes: the ones that people choose, and the words they may not choose.
//!
//! Which codes are taken is not known here. Invariant: no custom code hides a page: every literal first
//! segment of the router is reserved, case-insensitively.

use std::collections::BTreeSet;

use super::{Code, MAX_LENGTH};

/// The fewest characters of a custom code: there are too few shorter ones to let people choose them.
pub const MIN_LENGTH: usize = 3;

/// Words reserved for future pages of kurz: a published link cannot be withdrawn later. Only a few,
/// and only for kurz itself: `docs`, `blog` or `help` are names that people want for their own links.
const KEPT_FREE: &[&str] = &[
    "account",
    "admin",
    "api",
    "app",
    "assets",
    "auth",
    "favicon",
    "healthz",
    "login",
    "logout",
    "metrics",
    "preview",
    "readyz",
    "register",
    "report",
    "robots",
    "settings",
    "signin",
    "signout",
    "signup",
    "static",
    "v1",
    "v2",
    "w",
    "well-known",
];

/// Why a text is not a valid custom code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    #[error(
        "The code is not {MIN_LENGTH} to {MAX_LENGTH} letters, digits, dashes or underscores: \
         choose one that is."
    )]
    Invalid,
    /// A first segment of the router, or a word reserved for future pages.
    #[error("The code is a word that kurz keeps for its own pages: choose another.")]
    Reserved,
}

impl CodeError {
    /// The stable kebab-case code of this error.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Invalid => "code-invalid",
            Self::Reserved => "code-reserved",
        }
    }
}

pub fn parse(text: &str, reserved: &Reserved) -> Result<Code, CodeError> {
    let code = Code::parse(text).filter(|_| text.len() >= MIN_LENGTH).ok_or(CodeError::Invalid)?;
    if reserved.contains(text) { Err(CodeError::Reserved) } else { Ok(code) }
}

/// The words that no code may be, case-insensitively.
#[derive(Clone, Debug)]
pub struct Reserved {
    /// Words whose addresses answer GET, or may do so in future.
    pages: BTreeSet<String>,
    /// Words whose addresses answer other methods alone.
    others: BTreeSet<String>,
}

impl Reserved {
    /// The first segments of `routes` (patterns such as `/api/v1/links/{code}`) that are literal,
    /// and the words reserved for future pages.
    pub fn from_routes<'a>(routes: impl IntoIterator<Item = &'a str>) -> Self {
        let segments = routes.into_iter().filter_map(first_segment);
        let words = segments.chain(KEPT_FREE.iter().copied()).map(str::to_ascii_lowercase);
        Self { pages: words.collect(), others: BTreeSet::new() }
    }

    /// The same, with the first segments of routes that do not answer GET.
    #[must_use]
    pub fn with_other_methods<'a>(mut self, routes: impl IntoIterator<Item = &'a str>) -> Self {
        let segments = routes.into_iter().filter_map(first_segment).map(str::to_ascii_lowercase);
        self.others = segments.filter(|word| !self.pages.contains(word)).collect();
        self
    }

    /// Whether `word` is reserved. Generated codes must be checked too: seven random letters can spell
    /// `metrics`.
    pub fn contains(&self, word: &str) -> bool {
        let word = word.to_ascii_lowercase();
        self.pages.contains(&word) || self.others.contains(&word)
    }

    /// Whether `word` is a page. A link that had the word as its code before it was reserved goes on
    /// redirecting where this is not so.
    pub fn answers_get(&self, word: &str) -> bool {
        self.pages.contains(&word.to_ascii_lowercase())
    }
}

/// The literal first segment of a route; `None` when it is empty or a parameter.
fn first_segment(route: &str) -> Option<&str> {
    let segment = route.trim_start_matches('/').split('/').next()?;
    (!segment.is_empty() && !segment.contains(['{', '}'])).then_some(segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reserved() -> Reserved {
        Reserved::from_routes([
            "/",
            "/{code}",
            "/{code}+",
            "/shorten/it",
            "/Mixed/{x}",
            "/.well-known/security.txt",
            "bare",
        ])
    }

    // threats: B1
    #[test]
    fn first_segments_of_routes_are_reserved_in_any_case() {
        let reserved = reserved();
        for word in ["shorten", "SHORTEN", "mixed", "MiXeD", ".well-known", "bare", "api", "LogIn"]
        {
            assert!(reserved.contains(word), "{word}");
        }
        for word in ["it", "x", "code", "{code}", "", "shorten2", "promo", "docs"] {
            assert!(!reserved.contains(word), "{word}");
        }
    }

    #[test]
    fn words_of_other_methods_are_reserved_and_answer_no_get() {
        let reserved = reserved().with_other_methods(["/shorten", "/teams/{id}/links"]);
        assert!(reserved.contains("Teams") && !reserved.answers_get("teams"));
        assert!(reserved.answers_get("shorten"), "another route of this word answers GET");
    }

    // threats: B2, B4
    #[test]
    fn custom_codes_are_read() {
        let longest = "x".repeat(64);
        for good in ["abc", "A-_9", "promo", "---", &longest] {
            assert_eq!(parse(good, &reserved()).unwrap().as_str(), good);
        }
        let too_long = "x".repeat(65);
        let bad = ["", "ab", "..", "a/b", "a%2Fb", "a\\b", "a;b", "abc+", "pröm", "a c", &too_long];
        for bad in bad {
            assert_eq!(parse(bad, &reserved()), Err(CodeError::Invalid), "{bad:?}");
        }
        for word in ["api", "API", "Shorten", "metrics", "healthz"] {
            assert_eq!(parse(word, &reserved()), Err(CodeError::Reserved), "{word}");
        }
    }

    #[test]
    fn refusals_have_stable_codes() {
        assert_eq!(CodeError::Invalid.code(), "code-invalid");
        assert_eq!(CodeError::Reserved.code(), "code-reserved");
        assert_eq!(
            CodeError::Invalid.to_string(),
            "The code is not 3 to 64 letters, digits, dashes or underscores: choose one that is."
        );
    }
}
