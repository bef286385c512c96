//! A plan document as JSON, in a fixed order; what is not set is left out.

use super::document::{
    Action, AppLinks, Card, Consent, ConsentShow, PlanDocument, PlanField, Rule, Split, Test,
    Tests, UtmField, Variant, When,
};
use super::json::PlanJson;
use super::test_key::{QueryTest, QueryValue, ValueShape};
use crate::time::Timestamp;

impl PlanDocument {
    /// One field as the API shows it and as it is stored; null if it is not set.
    pub fn field(&self, field: PlanField) -> PlanJson {
        let text = |text: &Option<String>| text.clone().map_or(PlanJson::Null, PlanJson::Text);
        match field {
            PlanField::Rules if self.rules.is_empty() => PlanJson::Null,
            PlanField::Rules => PlanJson::List(self.rules.iter().map(Rule::json).collect()),
            PlanField::Split => self.split.as_ref().map_or(PlanJson::Null, Split::json),
            PlanField::Password => text(&self.password),
            PlanField::ValidFrom => time(self.valid_from),
            PlanField::ClickLimit if self.click_limit == 0 => PlanJson::Null,
            PlanField::ClickLimit => {
                PlanJson::Integer(i64::try_from(self.click_limit).unwrap_or(i64::MAX))
            }
            PlanField::ExpiredUrl => text(&self.expired_url),
            PlanField::PendingUrl => text(&self.pending_url),
            PlanField::FallbackUrl => text(&self.fallback_url),
            PlanField::Query => self.query.map_or(PlanJson::Null, |it| named(it.name())),
            PlanField::Utm => object(
                UtmField::ALL
                    .iter()
                    .zip(&self.utm.0)
                    .map(|(field, value)| (field.name(), text(value))),
            ),
            PlanField::Consent => self.consent.as_ref().map_or(PlanJson::Null, Consent::json),
            PlanField::App => self.app.as_ref().map_or(PlanJson::Null, AppLinks::json),
            PlanField::Card => self.card.as_ref().map_or(PlanJson::Null, Card::json),
            PlanField::Robots => self.robots.map_or(PlanJson::Null, |it| named(it.name())),
        }
    }
}

fn named(name: &str) -> PlanJson {
    PlanJson::Text(name.to_owned())
}

fn time(at: Option<Timestamp>) -> PlanJson {
    at.map_or(PlanJson::Null, |at| PlanJson::Text(at.to_rfc3339()))
}

/// The entries that are not null; null if all are.
fn object<'a>(entries: impl Iterator<Item = (&'a str, PlanJson)>) -> PlanJson {
    let entries = entries.filter(|(_, value)| *value != PlanJson::Null);
    let entries: Vec<_> = entries.map(|(key, value)| (key.to_owned(), value)).collect();
    if entries.is_empty() { PlanJson::Null } else { PlanJson::Object(entries) }
}

fn optional(text: Option<&String>) -> PlanJson {
    text.map_or(PlanJson::Null, |text| PlanJson::Text(text.clone()))
}

impl Rule {
    pub(super) fn json(&self) -> PlanJson {
        let (to, split, block) = match &self.action {
            Action::To(to) => (named(to), PlanJson::Null, PlanJson::Null),
            Action::Split(split) => (PlanJson::Null, split.json(), PlanJson::Null),
            Action::Block(status) => {
                (PlanJson::Null, PlanJson::Null, PlanJson::Integer((*status).into()))
            }
        };
        let entries = [
            ("name", optional(self.name.as_ref())),
            ("paused", if self.paused { PlanJson::Bool(true) } else { PlanJson::Null }),
            ("when", self.when.json()),
            ("unknown", if self.unknown_matches { named("match") } else { PlanJson::Null }),
            ("to", to),
            ("split", split),
            ("block", block),
        ];
        object(entries.into_iter())
    }
}

