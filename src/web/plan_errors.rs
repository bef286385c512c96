//! Sentences for what is wrong with a plan, in the visitor's language. Its reader says it in English, with the nearest
//! known value where there is one.

use crate::web::i18n::{PlanTrouble, Words, fill};

const NEAREST: &str = "nearest known value is ";

/// The sentence for a field of a plan; `None`: it is not about a plan, or there is nothing better than the detail.
pub(super) fn explain(words: &Words, field: &str, code: &str, detail: &str) -> Option<String> {
    let w = &words.plan_trouble;
    let text = match code {
        "rules-invalid" => return rule(w, field, detail),
        "rule-action" => w.action,
        "rules-too-large" => w.too_large,
        "rule-unreachable" => w.unreachable,
        "rule-name-taken" => w.name_taken,
        "status-permanent" => w.status_permanent,
        "placeholder-unknown" => w.placeholder,
        "valid-from-after-end" => w.valid_from_after_end,
        "valid-from-invalid" => words.trouble.time_invalid,
        "click-limit-invalid" => words.trouble.number_invalid,
        "visitor-unknown" => w.visitor_unknown,
        "health-off" => w.health_off,
        "link-password-invalid" => w.password,
        "utm-invalid" | "consent-invalid" | "card-invalid" => w.text_too_long,
        "app-invalid" if field.ends_with("app_id") => w.app_id,
        "app-invalid" if field.ends_with("package") => w.package,
        "app-invalid" if field.ends_with("path") => w.app_path,
        "app-invalid" if field.contains("sha256") => w.fingerprint,
        _ => return None,
    };
    Some(text.to_owned())
}

fn rule(w: &PlanTrouble, field: &str, detail: &str) -> Option<String> {
    if let Some((_, near)) = detail.split_once(NEAREST) {
        return Some(fill(w.value_unknown, near.trim_end_matches('.')));
    }
    // `rules[2].when.country[0]` is about `country`.
    let last = field.rsplit('.').next().unwrap_or_default();
    let (key, index) = last.split_once('[').map_or((last, None), |(key, at)| (key, Some(at)));
    let text = match (key, index) {
        ("from" | "to_time" | "ends_at", _) => w.time,
        ("hours", _) => w.hours,
        ("language", Some(_)) => w.language,
        ("network", Some(_)) => w.network,
        ("region", Some(_)) => w.region,
        ("referrer", Some(_)) => w.referrer,
        ("weight", _) => w.weight,
        ("winner", _) => w.winner,
        ("name", None) => w.name,
        (
            "device" | "os" | "browser" | "in_app" | "language" | "country" | "region"
            | "continent" | "network" | "query" | "referrer" | "days",
            None,
        ) => w.empty,
        ("not" | "any" | "when", _) if detail.contains("empty") => w.group_empty,
        _ => return None,
    };
    Some(text.to_owned())
}
