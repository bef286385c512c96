//! The language of a page, and whether a client shows pages at all: what both planes decide from
//! `Accept-Language` and `Accept`. Pure: it takes the headers' bytes.

/// Entries of an `Accept-Language` that are looked at: no browser sends more.
const MOST_ENTRIES: usize = 32;

/// A language of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    German,
    Spanish,
}

impl Language {
    pub(crate) const ALL: [Self; 3] = [Self::English, Self::German, Self::Spanish];

    /// Its ISO 639-1 code.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::Spanish => "es",
        }
    }

    /// Its name in itself.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "Deutsch",
            Self::Spanish => "Español",
        }
    }

    /// The language of a tag, by its primary subtag: `de` and `de-AT`, but not `deu`.
    pub(crate) fn parse(tag: &str) -> Option<Self> {
        let primary = tag.trim().split('-').next()?;
        Self::ALL.into_iter().find(|language| language.code().eq_ignore_ascii_case(primary))
    }

    /// The language that an `Accept-Language` header weighs highest, the first of equals; English
    /// when it names none of ours.
    pub(crate) fn accepted(header: &[u8]) -> Self {
        let header = std::str::from_utf8(header).unwrap_or_default();
        let mut best = (Self::English, 0.0);
        for (language, quality) in header.split(',').take(MOST_ENTRIES).filter_map(entry) {
            if quality > best.1 {
                best = (language, quality);
            }
        }
        best.0
    }
}

/// A language and its quality; `None` for other languages and for what is malformed.
fn entry(text: &str) -> Option<(Language, f32)> {
    let (tag, parameter) = text.split_once(';').unwrap_or((text, "q=1"));
    let (name, quality) = parameter.split_once('=')?;
    if !name.trim().eq_ignore_ascii_case("q") {
        return None;
    }
    let quality = quality.trim().parse().ok().filter(|quality| (0.0..=1.0).contains(quality))?;
    Some((Language::parse(tag)?, quality))
}

/// Whether the client of this `Accept` header shows pages: browsers name `text/html`, programs
/// do not.
pub(crate) fn wants_page(accept: &[u8]) -> bool {
    let html = b"text/html";
    accept.windows(html.len()).any(|window| window.eq_ignore_ascii_case(html))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_gets_the_language_that_it_weighs_highest() {
        let table = [
            ("", Language::English),
            ("fr", Language::English),
            ("*", Language::English),
            ("de", Language::German),
            ("DE", Language::German),
            ("De-at", Language::German),
            ("deu", Language::English),
            ("de_AT", Language::English),
            ("esperanto, de", Language::German),
            ("de-AT,en;q=0.8", Language::German),
            ("de-AT,de;q=0.9,en;q=0.8", Language::German),
            ("en;q=0.1,de;q=0.9", Language::German),
            ("en;q=0.3, es;q=0.9", Language::Spanish),
            ("en;q=0.3 , es ; Q = 0.9", Language::Spanish),
            ("fr, es;q=0.5", Language::Spanish),
            ("es;q=0, de;q=0.1", Language::German),
            ("es;q=0", Language::English),
            ("en, de", Language::English),
            ("de, en", Language::German),
            ("de;q=wild, *", Language::English),
            ("de;q=2, es;q=0.1", Language::Spanish),
            ("de;q=nan, es;q=0.1", Language::Spanish),
            ("de;level=1, es;q=0.1", Language::Spanish),
        ];
        for (header, language) in table {
            assert_eq!(Language::accepted(header.as_bytes()), language, "{header:?}");
        }
        assert_eq!(Language::accepted(b"\xff, de"), Language::English);
    }

    #[test]
    fn only_a_bounded_number_of_entries_is_looked_at() {
        let many = "fr,".repeat(MOST_ENTRIES) + "de";
        assert_eq!(Language::accepted(many.as_bytes()), Language::English);
        let fewer = "fr,".repeat(MOST_ENTRIES - 1) + "de";
        assert_eq!(Language::accepted(fewer.as_bytes()), Language::German);
    }

    #[test]
    fn a_page_is_for_those_who_name_html() {
        for accept in ["text/html", "Text/HTML;q=0.9", "image/png, text/html,*/*;q=0.8"] {
            assert!(wants_page(accept.as_bytes()), "{accept}");
        }
        for accept in ["", "*/*", "application/json", "text/htm", "text/plain"] {
            assert!(!wants_page(accept.as_bytes()), "{accept}");
        }
    }
}
