//! The canonical form against the `url` crate's own normalisation.
//!
//! The two may differ only where a named rule says so. The expected form is built from the crate's
//! output by applying those rules one after the other, each written here in the plainest way; a
//! refusal of ours must be one that the text itself explains. Not a second implementation of the
//! form: hosts, ports, dot segments and the encoding of most characters are the crate's.
//!
//! Invariant: a difference that no rule explains fails, and so does a rule that the corpus never
//! needs.

use std::collections::BTreeMap;

use kurz_core::code::canonical::MAX_BYTES;
use kurz_core::code::{UrlError, canonicalise};
use url::Url;

/// Stands for an apostrophe of the query while the crate has it, which would escape it.
const APOSTROPHE: &str = "~apostrophe~";
/// Stands for a colon of the path while the crate has it: the crate takes `/c:/` for a drive, and
/// `..` does not leave it, in http URLs too, where the standard knows no drives.
const COLON: &str = "~colon~";
/// Stands for a bar of the path, the other spelling of a drive.
const BAR: &str = "~bar~";

/// How often each rule explained a difference.
#[derive(Default)]
struct Explained(BTreeMap<&'static str, u32>);

impl Explained {
    /// Applies a rule, and notes it when it changed something.
    fn apply(&mut self, name: &'static str, text: &str, rule: impl Fn(&str) -> String) -> String {
        let changed = rule(text);
        if changed != text {
            self.note(name);
        }
        changed
    }

    fn note(&mut self, name: &'static str) {
        *self.0.entry(name).or_default() += 1;
    }
}

/// Applies `rule` to each `%` with the two characters after it, and to each other character.
fn each_escape(text: &str, rule: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_escape = first == '%'
            && rest.get(1..3).is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        let (unit, after) = rest.split_at(if is_escape { 3 } else { first.len_utf8() });
        out.push_str(&rule(unit));
        rest = after;
    }
    out
}

fn stray_percent(text: &str) -> String {
    each_escape(text, |unit| if unit == "%" { "%25".to_owned() } else { unit.to_owned() })
}

fn hex_upper_cased(text: &str) -> String {
    each_escape(text, |unit| {
        if unit.starts_with('%') { unit.to_ascii_uppercase() } else { unit.to_owned() }
    })
}

fn unreserved_decoded(text: &str) -> String {
    each_escape(text, |unit| {
        let decoded = unit.strip_prefix('%').and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match decoded.map(char::from) {
            Some(c) if c.is_ascii_alphanumeric() || "-._~".contains(c) => c.to_string(),
            _ => unit.to_owned(),
        }
    })
}

/// What RFC 3986 does not let stand and the WHATWG standard does.
fn encoded_further(text: &str, characters: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        if characters.contains(c) {
            out + format!("%{:02X}", u32::from(c)).as_str()
        } else {
            out.push(c);
            out
        }
    })
}

fn slashes_collapsed(path: &str) -> String {
    let mut path = path.to_owned();
    while path.contains("//") {
        path = path.replace("//", "/");
    }
    path
}

fn trailing_slash_dropped(path: &str) -> String {
    path.strip_suffix('/').filter(|rest| !rest.is_empty()).unwrap_or(path).to_owned()
}

fn empty_pieces_dropped(query: &str) -> String {
    query.split('&').filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join("&")
}

fn query_sorted(query: &str) -> String {
    let mut pieces: Vec<&str> = query.split('&').collect();
    pieces.sort_by_key(|piece| piece.split('=').next().unwrap_or_default().as_bytes());
    pieces.join("&")
}

/// The crate's URL of `text` with every named rule applied to it.
fn expected(url: &Url, explained: &mut Explained) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let mut form = format!("{}://{}{port}", url.scheme(), url.host_str().unwrap_or_default());
    let mut path = url.path().replace(COLON, ":").replace(BAR, "|");
    path = explained.apply("path: stray percent", &path, stray_percent);
    path = explained.apply("path: encoded further", &path, |p| encoded_further(p, "^|[]"));
    path = explained.apply("path: unreserved decoded", &path, unreserved_decoded);
    path = explained.apply("path: hex upper-cased", &path, hex_upper_cased);
    path = explained.apply("path: slashes collapsed", &path, slashes_collapsed);
    path = explained.apply("path: trailing slash", &path, trailing_slash_dropped);
    form.push_str(&path);
    if let Some(query) = url.query() {
        let mut query = query.to_owned();
        query = explained.apply("query: stray percent", &query, stray_percent);
        query =
            explained.apply("query: encoded further", &query, |q| encoded_further(q, "^|[]\\`{}"));
        query = explained.apply("query: unreserved decoded", &query, unreserved_decoded);
        query = explained.apply("query: hex upper-cased", &query, hex_upper_cased);
        query = explained.apply("query: apostrophe kept", &query, |q| q.replace(APOSTROPHE, "'"));
        query = explained.apply("query: empty pieces", &query, empty_pieces_dropped);
        query = explained.apply("query: sorted", &query, query_sorted);
        if query.is_empty() {
            explained.note("query: empty");
        } else {
            form.push('?');
            form.push_str(&query);
        }
    }
    if url.fragment().is_some() {
        explained.note("fragment dropped");
    }
    form
}

