//! `/privacy/stats`: what is kept about visitors, made from the settings in force; `kurz privacy` prints the same.

use std::time::Duration;

use askama::Template;
use axum::Extension;
use axum::response::Response;

use crate::app::PrivacyNotice;
use crate::language::Language;
use crate::web::errors::PageError;
use crate::web::i18n::{PrivacyWords, Words, fill};
use crate::web::page::{self, Layout};
use crate::web::preview::HostOfRequest;
use crate::web::visitor::PublicCall;
use kurz_core::analytics::{AnalyticsMode, VisitorPeriod};

pub(in crate::web) const PATH: &str = "/privacy/stats";

/// How long the events of the mode `aggregate` are kept.
const AGGREGATE_KEEP: Duration = Duration::from_hours(48);
const DAY: Duration = Duration::from_hours(24);

/// A part of the notice: its heading and its sentences.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoticePart {
    pub(crate) heading: &'static str,
    pub(crate) sentences: Vec<String>,
}

#[derive(Template)]
#[template(path = "privacy.html")]
struct NoticePage {
    page: Layout,
    parts: Vec<NoticePart>,
}

/// `GET /privacy/stats`, on every host.
pub(in crate::web) async fn page(
    host: Option<Extension<HostOfRequest>>,
    PublicCall { app, visitor, .. }: PublicCall,
) -> Result<Response, PageError> {
    let host = host.map(|Extension(host)| host.0).unwrap_or_default();
    let notice = app.privacy_notice(&host).await?;
    // It may stand on a workspace's own host, where nobody is signed in and no other page is.
    let layout = Layout { path: PATH.to_owned(), ..Layout::bare(visitor.words()) };
    let parts = notice_parts(&notice, visitor.language);
    Ok(page::show(&NoticePage { page: layout, parts }))
}

/// The notice as plain text, in English: for a record of processing.
pub(crate) fn notice_text(notice: &PrivacyNotice) -> String {
    let words = &Words::of(Language::English).privacy;
    let mut text = format!("{}\n\n{}\n", words.title, words.intro);
    for part in notice_parts(notice, Language::English) {
        let sentences = part.sentences.iter().map(|sentence| format!("- {sentence}\n"));
        text.extend(["\n", part.heading, "\n"]);
        text.extend(sentences);
    }
    text
}

/// What is kept, for how long, what is not, and how to object.
fn notice_parts(notice: &PrivacyNotice, language: Language) -> Vec<NoticePart> {
    let w = &Words::of(language).privacy;
    let (kept, how_long) = match notice.mode {
        AnalyticsMode::Off => (Vec::new(), Vec::new()),
        AnalyticsMode::Aggregate => {
            let sums = vec![w.sums.to_owned(), visitors(w, notice.period)];
            (sums, times(w, AGGREGATE_KEEP, notice.sums_keep))
        }
        AnalyticsMode::Events => {
            let place = if notice.has_geo_file { w.events_place } else { "" };
            let events = vec![fill(w.events, place), visitors(w, notice.period)];
            (events, times(w, notice.events_keep.unwrap_or(AGGREGATE_KEEP), notice.sums_keep))
        }
    };
    let part = |heading, first: &str, rest: Vec<String>| NoticePart {
        heading,
        sentences: std::iter::once(first.to_owned()).chain(rest).collect(),
    };
    let mut not_kept = vec![w.no_address, w.no_cookie];
    if notice.mode != AnalyticsMode::Off {
        not_kept.push(w.no_profile);
    }
    vec![
        part(w.kept, w.counts, kept),
        part(w.how_long, w.long_counts, how_long),
        NoticePart {
            heading: w.not_kept,
            sentences: not_kept.into_iter().map(str::to_owned).collect(),
        },
        NoticePart { heading: w.object, sentences: objections(w, notice) },
    ]
}

fn visitors(w: &PrivacyWords, period: VisitorPeriod) -> String {
    let every = match period {
        VisitorPeriod::Day => w.every_day,
        VisitorPeriod::Week => w.every_week,
        VisitorPeriod::Month => w.every_month,
    };
    fill(w.visitors, every)
}

fn times(w: &PrivacyWords, events: Duration, sums: Duration) -> Vec<String> {
    vec![fill(w.long_events, length(w, events)), fill(w.long_sums, length(w, sums))]
}

fn length(w: &PrivacyWords, length: Duration) -> String {
    // Two days are said in hours, as everybody does.
    if length <= DAY * 2 {
        fill(w.hours, length.as_secs() / 3600)
    } else {
        fill(w.days, length.as_secs() / DAY.as_secs())
    }
}

fn objections(w: &PrivacyWords, notice: &PrivacyNotice) -> Vec<String> {
    let mut ways = Vec::new();
    if notice.mode != AnalyticsMode::Off {
        let signals: Vec<&str> = [(notice.honours_gpc, w.gpc), (notice.honours_dnt, w.dnt)]
            .into_iter()
            .filter_map(|(honoured, name)| honoured.then_some(name))
            .collect();
        if !signals.is_empty() {
            ways.push(fill(w.object_signal, signals.join(&format!(" {} ", w.or))));
        }
        if let Some(name) = &notice.no_track_param {
            ways.push(fill(w.object_param, format!("?{name}")));
        }
    }
    ways.push(w.object_contact.to_owned());
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(mode: AnalyticsMode) -> PrivacyNotice {
        PrivacyNotice {
            mode,
            events_keep: Some(DAY * 90),
            sums_keep: DAY * 730,
            period: VisitorPeriod::Day,
            honours_gpc: true,
            honours_dnt: false,
            no_track_param: Some("notrack".to_owned()),
            has_geo_file: false,
        }
    }

    #[test]
    fn the_notice_says_what_the_settings_say() {
        let text = notice_text(&notice(AnalyticsMode::Events));
        for piece in ["90 days", "730 days", "Global Privacy Control", "?notrack", "new every day"]
        {
            assert!(text.contains(piece), "no {piece} in {text}");
        }
        assert!(!text.contains("the city") && !text.contains("Do Not Track"), "{text}");
        let with_places = PrivacyNotice { has_geo_file: true, ..notice(AnalyticsMode::Events) };
        assert!(notice_text(&with_places).contains("the city"));
        let weekly = PrivacyNotice { period: VisitorPeriod::Week, ..notice(AnalyticsMode::Events) };
        assert!(notice_text(&weekly).contains("new every week"));
    }

    #[test]
    fn narrower_modes_say_less() {
        let text = notice_text(&notice(AnalyticsMode::Aggregate));
        assert!(text.contains("48 hours") && text.contains("Sums per day and link"), "{text}");
        let text = notice_text(&notice(AnalyticsMode::Off));
        assert!(!text.contains("hash") && !text.contains("days"), "{text}");
        for language in Language::ALL {
            assert_eq!(notice_parts(&notice(AnalyticsMode::Off), language).len(), 4);
        }
    }
}
