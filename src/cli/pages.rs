//! Lists of the API, a page after the other: printed as they come, as a table or as a JSON object a
//! line.

use std::fmt;
use std::io::{self, Write};

use serde_json::Value;

use super::CliError;
use super::client::ApiClient;
use super::lines::print_text;
use super::table::TextTable;

/// The most that the API puts into one page.
const PAGE: u16 = 1000;

/// How much of a list is shown, and how.
#[derive(Debug, clap::Args)]
pub(super) struct Extent {
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 50, conflicts_with = "all",
        value_parser = clap::value_parser!(u16).range(1..=i64::from(PAGE)))]
    limit: u16,
    /// Show every one
    #[arg(long)]
    all: bool,
    /// Print a JSON object a line instead of a table
    #[arg(long)]
    json: bool,
}

/// A list of the API.
pub(super) struct List<'a> {
    pub(super) path: &'a [&'a str],
    pub(super) query: Vec<(&'static str, String)>,
    /// The field that holds the items.
    pub(super) items: &'static str,
    /// The columns of the table: title and field.
    pub(super) columns: &'static [(&'static str, &'static str)],
}

impl List<'_> {
    /// Print as much as `extent` says.
    pub(super) async fn print(self, client: &ApiClient, extent: &Extent) -> Result<(), CliError> {
        let limit = if extent.all { PAGE } else { extent.limit };
        let mut table = TextTable::new(self.columns);
        let mut cursor: Option<String> = None;
        loop {
            let mut query = self.query.clone();
            query.push(("limit", limit.to_string()));
            query.extend(cursor.clone().map(|cursor| ("cursor", cursor)));
            let mut page = client.get_with(self.path, &query).await?;
            let items = take_array(&mut page, self.items);
            print_text(&if extent.json { json_lines(&items) } else { table.page(&items) })?;
            let next = page.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
            if next.is_none() || next == cursor {
                return Ok(());
            }
            if !extent.all {
                // For the eyes alone: whoever counts lines counts those of stdout.
                let _ = writeln!(io::stderr(), "There are more: --all shows every one.");
                return Ok(());
            }
            cursor = next;
        }
    }
}

/// The list under `field`; empty when there is none.
pub(super) fn take_array(answer: &mut Value, field: &str) -> Vec<Value> {
    match answer.get_mut(field).map(Value::take) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

/// An object a line.
pub(super) fn json_lines(items: &[Value]) -> String {
    items.iter().fold(String::new(), |mut text, item| {
        let _ = fmt::Write::write_fmt(&mut text, format_args!("{item}\n"));
        text
    })
}
