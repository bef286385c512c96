//! The pages of links: lists, one link, and the forms that make and change them. One page a file.

pub(super) mod bulk;
pub(super) mod cell;
pub(super) mod chart;
pub(super) mod create;
pub(super) mod disable;
pub(super) mod edit;
pub(super) mod export;
pub(super) mod list;
pub(super) mod many;
pub(super) mod picture;
pub(super) mod show;

use crate::app::{App, AppError, MAIN, Rights};
use crate::web::visitor::Visitor;
use crate::web::words::{Words, fill};
use kurz_core::code::WorkspaceId;
use kurz_core::link::Strategy;
use kurz_core::time::Timestamp;

/// A workspace, as its pages show it.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) workspace: WorkspaceId,
    /// What the list is called.
    pub(super) title: String,
    /// Where its pages are.
    pub(super) base: String,
    /// Which of its pages this is.
    pub(super) tab: &'static str,
    pub(super) is_main: bool,
    /// Links of everybody in `main`.
    pub(super) is_all: bool,
    /// What the visitor may do there.
    pub(super) may: Rights,
}

impl Place {
    pub(super) async fn enter(
        app: &App,
        visitor: &Visitor,
        workspace: &str,
        tab: &'static str,
    ) -> Result<Self, AppError> {
        let workspace = App::workspace_id(workspace)?;
        let may = app.rights(&visitor.caller, &workspace).await?;
        let is_main = workspace.as_str() == MAIN;
        let words = visitor.language.words();
        let title = if is_main {
            words.links.own.to_owned()
        } else {
            fill(words.workspace.settings_of, &workspace)
        };
        Ok(Self {
            base: format!("/app/w/{workspace}"),
            workspace,
            title,
            tab,
            is_main,
            is_all: false,
            may,
        })
    }

    /// The page of one of its links.
    pub(super) fn link(&self, code: &str) -> String {
        format!("{}/l/{code}", self.base)
    }

    /// The list of those with a tag.
    pub(super) fn tagged(&self, tag: &str) -> String {
        let mut query = url::form_urlencoded::Serializer::new(format!("{}?", self.base));
        query.append_pair("tag", tag).finish()
    }
}

/// Tags as people write them, with commas between.
fn read_tags(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

/// What a `datetime-local` field sends, taken as UTC; `Err` when it is something else.
pub(super) fn read_time(text: &str) -> Result<Option<Timestamp>, ()> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let seconds = if text.len() == "2026-01-01T00:00".len() { ":00Z" } else { "Z" };
    Timestamp::parse_rfc3339(&format!("{text}{seconds}")).map(Some).ok_or(())
}

/// The same, the other way round.
fn write_time(at: Timestamp) -> String {
    at.to_rfc3339().get(..16).unwrap_or_default().to_owned()
}

/// What a strategy is called.
pub(super) const fn strategy_word(words: &Words, strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Deterministic => words.links.deterministic,
        Strategy::Counter => words.links.counter,
        Strategy::Random => words.links.random,
        Strategy::Custom => words.links.custom,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_forms_are_utc() {
        let noon = Timestamp::from_ms(1_773_576_000_000);
        assert_eq!(read_time(" 2026-03-15T12:00 "), Ok(Some(noon)));
        assert_eq!(read_time("2026-03-15T12:00:00"), Ok(Some(noon)));
        assert_eq!(read_time(&write_time(noon)), Ok(Some(noon)));
        assert_eq!(read_time(""), Ok(None));
        for bad in ["tomorrow", "2026-03-15", "2026-13-15T12:00", "2026-03-15T12:00+01:00"] {
            assert_eq!(read_time(bad), Err(()), "{bad}");
        }
    }

    #[test]
    fn tags_stand_between_commas() {
        assert_eq!(read_tags(" a, b c ,,d"), ["a", "b c", "d"]);
        assert!(read_tags(" , ").is_empty());
    }
}
