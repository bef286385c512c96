//! The pages of links: lists, one link, and the forms that make and change them. One page a file.

pub(super) mod bulk;
pub(super) mod bulk_actions;
mod bulk_lines;
pub(super) mod chart;
pub(super) mod create;
pub(super) mod disable;
pub(super) mod edit;
pub(super) mod export;
mod form_fields;
pub(super) mod list;
pub(super) mod option_form;
pub(super) mod options;
mod plan_card;
pub(super) mod plan_page;
pub(super) mod qr;
pub(super) mod rules;
pub(super) mod show;

use crate::app::{App, AppError, MAIN, Rights};
pub(super) use crate::csv_cell;
use crate::web::i18n::{Words, fill};
use crate::web::visitor::Visitor;
use kurz_core::code::WorkspaceId;
use kurz_core::link::Strategy;

/// A workspace, as its pages show it.
#[derive(Debug)]
pub(super) struct WorkspaceView {
    pub(super) workspace: WorkspaceId,
    pub(super) title: String,
    pub(super) base: String,
    /// Which of its pages this is.
    pub(super) tab: &'static str,
    pub(super) is_main: bool,
    /// Links of everybody in `main`.
    pub(super) is_all: bool,
    /// What the visitor may do there.
    pub(super) may: Rights,
}

impl WorkspaceView {
    pub(super) async fn enter(
        app: &App,
        visitor: &Visitor,
        workspace: &str,
        tab: &'static str,
    ) -> Result<Self, AppError> {
        let workspace = App::workspace_id(workspace)?;
        let may = app.rights(&visitor.caller, &workspace).await?;
        let is_main = workspace.as_str() == MAIN;
        let words = visitor.words();
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

pub(super) const fn strategy_word(words: &Words, strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Deterministic => words.links.deterministic,
        Strategy::Counter => words.links.counter,
        Strategy::Random => words.links.random,
        Strategy::Custom => words.links.custom,
    }
}
