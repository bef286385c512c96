//! The figures of all rounds, and the table of their medians.

use std::fmt::Write as _;
use std::time::Duration;

/// A table whose cells hold one figure a round.
pub(crate) struct Table {
    columns: Vec<String>,
    rows: Vec<(String, Vec<Vec<f64>>)>,
}

impl Table {
    pub(crate) fn new(columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Add a round's figure. Rows are in the order of their first figure.
    pub(crate) fn add(&mut self, row: &str, column: usize, figure: f64) {
        let at = self.rows.iter().position(|(name, _)| name == row).unwrap_or_else(|| {
            self.rows.push((row.to_owned(), vec![Vec::new(); self.columns.len()]));
            self.rows.len() - 1
        });
        let cell = self.rows.get_mut(at).and_then(|(_, cells)| cells.get_mut(column));
        cell.expect("the table has this column").push(figure);
    }

    /// The medians as a Markdown table.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("| | {} |\n|---|", self.columns.join(" | "));
        text.push_str(&"---|".repeat(self.columns.len()));
        for (name, cells) in &self.rows {
            let cells: Vec<String> = cells.iter().map(|cell| shown(median(cell))).collect();
            let _ = write!(text, "\n| {name} | {} |", cells.join(" | "));
        }
        text.push('\n');
        text
    }
}

/// Operations per second.
pub(crate) fn rate(count: usize, took: Duration) -> f64 {
    f64::from(u32::try_from(count).expect("a round is small")) / took.as_secs_f64()
}

fn median(figures: &[f64]) -> Option<f64> {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = sorted.get(sorted.len() / 2)?;
    let lower = sorted.get((sorted.len() - 1) / 2)?;
    Some(f64::midpoint(*lower, *upper))
}

/// Thousands apart when it is large, two digits after the point when it is small.
fn shown(figure: Option<f64>) -> String {
    let Some(figure) = figure else { return "–".to_owned() };
    if figure < 100.0 {
        return format!("{figure:.2}");
    }
    let digits = format!("{figure:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
