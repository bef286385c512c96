//! What stored values are called: countries, languages, channels, devices, in the reader's language. Values without
//! a name of their own (hosts, browsers, campaigns) are shown as they are.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::language::Language;
use crate::web::i18n::AnalyticsWords;
use crate::web::i18n::Words;
use kurz_core::analytics::{Dimension, PRIVATE, TextColumn, UNKNOWN};

type NameTable = HashMap<&'static str, [&'static str; 3]>;

static COUNTRIES: LazyLock<NameTable> =
    LazyLock::new(|| read_names(include_str!("../../../assets/countries.txt")));
static LANGUAGES: LazyLock<NameTable> =
    LazyLock::new(|| read_names(include_str!("../../../assets/languages.txt")));

/// Lines of a code and its names in the three languages, with tabs between.
fn read_names(text: &'static str) -> NameTable {
    let row = |line: &'static str| {
        let mut cells = line.split('\t');
        let mut next = || cells.next();
        Some((next()?, [next()?, next()?, next()?]))
    };
    text.lines().filter_map(row).collect()
}

fn in_language(names: &[&'static str; 3], language: Language) -> &'static str {
    let [english, german, spanish] = names;
    match language {
        Language::English => english,
        Language::German => german,
        Language::Spanish => spanish,
    }
}

/// The name of a country, by its ISO code.
pub(in crate::web) fn country(code: &str, language: Language) -> Option<&'static str> {
    COUNTRIES.get(code).map(|names| in_language(names, language))
}

/// All countries with their names, in the order of the names.
pub(in crate::web) fn countries(language: Language) -> Vec<(&'static str, &'static str)> {
    let named =
        |(code, names): (&&'static str, &[&'static str; 3])| (*code, in_language(names, language));
    let mut countries: Vec<_> = COUNTRIES.iter().map(named).collect();
    countries.sort_by_key(|(_, name)| name.to_lowercase());
    countries
}

/// The code of a country by its name in a language.
pub(in crate::web) fn country_code(name: &str, language: Language) -> Option<&'static str> {
    code_of(&COUNTRIES, name, language)
}

/// The code of a language by its name in a language.
pub(in crate::web) fn language_code(name: &str, language: Language) -> Option<&'static str> {
    code_of(&LANGUAGES, name, language)
}

fn code_of(table: &NameTable, name: &str, language: Language) -> Option<&'static str> {
    let name = name.to_lowercase();
    let mut rows = table.iter();
    let found = rows.find(|(_, names)| in_language(names, language).to_lowercase() == name);
    found.map(|(code, _)| *code)
}

/// `de-AT` is German (Austria).
pub(in crate::web) fn language_name(tag: &str, language: Language) -> Option<String> {
    let (primary, region) = tag.split_once('-').map_or((tag, None), |(a, b)| (a, Some(b)));
    let name = in_language(LANGUAGES.get(primary)?, language);
    let mut name = capitalised(name);
    if let Some(region) = region {
        let region = region.to_ascii_uppercase();
        name = format!("{name} ({})", country(&region, language).unwrap_or(&region));
    }
    Some(name)
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// What a value is called.
pub(super) fn value_name(
    dimension: Dimension,
    value: &str,
    language: Language,
    words: &Words,
) -> String {
    let w = &words.analytics;
    match value {
        UNKNOWN if is_optional(dimension) => return w.no_value.to_owned(),
        UNKNOWN => return w.unknown.to_owned(),
        PRIVATE => return w.private.to_owned(),
        _ => {}
    }
    let Dimension::Text(column) = dimension else { return value.to_owned() };
    let known = match column {
        TextColumn::Country => return country(value, language).unwrap_or(value).to_owned(),
        TextColumn::Language => {
            return language_name(value, language).unwrap_or_else(|| value.to_owned());
        }
        TextColumn::Region => return region_name(value, language),
        TextColumn::Channel => channel(w, value),
        TextColumn::Device => device(w, value),
        TextColumn::Class => class(w, value),
        TextColumn::Trigger => match value {
            "qr" => Some(w.c_qr),
            "direct" => Some(w.t_direct),
            _ => None,
        },
        _ => None,
    };
    known.unwrap_or(value).to_owned()
}

/// Whether many clicks have no such value, which is then nothing unknown.
const fn is_optional(dimension: Dimension) -> bool {
    use TextColumn as T;
    matches!(
        dimension,
        Dimension::Tag
            | Dimension::Text(
                T::Referrer
                    | T::App
                    | T::UtmSource
                    | T::UtmMedium
                    | T::UtmCampaign
                    | T::UtmTerm
                    | T::UtmContent
                    | T::Ref
                    | T::Variant
                    | T::Rule
            )
    )
}

/// `DE-BE` stands with its country: regions have no names in our data.
fn region_name(value: &str, language: Language) -> String {
    let country = value.split_once('-').and_then(|(code, _)| country(code, language));
    country.map_or_else(|| value.to_owned(), |country| format!("{value} · {country}"))
}

pub(in crate::web) fn channel(w: &AnalyticsWords, value: &str) -> Option<&'static str> {
    Some(match value {
        "direct" => w.c_direct,
        "search" => w.c_search,
        "social" => w.c_social,
        "ai" => w.c_ai,
        "messenger" => w.c_messenger,
        "email" => w.c_email,
        "video" => w.c_video,
        "paid" => w.c_paid,
        "referral" => w.c_referral,
        "qr" => w.c_qr,
        "internal" => w.c_internal,
        _ => return None,
    })
}