/// The parts of a trimmed text that the refusals are about, cut in the plainest way.
struct Cut<'a> {
    /// Between `://` and the first `/`, `?` or `#`.
    authority: &'a str,
    /// Everything before the first `?` or `#`.
    head: &'a str,
}

fn cut(text: &str) -> Cut<'_> {
    let head = text.split(['?', '#']).next().unwrap_or_default();
    let after = head.split_once("://").map_or("", |(_, after)| after);
    Cut { authority: after.split('/').next().unwrap_or_default(), head }
}

/// The rule by which we refuse a text that the crate takes; `None` when there is none.
fn why_refused(text: &str, url: &Url, error: UrlError, form: &str) -> Option<&'static str> {
    let lower = text.to_ascii_lowercase();
    let Cut { authority, head } = cut(text);
    let (holds, name) = match error {
        UrlError::ControlCharacters => {
            (text.contains(|c: char| c.is_ascii_control()), "refused: control characters")
        }
        UrlError::TooLong => {
            (text.len() > MAX_BYTES || form.len() > MAX_BYTES, "refused: too long")
        }
        UrlError::SchemeMissing => (
            !lower.starts_with("http://") && !lower.starts_with("https://"),
            "refused: slashes missing",
        ),
        UrlError::SchemeNotAllowed => {
            (!matches!(url.scheme(), "http" | "https"), "refused: scheme")
        }
        UrlError::UserinfoNotAllowed => (authority.contains('@'), "refused: userinfo"),
        UrlError::Backslash => (head.contains('\\'), "refused: backslash"),
        UrlError::HostEmpty => (authority.is_empty(), "refused: host empty"),
        UrlError::HostInvalid if authority.contains('%') => (true, "refused: escape in host"),
        UrlError::HostInvalid => {
            let label = |host: &str| host.split('.').any(|label| label.chars().count() > 253);
            let long = label(authority) || url.host_str().is_some_and(label);
            (long && url.as_str().contains("xn--"), "refused: long label for IDNA")
        }
        UrlError::Empty | UrlError::PortInvalid => (false, ""),
    };
    holds.then_some(name)
}

/// Replaces the colons and bars of the path and the apostrophes of the query.
fn shield(text: &str) -> String {
    let (before, fragment) = text.split_at(text.find('#').unwrap_or(text.len()));
    let (head, query) = before.split_at(before.find('?').unwrap_or(before.len()));
    let authority = head.find("://").map_or(head.len(), |at| at + 3);
    let slash = head.get(authority..).and_then(|rest| rest.find('/'));
    let (front, path) = head.split_at(slash.map_or(head.len(), |at| authority + at));
    let path = path.replace(':', COLON).replace('|', BAR);
    format!("{front}{path}{}{fragment}", query.replace('\'', APOSTROPHE))
}

/// Whether the crate saw a drive where there is none.
fn saw_a_drive(text: &str, shielded: &Url) -> bool {
    let path = shielded.path().replace(COLON, ":").replace(BAR, "|");
    Url::parse(text).is_ok_and(|url| url.path() != path)
}

/// Compares the two; an error says what is not explained.
fn compare(input: &str, explained: &mut Explained) -> Result<(), String> {
    let text = input.trim_matches(|c| c <= ' ');
    let ours = canonicalise(input);
    let theirs = Url::parse(&shield(text));
    match (ours, theirs) {
        (Err(_), Err(_)) => explained.note("refused by both"),
        (Ok(ours), Err(error)) => return Err(format!("{ours} is no URL to the crate: {error}")),
        (Ok(ours), Ok(theirs)) => {
            let expected = expected(&theirs, explained);
            if saw_a_drive(text, &theirs) {
                explained.note("path: no drives");
            }
            if ours.as_str() != expected {
                return Err(format!("{theirs} should become {expected}, is {ours}"));
            }
        }
        (Err(error), Ok(theirs)) => {
            let form = expected(&theirs, &mut Explained::default());
            match why_refused(text, &theirs, error, &form) {
                Some(name) => explained.note(name),
                None => return Err(format!("{theirs} refused as {}", error.code())),
            }
        }
    }
    Ok(())
}

