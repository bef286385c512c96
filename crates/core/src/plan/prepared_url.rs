//! The `Location` of a chosen URL: parameters of campaigns where the URL has none, and the request's parameters
//! that the URL does not have. Nothing in a request changes what a target says itself.
//!
//! Invariant: what is written is ASCII without spaces and control characters, and at most [`LONGEST`] bytes.

use super::document::{Utm, UtmField};
use super::names::names;
use super::query_pairs::{name_is, pairs};
use crate::code::UrlError;
use crate::code::canonical::canonicalise;
use crate::link::location::location;

/// The most bytes of a `Location`.
pub(super) const LONGEST: usize = 10 * 1024;
/// The most bytes of a request's query that are forwarded, once escaped.
pub(super) const MOST_FORWARDED: usize = 2 * 1024;
/// The parameter that QR codes of kurz carry.
pub(super) const QR_MARK: &str = "qr";

names! {
    /// What a text of a campaign can hold in braces.
    Placeholder {
        Code = "code",
        Workspace = "workspace",
        Host = "host",
        Variant = "variant",
        Country = "country",
        Device = "device",
        Qr = "qr",
    }
}

/// A text with placeholders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Template(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Escaped for a query.
    Text(Box<str>),
    Placeholder(Placeholder),
}

impl Template {
    /// Read a text; the error is what stands in braces and is no placeholder.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find(['{', '}']) {
            let (before, braced) = rest.split_at_checked(open).unwrap_or((rest, ""));
            push_text(&mut parts, before);
            let close = braced.find('}').filter(|_| braced.starts_with('{'));
            let name = close.and_then(|close| braced.get(1..close));
            let Some(placeholder) = name.and_then(Placeholder::parse) else {
                let end = close.map_or(braced.len(), |close| close + 1);
                return Err(braced.get(..end).unwrap_or(braced).to_owned());
            };
            parts.push(Part::Placeholder(placeholder));
            rest = close.and_then(|close| braced.get(close + 1..)).unwrap_or_default();
        }
        push_text(&mut parts, rest);
        Ok(Self(parts))
    }

    /// With what is known of a link worked in.
    #[must_use]
    pub(super) fn with_link(&self, code: &str, workspace: &str) -> Self {
        let mut parts = Vec::new();
        for part in &self.0 {
            match part {
                Part::Placeholder(Placeholder::Code) => push_text(&mut parts, code),
                Part::Placeholder(Placeholder::Workspace) => push_text(&mut parts, workspace),
                other => parts.push(other.clone()),
            }
        }
        Self(parts)
    }

    /// Its text, if it is the same for every request.
    pub(super) fn fixed(&self) -> Option<String> {
        let mut whole = String::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => whole.push_str(text),
                Part::Placeholder(_) => return None,
            }
        }
        Some(whole)
    }

    pub(super) fn placeholders(&self) -> impl Iterator<Item = Placeholder> {
        self.0.iter().filter_map(|part| match part {
            Part::Placeholder(placeholder) => Some(*placeholder),
            Part::Text(_) => None,
        })
    }

    /// Append its text, with `value` for each placeholder.
    fn write(&self, out: &mut Vec<u8>, value: &mut impl FnMut(Placeholder, &mut Vec<u8>)) {
        for part in &self.0 {
            match part {
                Part::Text(text) => out.extend_from_slice(text.as_bytes()),
                Part::Placeholder(placeholder) => value(*placeholder, out),
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let text = |part: &Part| match part {
            Part::Text(text) => text.len(),
            Part::Placeholder(_) => 0,
        };
        self.0.len() * size_of::<Part>() + self.0.iter().map(text).sum::<usize>()
    }
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    if !text.is_empty() {
        let mut escaped = Vec::with_capacity(text.len());
        push_value(&mut escaped, text.as_bytes());
        parts.push(Part::Text(String::from_utf8_lossy(&escaped).into()));
    }
}

/// Append bytes as the value of a parameter: all but unreserved characters are escaped.
pub(super) fn push_value(out: &mut Vec<u8>, bytes: &[u8]) {
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            out.push(*byte);
        } else {
            push_escaped(out, *byte);
        }
    }
}

fn push_escaped(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let digit = |half: u8| HEX.get(usize::from(half)).copied().unwrap_or(b'0');
    out.extend([b'%', digit(byte >> 4), digit(byte & 15)]);
}

/// A URL of a plan, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedUrl {
    /// With the parameters that are the same for every request.
    text: Box<str>,
    /// Where further parameters go: the end, or the fragment.
    end: usize,
    /// Where its query begins, after the question mark.
    query: Option<usize>,
    /// The fields of the campaign that it lacks and that depend on the request.
    open: [bool; 5],
}

