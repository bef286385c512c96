//! How templates escape text: as HTML, and with characters that are not to be seen or that reorder the text beside
//! them written out (`kurz_core::visible_text`), so that a title cannot make an address look like another one.
//!
//! What a form sends back and what a link leads to has to stay as it is: templates write `|e("xml")` there, which
//! is HTML alone. `askama.toml` names this file.

use std::fmt::{self, Write};

use askama::filters::{Escaper, Html};
use kurz_core::visible_text::visible_lines;

#[derive(Clone, Copy, Debug)]
pub(crate) struct VisibleHtml;

impl Escaper for VisibleHtml {
    fn write_escaped_str<W: Write>(&self, dest: W, string: &str) -> fmt::Result {
        Html.write_escaped_str(dest, &visible_lines(string))
    }
}
