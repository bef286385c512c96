//! JSON as people read it: rows in columns, and one thing line by line. It knows no field's meaning.
//!
//! Invariant: what a server sends moves no cursor, colours nothing and reorders no text: hidden characters are
//! written out.

use serde_json::Value;

use kurz_core::visible_text::visible;

/// Rows under a head, a page at a time. The columns of a later page are no narrower.
pub(super) struct TextTable {
    fields: &'static [(&'static str, &'static str)],
    widths: Vec<usize>,
    is_new: bool,
}

impl TextTable {
    /// A table of these columns: title and field.
    pub(super) fn new(fields: &'static [(&'static str, &'static str)]) -> Self {
        Self { fields, widths: vec![0; fields.len()], is_new: true }
    }

    /// The lines of one more page.
    pub(super) fn page(&mut self, items: &[Value]) -> String {
        let row =
            |item: &Value| self.fields.iter().map(|(_, field)| cell(item.get(*field))).collect();
        let mut rows: Vec<Vec<String>> = items.iter().map(row).collect();
        if std::mem::take(&mut self.is_new) {
            rows.insert(0, self.fields.iter().map(|(title, _)| (*title).to_owned()).collect());
        }
        for row in &rows {
            for (width, cell) in self.widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        rows.iter().map(|row| line(row, &self.widths)).collect()
    }
}

/// One thing, a line for each field that has a value.
pub(super) fn record(item: &Value, fields: &[&str]) -> String {
    let rows: Vec<[String; 2]> = fields
        .iter()
        .map(|field| [(*field).to_owned(), cell(item.get(*field))])
        .filter(|[_, cell]| cell != NOTHING)
        .collect();
    let width = rows.iter().map(|[field, _]| field.len()).max().unwrap_or_default();
    rows.iter().map(|row| line(row, &[width, 0])).collect()
}

fn line(row: &[String], widths: &[usize]) -> String {
    let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}  "));
    let mut line: String = cells.collect();
    line.truncate(line.trim_end().len());
    line.push('\n');
    line
}

/// What stands for no value.
const NOTHING: &str = "-";

fn cell(value: Option<&Value>) -> String {
    let text = match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => {
            items.iter().map(|item| cell(Some(item))).collect::<Vec<_>>().join(", ")
        }
        Some(other) => other.to_string(),
    };
    if text.is_empty() {
        return NOTHING.to_owned();
    }
    visible(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_the_head_comes_once() {
        let mut table = TextTable::new(&[("CODE", "code"), ("HITS", "hits"), ("TITLE", "title")]);
        let first = table.page(&[json!({"code": "promo-2", "hits": 3, "title": "Größe"})]);
        assert_eq!(first, "CODE     HITS  TITLE\npromo-2  3     Größe\n");
        let second = table.page(&[json!({"code": "a", "hits": 12345, "title": null})]);
        assert_eq!(second, "a        12345  -\n");
    }

    #[test]
    fn a_record_shows_what_there_is() {
        let item = json!({"code": "a", "title": null, "tags": ["x", "y"], "n": 0, "none": []});
        let text = record(&item, &["code", "title", "tags", "n", "none"]);
        assert_eq!(text, "code  a\ntags  x, y\nn     0\n");
    }

    #[test]
    fn nothing_that_is_shown_commands_the_terminal() {
        let item = json!({"title": "\u{1b}[31mred\r\n\u{9b}2J \u{202e}gpj.exe"});
        let text = record(&item, &["title"]);
        assert!(!text.trim_end().contains(kurz_core::visible_text::is_hidden), "{text:?}");
        assert!(text.contains("\\u202egpj.exe"), "{text:?}");
    }
}