pub(in crate::web) fn device(w: &AnalyticsWords, value: &str) -> Option<&'static str> {
    Some(match value {
        "phone" => w.v_phone,
        "tablet" => w.v_tablet,
        "desktop" => w.v_desktop,
        "tv" => w.v_tv,
        "console" => w.v_console,
        "wearable" => w.v_wearable,
        "unknown" => w.unknown,
        _ => return None,
    })
}

fn class(w: &AnalyticsWords, value: &str) -> Option<&'static str> {
    Some(match value {
        "person" => w.k_person,
        "bot" => w.k_bot,
        "preview" => w.k_preview,
        "head" => w.k_head,
        "prefetch" => w.k_prefetch,
        "excluded" => w.k_excluded,
        _ => return None,
    })
}

/// What a dimension is called.
pub(super) const fn dimension_name(w: &AnalyticsWords, dimension: Dimension) -> &'static str {
    let column = match dimension {
        Dimension::Link => return w.d_link,
        Dimension::Tag => return w.d_tag,
        Dimension::Text(column) => column,
    };
    match column {
        TextColumn::Host => w.d_host,
        TextColumn::Class => w.d_class,
        TextColumn::Bot => w.d_bot,
        TextColumn::Referrer => w.d_referrer,
        TextColumn::Channel => w.d_channel,
        TextColumn::Browser => w.d_browser,
        TextColumn::BrowserVersion => w.d_browser_version,
        TextColumn::Os => w.d_os,
        TextColumn::OsVersion => w.d_os_version,
        TextColumn::Device => w.d_device,
        TextColumn::App => w.d_app,
        TextColumn::Language => w.d_language,
        TextColumn::Country => w.d_country,
        TextColumn::Region => w.d_region,
        TextColumn::City => w.d_city,
        TextColumn::UtmSource => w.d_utm_source,
        TextColumn::UtmMedium => w.d_utm_medium,
        TextColumn::UtmCampaign => w.d_utm_campaign,
        TextColumn::UtmTerm => w.d_utm_term,
        TextColumn::UtmContent => w.d_utm_content,
        TextColumn::Ref => w.d_ref,
        TextColumn::Trigger => w.d_trigger,
        TextColumn::Variant => w.d_variant,
        TextColumn::Rule => w.d_rule,
        TextColumn::Answer => w.d_answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn countries_and_languages_have_names_in_three_languages() {
        assert!(COUNTRIES.len() >= 249, "{}", COUNTRIES.len());
        assert!(LANGUAGES.len() > 150, "{}", LANGUAGES.len());
        let named = |column, value| {
            Language::ALL.map(|language| {
                value_name(Dimension::Text(column), value, language, Words::of(language))
            })
        };
        assert_eq!(named(TextColumn::Country, "DE"), ["Germany", "Deutschland", "Alemania"]);
        assert_eq!(
            named(TextColumn::Language, "de-AT"),
            ["German (Austria)", "Deutsch (Österreich)", "Alemán (Austria)"]
        );
        assert_eq!(named(TextColumn::Channel, "search")[1], "Suchmaschinen");
        assert_eq!(named(TextColumn::Country, "")[0], "unknown");
        // What has no name is shown as it is.
        assert_eq!(named(TextColumn::Country, "X9")[0], "X9");
        assert_eq!(named(TextColumn::Channel, "pigeon")[0], "pigeon");
        assert_eq!(named(TextColumn::Referrer, "t.co")[0], "t.co");
    }
}
