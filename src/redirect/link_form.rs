//! The forms of pages before a target, sent with POST to the short address.

use http::{HeaderMap, header};

use super::plan_pages::{CONSENT_FIELD, PASSWORD_FIELD};

/// The most bytes of a form.
pub const FORM_BYTES: usize = 4 * 1024;

/// What a form says.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct LinkForm {
    /// Any bytes: one that is no text is wrong, not missing.
    pub(super) password: Option<Vec<u8>>,
    /// The token of the page.
    pub(super) consent: Option<String>,
}

/// A password is a secret.
impl std::fmt::Debug for LinkForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LinkForm")
    }
}

impl LinkForm {
    /// Read the body of a form; unknown fields are left alone, of repeated ones the first counts.
    pub(super) fn read(body: &[u8]) -> Self {
        let mut form = Self::default();
        for pair in body.split(|byte| *byte == b'&') {
            let end = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
            let (name, value) = pair.split_at_checked(end).unwrap_or((pair, b""));
            let value = || decode(value.strip_prefix(b"=").unwrap_or_default());
            if name == PASSWORD_FIELD.as_bytes() {
                form.password.get_or_insert_with(value);
            } else if name == CONSENT_FIELD.as_bytes() && form.consent.is_none() {
                form.consent = String::from_utf8(value()).ok();
            }
        }
        form
    }
}

/// Whether the body of a request is a form.
pub(super) fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map_or(&[][..], |value| value.as_bytes());
    let kind = kind.split(|byte| *byte == b';').next().unwrap_or_default();
    kind.trim_ascii().eq_ignore_ascii_case(b"application/x-www-form-urlencoded")
}

/// The bytes that an escaped value stands for.
fn decode(value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        bytes.push(match first {
            b'+' => b' ',
            b'%' => match after.split_first_chunk::<2>().and_then(|(pair, after)| {
                let text = std::str::from_utf8(pair).ok()?;
                Some((u8::from_str_radix(text, 16).ok()?, after))
            }) {
                Some((byte, after)) => {
                    rest = after;
                    byte
                }
                None => b'%',
            },
            other => *other,
        });
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_read_as_browsers_write_it() {
        let read = |body: &str| {
            let form = LinkForm::read(body.as_bytes());
            (form.password.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()), form.consent)
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(read("password=caf%C3%A9+%26+1&x=y"), (text("café & 1"), None));
        assert_eq!(read("consent=00ff&password=a&password=b"), (text("a"), text("00ff")));
        assert_eq!(read("password=%zz%4"), (text("%zz%4"), None));
        assert_eq!(read("password"), (text(""), None));
        assert_eq!(read("password=%ff"), (text("\u{fffd}"), None));
        assert_eq!(read(""), (None, None));
        assert_eq!(read("&&=&passwords=1"), (None, None));
    }
}
