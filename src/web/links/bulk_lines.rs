//! The lines of the bulk page: an address alone, or columns for address, code, title and tags, separated by tabs,
//! semicolons, commas or a space. A first line with the names of the columns may choose other ones.
//!
//! An address may itself hold commas and semicolons. Without names, such a line has columns only if what follows
//! the address could be a code; quotation marks around the address leave no doubt.

use crate::app::LinkRequest;
use crate::web::front::with_scheme;
use kurz_core::link::field_text::read_tags;
use kurz_core::link::{Change, LinkFieldChanges};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Url,
    Code,
    Title,
    Tags,
    /// One that is not read.
    Other,
}

impl Column {
    /// The columns of lines without names.
    const USUAL: [Self; 4] = [Self::Url, Self::Code, Self::Title, Self::Tags];

    fn named(name: &str) -> Self {
        match name.trim().to_ascii_lowercase().as_str() {
            "url" | "original_url" | "long_url" | "target" | "address" => Self::Url,
            "code" | "custom_code" | "short_code" | "slug" | "keyword" => Self::Code,
            "title" | "name" => Self::Title,
            "tags" | "tag" => Self::Tags,
            _ => Self::Other,
        }
    }
}

/// The first line, if it names the columns.
#[derive(Clone, Debug)]
pub(super) struct ColumnNames {
    separator: char,
    columns: Vec<Column>,
}

impl ColumnNames {
    pub(super) fn read(line: &str) -> Option<Self> {
        let separator = ['\t', ';', ','].into_iter().find(|one| line.contains(*one));
        let cells = cells(line, separator.unwrap_or(','));
        let columns: Vec<Column> = cells.iter().map(|name| Column::named(name)).collect();
        // A line `url` alone is one as well; `example.com` is not.
        columns
            .contains(&Column::Url)
            .then_some(Self { separator: separator.unwrap_or(','), columns })
    }
}

/// What a line asks for.
pub(super) fn read_line(line: &str, names: Option<&ColumnNames>) -> LinkRequest {
    match names {
        Some(names) => request(&cells(line, names.separator), &names.columns),
        None => request(&split(line), &Column::USUAL),
    }
}

fn request(cells: &[String], columns: &[Column]) -> LinkRequest {
    let cell = |column| {
        let at = columns.iter().position(|one| *one == column)?;
        cells.get(at).map(|cell| cell.trim()).filter(|cell| !cell.is_empty())
    };
    let tags = cell(Column::Tags).map(read_tags);
    LinkRequest {
        original_url: with_scheme(cell(Column::Url).unwrap_or_default()),
        custom_code: cell(Column::Code).map(str::to_owned),
        fields: LinkFieldChanges {
            title: Change::To(cell(Column::Title).map(str::to_owned)),
            tags: Change::To(tags),
            ..LinkFieldChanges::default()
        },
        ..LinkRequest::default()
    }
}

/// The columns of a line without names.
fn split(line: &str) -> Vec<String> {
    if line.contains('\t') {
        return cells(line, '\t');
    }
    // The one that comes first; inside of quotation marks none counts.
    let separator = cells(line, ';')
        .first()
        .map_or(0, String::len)
        .cmp(&cells(line, ',').first().map_or(0, String::len));
    let separator = if separator.is_lt() { ';' } else { ',' };
    let columns = cells(line, separator);
    if let [_, code, ..] = columns.as_slice() {
        let is_spaced = line.contains(&format!("{separator} "));
        let could_be_code =
            code.trim().chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
        if line.starts_with('"') || is_spaced || could_be_code {
            return columns;
        }
    }
    match line.split_once(char::is_whitespace) {
        Some((url, code)) => vec![unquoted(url), code.trim().to_owned()],
        None => vec![unquoted(line)],
    }
}

fn unquoted(text: &str) -> String {
    text.trim_matches('"').to_owned()
}

/// A line of a CSV file: cells in quotation marks may hold the separator, and two marks for one.
fn cells(line: &str, separator: char) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(c) = letters.next() {
        let Some(cell) = cells.last_mut() else { break };
        match c {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' if is_quoted || cell.trim().is_empty() => is_quoted = !is_quoted,
            c if c == separator && !is_quoted => cells.push(String::new()),
            c => cell.push(c),
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Address, code, title and tags.
    fn read(line: &str, names: Option<&str>) -> (String, String, String, String) {
        let names = names.map(|line| ColumnNames::read(line).unwrap());
        let request = read_line(line, names.as_ref());
        let title = match request.fields.title {
            Change::To(title) => title.unwrap_or_default(),
            Change::Keep => String::new(),
        };
        let tags = match request.fields.tags {
            Change::To(tags) => tags.unwrap_or_default().join("|"),
            Change::Keep => String::new(),
        };
        (request.original_url, request.custom_code.unwrap_or_default(), title, tags)
    }

    fn row(url: &str, code: &str, title: &str, tags: &str) -> (String, String, String, String) {
        (url.to_owned(), code.to_owned(), title.to_owned(), tags.to_owned())
    }

    #[test]
    fn a_line_is_an_address_or_columns() {
        let table = [
            ("example.com/a", row("https://example.com/a", "", "", "")),
            ("http://example.com  promo", row("http://example.com", "promo", "", "")),
            ("http://example.com\t promo", row("http://example.com", "promo", "", "")),
            ("http://example.com,promo", row("http://example.com", "promo", "", "")),
            ("http://example.com;promo;Sale", row("http://example.com", "promo", "Sale", "")),
            ("http://a.b\tpromo\tBig, sale\tx, y", row("http://a.b", "promo", "Big, sale", "x|y")),
            (
                "http://a.b,promo,\"Big, sale\",\"x,y\"",
                row("http://a.b", "promo", "Big, sale", "x|y"),
            ),
            ("http://a.b,,Sale", row("http://a.b", "", "Sale", "")),
            ("http://a.b, no code!", row("http://a.b", "no code!", "", "")),
            // Too short for a code: the person is told so.
            ("http://a.b,x", row("http://a.b", "x", "", "")),
            // Commas and semicolons of an address.
            (
                "http://maps.example/@48.1,11.5,12z",
                row("http://maps.example/@48.1,11.5,12z", "", "", ""),
            ),
            ("http://a.b/?x=1;y=2", row("http://a.b/?x=1;y=2", "", "", "")),
            ("http://a.b/?x=1,2.5 promo", row("http://a.b/?x=1,2.5", "promo", "", "")),
            ("\"http://a.b/x,yes\";promo", row("http://a.b/x,yes", "promo", "", "")),
            ("\"http://a.b/x,yes\"", row("http://a.b/x,yes", "", "", "")),
            (
                "\"http://a.b/x\",promo,\"He said \"\"hi\"\"\"",
                row("http://a.b/x", "promo", "He said \"hi\"", ""),
            ),
        ];
        for (line, expected) in table {
            assert_eq!(read(line, None), expected, "{line}");
        }
    }

    #[test]
    fn a_first_line_names_the_columns() {
        let expected = row("http://a.b/x,y", "promo", "Sale", "");
        assert_eq!(read("Sale;http://a.b/x,y;7;promo", Some("Title;URL;clicks;Code")), expected);
        let expected = row("https://a.b", "", "", "");
        assert_eq!(read("a.b", Some("url")), expected);
        for line in ["example.com", "http://a.b/url,code", "promo,spring", ""] {
            assert!(ColumnNames::read(line).is_none(), "{line}");
        }
    }
}