impl PreparedUrl {
    /// `utm` has the templates of this link.
    pub(super) fn prepare(url: &str, utm: &[Option<Template>; 5]) -> Result<Self, UrlError> {
        let canonical = canonicalise(url)?;
        let whole = location(url, &canonical);
        let end = whole.find('#').unwrap_or(whole.len());
        let (base, fragment) = whole.split_at_checked(end).unwrap_or((&whole, ""));
        let mut text = base.to_owned();
        let mut open = [false; 5];
        for ((field, template), open) in UtmField::ALL.iter().zip(utm).zip(&mut open) {
            let Some(template) = template else { continue };
            let name = utm_name(*field);
            let query = text.split_once('?').map_or("", |(_, query)| query);
            if pairs(query.as_bytes()).any(|pair| name_is(pair.name, name.as_bytes())) {
                continue;
            }
            match template.fixed() {
                Some(value) => {
                    let length = text.len() + fragment.len() + name.len() + value.len() + 2;
                    if !value.is_empty() && length <= LONGEST {
                        text.push(separator(&text));
                        text.push_str(name);
                        text.push('=');
                        text.push_str(&value);
                    }
                }
                None => *open = true,
            }
        }
        let query = text.find('?').map(|at| at + 1);
        let end = text.len();
        text.push_str(fragment);
        Ok(Self { text: text.into(), end, query, open })
    }

    /// The whole `Location` where nothing depends on the request.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn query(&self) -> &[u8] {
        let query = self.query.and_then(|start| self.text.as_bytes().get(start..self.end));
        query.unwrap_or_default()
    }

    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.text.len()
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.contains(&true)
    }
}

/// `&` where there is a query already.
fn separator(text: &str) -> char {
    match text.split_once('?') {
        None => '?',
        Some(_) => '&',
    }
}

/// The parameter of a field.
pub(super) const fn utm_name(field: UtmField) -> &'static str {
    match field {
        UtmField::Source => "utm_source",
        UtmField::Medium => "utm_medium",
        UtmField::Campaign => "utm_campaign",
        UtmField::Term => "utm_term",
        UtmField::Content => "utm_content",
    }
}

/// The templates of a campaign, with what is known of the link worked in.
pub(super) fn templates(
    utm: &Utm,
    code: &str,
    workspace: &str,
) -> Result<[Option<Template>; 5], String> {
    let mut templates = [const { None }; 5];
    for (place, text) in templates.iter_mut().zip(&utm.0) {
        if let Some(text) = text {
            *place = Some(Template::parse(text)?.with_link(code, workspace));
        }
    }
    Ok(templates)
}

/// What is added to a URL for one request.
pub(super) struct Additions<'a, F> {
    /// `None`: the query is dropped.
    pub forwarded: Option<&'a [u8]>,
    /// A parameter that is never forwarded, beside the mark of QR codes.
    pub no_track: Option<&'a str>,
    pub utm: &'a [Option<Template>; 5],
    /// Appends the escaped value of a placeholder.
    pub value: F,
}

impl<F: FnMut(Placeholder, &mut Vec<u8>)> Additions<'_, F> {
    /// Write the `Location` into `out`, which is empty.
    pub(super) fn write(mut self, url: &PreparedUrl, out: &mut Vec<u8>) {
        let (base, fragment) = url.text.as_bytes().split_at_checked(url.end).unwrap_or_default();
        out.extend_from_slice(base);
        let room = LONGEST.saturating_sub(fragment.len());
        let mut has_query = url.query.is_some();
        for ((field, template), open) in UtmField::ALL.iter().zip(self.utm).zip(url.open) {
            let Some(template) = template.as_ref().filter(|_| open) else { continue };
            let start = out.len();
            out.push(if has_query { b'&' } else { b'?' });
            out.extend_from_slice(utm_name(*field).as_bytes());
            out.push(b'=');
            let empty = out.len();
            template.write(out, &mut self.value);
            if out.len() == empty || out.len() > room {
                out.truncate(start);
            } else {
                has_query = true;
            }
        }
        if let Some(query) = self.forwarded {
            self.merge(url, query, room, has_query, out);
        }
        out.extend_from_slice(fragment);
    }

    /// Append the parameters that neither the URL nor its campaign has.
    fn merge(
        &self,
        url: &PreparedUrl,
        query: &[u8],
        room: usize,
        mut has_query: bool,
        out: &mut Vec<u8>,
    ) {
        let most = room.min(out.len() + MOST_FORWARDED);
        for pair in pairs(query) {
            let is_mark = name_is(pair.name, QR_MARK.as_bytes())
                || self.no_track.is_some_and(|name| name_is(pair.name, name.as_bytes()));
            if is_mark || pair.text.is_empty() || url.has(pair.name) {
                continue;
            }
            let start = out.len();
            out.push(if has_query { b'&' } else { b'?' });
            for byte in pair.text {
                if byte.is_ascii_graphic() && *byte != b'#' {
                    out.push(*byte);
                } else {
                    push_escaped(out, *byte);
                }
            }
            if out.len() > most {
                out.truncate(start);
                return;
            }
            has_query = true;
        }
    }
}

impl PreparedUrl {
    /// Whether the URL, or a field of its campaign, has a parameter of this name.
    fn has(&self, name: &[u8]) -> bool {
        let mut own = pairs(self.query());
        let is_utm =
            |(field, open): (&UtmField, bool)| open && name_is(name, utm_name(*field).as_bytes());
        own.any(|pair| super::query_pairs::names_are_same(pair.name, name))
            || UtmField::ALL.iter().zip(self.open).any(is_utm)
    }
}
