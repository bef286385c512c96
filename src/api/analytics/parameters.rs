//! The parameters of a question. What they mean is decided in `app`, once for the API and the pages.

use axum::extract::FromRequestParts;
use http::request::Parts;
use utoipa::IntoParams;

use crate::problem::Problem;

/// The query as names and values, in their order: some names repeat.
#[derive(Debug)]
pub(crate) struct QueryPairs(pub(crate) Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for QueryPairs {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        Ok(Self(url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()))
    }
}

impl QueryPairs {
    /// Take a parameter that is no part of the question; the last one, where it repeats.
    pub(crate) fn take(&mut self, name: &str) -> Option<String> {
        let mut taken = None;
        self.0.retain_mut(|(known, value)| {
            let is_it = known == name;
            if is_it {
                taken = Some(std::mem::take(value));
            }
            !is_it
        });
        taken
    }
}

/// What is asked.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "described in the OpenAPI document, read by `app::read_question`")]
pub(crate) struct QuestionParams {
    /// When the range begins: a time (RFC 3339), a date in the zone, or, without `to`, one of `today`, `yesterday`,
    /// `24h`, `7d`, `30d` (if you say nothing), `90d`, `12mo`, `month`, `year` and `all`.
    #[param(example = "30d")]
    from: Option<String>,
    /// When the range ends; that moment is not part of it.
    to: Option<String>,
    /// The time zone that days, weeks and months begin in, by its IANA name; UTC if you say nothing.
    #[param(example = "Europe/Berlin")]
    zone: Option<String>,
    /// `hour` (up to 31 days), `day`, `week`, `month` or `auto`; at most 1,000 points.
    #[param(pattern = "^(hour|day|week|month|auto)?$")]
    interval: Option<String>,
    /// Up to 16 dimensions, with commas between them: `link`, `tag`, `host`, `class`, `bot`, `referrer`, `channel`,
    /// `browser`, `browser_version`, `os`, `os_version`, `device`, `app`, `language`, `country`, `region`, `city`,
    /// `utm_source`, `utm_medium`, `utm_campaign`, `utm_term`, `utm_content`, `ref`, `trigger`, `variant`, `rule`,
    /// `answer`.
    #[param(example = "country,referrer")]
    group: Option<String>,
    /// Rows in each group: 1 to 1,000, 10 if you say nothing.
    #[param(pattern = "^[0-9]*$")]
    limit: Option<String>,
    /// Rows that are skipped, where there is one group.
    #[param(pattern = "^[0-9]*$")]
    offset: Option<String>,
    /// `clicks`, `visitors`, `change` or `name`.
    #[param(pattern = "^(clicks|visitors|change|name)?$")]
    order: Option<String>,
    /// `country:DE,AT`, `-referrer:t.co`, `utm_campaign:spring*`, `city:` (not known). Repeated filters must all
    /// match; one of the values of a filter must. A backslash before a comma or a star makes it a letter.
    #[param(example = "country:DE,AT")]
    filter: Option<Vec<String>>,
    /// `none`, `previous`, `year`, or two times with a slash between them.
    compare: Option<String>,
    /// `person` (if you say nothing), `bot`, `preview`, `head`, `prefetch`, `excluded` or `all`.
    #[param(pattern = "^(person|bot|preview|head|prefetch|excluded|all)?$")]
    class: Option<String>,
}