/// Written by hand: every rule at least once, and spellings that have fooled other parsers.
fn hand_written() -> Vec<String> {
    let mut corpus: Vec<String> =
        serde_json::from_str(include_str!("../../vectors/differential.json"))
            .expect("the corpus is a list of strings");
    corpus.push(format!("http://a/{}", "é".repeat(MAX_BYTES / 3)));
    corpus.push(format!("http://{}/", "a".repeat(300)));
    corpus.push(format!("http://é{}/", "a".repeat(300)));
    corpus.push(format!("http://{}/", "é".repeat(250)));
    corpus
}

/// A small generator (xorshift): the corpus is the same in every run.
struct Rng(u64);

impl Rng {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from.get(self.roll(from.len())).copied().unwrap_or_default()
    }

    fn join(&mut self, from: &[&str], most: usize) -> String {
        (0..self.roll(most + 1)).map(|_| self.pick(from)).collect()
    }

    /// Something like a URL, made of what parsers disagree about.
    fn url(&mut self) -> String {
        let scheme = self.pick(&[
            "http://", "https://", "HTTP://", "https://", "http://", "http://", "https://",
            "http:/", "ftp://",
        ]);
        let host = [
            "a",
            "B",
            ".",
            "-",
            "_",
            "1",
            "0x",
            "xn--",
            "é",
            "ß",
            "\u{ad}",
            "。",
            "example.com",
            "7f",
        ];
        let strange =
            ["%", "%41", " ", "@", "[", "]", ":", "|", "\\", "\t", "[::1]", "😀", "١", "\u{200d}"];
        let path = [
            "/", "/", "/", ".", "..", "%2e", "%2E", "a", "b", "%41", "%2f", "%", "%4", "é", " ",
            "+", "'", "^", "|", "[", "]", "{", "\"", "<", "`", ";", "=", "&", ":", "@", "~", "%7e",
            "%c3%a9", "\\", "/../", "/./",
        ];
        let query = [
            "&", "&", "&", "=", "=", "a", "b", "A", "aa", "%61", "%26", "%3D", "%3d", "%", "+",
            "'", "%27", "?", "/", "\\", "^", "|", "[", "]", "{", "}", "`", "\"", "<", "é", " ",
            "~", "-", "%2", "\u{85}",
        ];
        let mut url = format!("{scheme}{}", self.join(&host, 4));
        if self.roll(8) == 0 {
            url.push_str(self.pick(&strange));
        }
        if self.roll(4) == 0 {
            url.push_str(self.pick(&[":", ":80", ":443", ":0", ":0080", ":8080", ":65536", ":x"]));
        }
        if self.roll(8) != 0 {
            url.push('/');
            url.push_str(&self.join(&path, 9));
        }
        if self.roll(2) == 0 {
            url.push('?');
            url.push_str(&self.join(&query, 14));
        }
        if self.roll(4) == 0 {
            url.push('#');
            url.push_str(&self.join(&query, 3));
        }
        url
    }
}

#[test]
fn every_difference_from_the_url_crate_is_explained_by_a_named_rule() {
    let mut explained = Explained::default();
    let mut rng = Rng(0x9e37_79b9_7f4a_7c15);
    let mut corpus = hand_written();
    corpus.extend((0..50_000).map(|_| rng.url()));
    let unexplained: Vec<String> = corpus
        .iter()
        .filter_map(|input| {
            compare(input, &mut explained).err().map(|why| format!("{input:?}: {why}"))
        })
        .take(20)
        .collect();
    assert!(unexplained.is_empty(), "not explained:\n{}", unexplained.join("\n"));

    let names: Vec<&str> = explained.0.keys().copied().collect();
    assert_eq!(
        names,
        [
            "fragment dropped",
            "path: encoded further",
            "path: hex upper-cased",
            "path: no drives",
            "path: slashes collapsed",
            "path: stray percent",
            "path: trailing slash",
            "path: unreserved decoded",
            "query: apostrophe kept",
            "query: empty",
            "query: empty pieces",
            "query: encoded further",
            "query: hex upper-cased",
            "query: sorted",
            "query: stray percent",
            "query: unreserved decoded",
            "refused by both",
            "refused: backslash",
            "refused: control characters",
            "refused: escape in host",
            "refused: host empty",
            "refused: long label for IDNA",
            "refused: scheme",
            "refused: slashes missing",
            "refused: too long",
            "refused: userinfo",
        ],
        "every rule is needed, and no other: {:?}",
        explained.0
    );
}
