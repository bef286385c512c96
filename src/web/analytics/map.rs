//! The map of the world as an SVG: countries in five shades, each a link to its filter. The outlines are made by
//! `scripts/world-map.mjs` from public-domain data.

use std::fmt::Write;
use std::sync::LazyLock;

use askama::filters::{Escaper, Html};

use crate::language::Language;
use crate::web::analytics::chart::scaled;
use crate::web::analytics::filters::Asked;
use crate::web::analytics::names::country;
use crate::web::i18n::formats;
use kurz_core::analytics::{Dimension, GroupReport, TextColumn};

/// The outlines: ISO code and path data.
struct WorldMap {
    size: (&'static str, &'static str),
    outlines: Vec<(&'static str, &'static str)>,
}

static WORLD: LazyLock<WorldMap> = LazyLock::new(|| {
    let mut lines = include_str!("../../../assets/world-map.txt").lines();
    let size = lines.next().and_then(|line| line.split_once(' ')).unwrap_or(("1000", "431"));
    WorldMap { size, outlines: lines.filter_map(|line| line.split_once(' ')).collect() }
});

/// Colours of the map where it is a picture, which the style sheet of the page does not reach.
const STYLE: &str = "path{stroke:#fff;stroke-width:.5}.s0{fill:#e3e4ef}.s1{fill:#cdd1f7}.s2{fill:#a9b0ef}.s3{fill:#7f88e3}\
                     .s4{fill:#5560d2}.s5{fill:#2c35a0}@media(prefers-color-scheme:dark){path{stroke:#1b1d2a}\
                     .s0{fill:#2f3348}.s1{fill:#3d4478}.s2{fill:#525ba3}.s3{fill:#6d77cc}.s4{fill:#939bf0}.s5{fill:#c9cdff}}";

/// Shades of a legend, with the clicks that each stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LegendStep {
    pub(super) shade: u8,
    pub(super) text: String,
}

/// From 0 for nothing to 5 for the most.
pub(super) fn shade(value: u64, highest: u64) -> u8 {
    if value == 0 {
        return 0;
    }
    match scaled(value, 1000, highest) {
        500.. => 5,
        200.. => 4,
        70.. => 3,
        20.. => 2,
        _ => 1,
    }
}

fn highest(group: &GroupReport) -> u64 {
    group.rows.iter().map(|row| row.clicks).max().unwrap_or(0)
}

/// The map for a group of countries. Its links are `asked` at `base` with one country more. `as_picture` brings
/// colours of its own.
pub(super) fn svg(
    group: &GroupReport,
    asked: &Asked,
    base: &str,
    language: Language,
    as_picture: bool,
) -> String {
    let (width, height) = WORLD.size;
    let highest = highest(group);
    let mut text = String::with_capacity(64 << 10);
    let mut add = |piece: std::fmt::Arguments<'_>| {
        text.write_fmt(piece).expect("a string takes everything");
    };
    add(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"world\" viewBox=\"0 0 {width} {height}\">"
    ));
    if as_picture {
        add(format_args!("<style>{STYLE}</style>"));
    }
    add(format_args!("<path class=\"s0\" d=\""));
    for (code, path) in &WORLD.outlines {
        if !group.rows.iter().any(|row| row.value == *code && row.clicks > 0) {
            add(format_args!("{path}"));
        }
    }
    add(format_args!("\"/>"));
    for row in &group.rows {
        let Some((code, path)) = WORLD.outlines.iter().find(|(code, _)| row.value == *code) else {
            continue;
        };
        let name = country(code, language).unwrap_or(code);
        let clicks = formats::number(language, row.clicks);
        let shade = shade(row.clicks, highest);
        let column = Dimension::Text(TextColumn::Country);
        let href = escaped(&asked.filtered(column, code, false).href_with(base, &[]));
        let title = escaped(&format!("{name}: {clicks}"));
        add(format_args!(
            "<a href=\"{href}\" aria-label=\"{title}\"><path class=\"s{shade}\" d=\"{path}\"><title>{title}</title></path></a>"
        ));
    }
    add(format_args!("</svg>"));
    text
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    Html.write_escaped_str(&mut out, text).expect("a string takes everything");
    out
}

/// What the shades stand for, from few to many.
pub(super) fn legend(group: &GroupReport, language: Language) -> Vec<LegendStep> {
    let highest = highest(group);
    let step = |step: u8| {
        let clicks = group.rows.iter().map(|row| row.clicks);
        let clicks = clicks.filter(|clicks| *clicks > 0 && shade(*clicks, highest) == step);
        let (least, most) = (clicks.clone().min()?, clicks.max()?);
        let text = if least == most {
            formats::number(language, least)
        } else {
            format!("{}–{}", formats::number(language, least), formats::number(language, most))
        };
        Some(LegendStep { shade: step, text })
    };
    (1..=5).filter_map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::analytics::sample::group;

    #[test]
    fn each_country_with_clicks_is_a_link_and_the_rest_is_one_outline() {
        let group =
            group(Dimension::Text(TextColumn::Country), &[("DE", 1000), ("FR", 10), ("??", 5)]);
        let map = svg(&group, &Asked::usual(), "/app/w/x/analytics", Language::German, false);
        assert_eq!(map.matches("<a ").count(), 2);
        assert!(map.contains("href=\"/app/w/x/analytics?filter=country%3ADE\""), "{map}");
        assert!(map.contains("<title>Deutschland: 1.000</title>") && !map.contains("<style"));
        assert!(map.contains("class=\"s5\"") && map.contains("class=\"s1\""));
        assert!(WORLD.outlines.len() > 200, "{}", WORLD.outlines.len());
        assert!(map.len() < 60 << 10, "{} bytes", map.len());
    }

    #[test]
    fn the_legend_says_what_each_shade_stands_for() {
        let values = [("DE", 1000), ("FR", 600), ("AT", 10), ("CH", 100)];
        let steps =
            legend(&group(Dimension::Text(TextColumn::Country), &values), Language::English);
        let steps: Vec<_> = steps.iter().map(|step| (step.shade, step.text.as_str())).collect();
        assert_eq!(steps, [(1, "10"), (3, "100"), (5, "600–1,000")]);
        assert_eq!([0, 1, 30, 100, 300, 900].map(|value| shade(value, 1000)), [0, 1, 2, 3, 4, 5]);
    }
}