impl When {
    pub(super) fn json(&self) -> PlanJson {
        let mut entries = self.tests.entries();
        if !self.any.is_empty() {
            let any = self.any.iter().map(|tests| PlanJson::Object(tests.entries())).collect();
            entries.push(("any".to_owned(), PlanJson::List(any)));
        }
        if let Some(not) = &self.not {
            entries.push(("not".to_owned(), PlanJson::Object(not.entries())));
        }
        PlanJson::Object(entries)
    }
}

impl Tests {
    fn entries(&self) -> Vec<(String, PlanJson)> {
        self.0.iter().map(|test| (test.key.name().to_owned(), test.json())).collect()
    }
}

impl Test {
    /// Its values as a request has them.
    pub fn json(&self) -> PlanJson {
        let list = || PlanJson::List(self.values.iter().cloned().map(PlanJson::Text).collect());
        let first = || self.values.first().map_or("", String::as_str);
        match self.key.shape() {
            ValueShape::ListOrTrue if first() == "true" => PlanJson::Bool(true),
            ValueShape::List | ValueShape::ListOrTrue => list(),
            ValueShape::Text => named(first()),
            ValueShape::Bool => PlanJson::Bool(first() == "true"),
            ValueShape::Pairs => {
                let pairs = self.values.iter().filter_map(|text| QueryTest::parse(text));
                let pair = |test: QueryTest<'_>| {
                    let value = match test.value {
                        QueryValue::Is(value) => named(value),
                        QueryValue::StartsWith(start) => PlanJson::Text(format!("{start}*")),
                        QueryValue::Any => PlanJson::Bool(true),
                        QueryValue::None => PlanJson::Null,
                    };
                    (test.name.to_owned(), value)
                };
                PlanJson::Object(pairs.map(pair).collect())
            }
        }
    }
}

impl Split {
    pub(super) fn json(&self) -> PlanJson {
        let variants = PlanJson::List(self.variants.iter().map(Variant::json).collect());
        if self.ends_at.is_none() && self.winner.is_none() {
            return variants;
        }
        let entries = [
            ("variants", variants),
            ("ends_at", time(self.ends_at)),
            ("winner", optional(self.winner.as_ref())),
        ];
        object(entries.into_iter())
    }
}

impl Variant {
    pub(super) fn json(&self) -> PlanJson {
        let entries = [
            ("name", named(&self.name)),
            ("weight", PlanJson::Integer(self.weight.into())),
            ("to", named(&self.to)),
        ];
        object(entries.into_iter())
    }
}

impl Consent {
    pub(super) fn json(&self) -> PlanJson {
        if self.text.is_none() && self.button.is_none() {
            return named(self.show.name());
        }
        let show = if self.show == ConsentShow::Always { PlanJson::Null } else { named("once") };
        let entries = [
            ("text", optional(self.text.as_ref())),
            ("button", optional(self.button.as_ref())),
            ("show", show),
        ];
        object(entries.into_iter())
    }
}

impl AppLinks {
    pub(super) fn json(&self) -> PlanJson {
        let ios = self.ios.as_ref().map_or(PlanJson::Null, |app| {
            let entries = [
                ("app_id", named(&app.app_id)),
                ("path", optional(app.path.as_ref())),
                ("store_url", optional(app.store_url.as_ref())),
            ];
            object(entries.into_iter())
        });
        let android = self.android.as_ref().map_or(PlanJson::Null, |app| {
            let sha256 = PlanJson::List(app.sha256.iter().cloned().map(PlanJson::Text).collect());
            let entries = [
                ("package", named(&app.package)),
                ("sha256", sha256),
                ("path", optional(app.path.as_ref())),
                ("store_url", optional(app.store_url.as_ref())),
            ];
            object(entries.into_iter())
        });
        object([("ios", ios), ("android", android)].into_iter())
    }
}

impl Card {
    pub(super) fn json(&self) -> PlanJson {
        let entries = [
            ("title", optional(self.title.as_ref())),
            ("description", optional(self.description.as_ref())),
            ("image_url", optional(self.image_url.as_ref())),
        ];
        object(entries.into_iter())
    }
}
