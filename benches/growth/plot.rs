//! The plot: what a link costs to make and to follow, as multiples of what it costs in the smallest
//! store. Both axes are logarithms.

use std::fmt::Write as _;

use crate::figures::Figures;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 50.0;
/// The axis of costs ends here, or above the largest; it begins below 1, for what becomes cheaper.
const LEAST_TOP: f64 = 8.0;
const LOW: f64 = 0.5;
const LINES: [(&str, &str, &str); 2] = [
    ("making a link (time, 64 callers, durable)", "#b5472f", "8 4"),
    ("following a cold link (CPU time)", "#1f6f8b", ""),
];

/// What the axes show: sizes from and to, and the largest ratio.
struct Scale {
    sizes: (f64, f64),
    top: f64,
}

impl Scale {
    fn x(&self, size: f64) -> f64 {
        let (from, to) = self.sizes;
        LEFT + (size / from).ln() / (to / from).ln() * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, ratio: f64) -> f64 {
        HEIGHT - BOTTOM - (ratio / LOW).ln() / (self.top / LOW).ln() * (HEIGHT - TOP - BOTTOM)
    }
}

pub(crate) fn svg(known: &[(usize, Figures)]) -> String {
    let first = known.first().map_or([f64::NAN; 2], |(_, figures)| figures.costs());
    let mut series = [Vec::new(), Vec::new()];
    for (size, figures) in known {
        for ((line, cost), first) in series.iter_mut().zip(figures.costs()).zip(first) {
            line.push((*size as f64, cost / first));
        }
    }
    let points = || series.iter().flatten();
    let scale = Scale {
        sizes: (
            points().map(|(size, _)| *size).fold(f64::MAX, f64::min),
            points().map(|(size, _)| *size).fold(0.0, f64::max),
        ),
        top: points().map(|(_, ratio)| *ratio).fold(LEAST_TOP, f64::max),
    };
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>Cost of a link by the number of links, relative to the smallest store</title>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n"
    );
    draw_axes(&mut text, &scale, known);
    for (at, (line, look)) in series.iter().zip(LINES).enumerate() {
        draw_line(&mut text, &scale, line, look, 20.0 + 16.0 * at as f64);
    }
    text.push_str("</svg>\n");
    text
}

fn draw_axes(text: &mut String, scale: &Scale, known: &[(usize, Figures)]) {
    let mut ratio = LOW;
    while ratio <= scale.top {
        let (at, right) = (scale.y(ratio), WIDTH - RIGHT);
        let _ = writeln!(
            text,
            "<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"#dddddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">× {ratio}</text>",
            LEFT - 6.0,
            at + 4.0
        );
        ratio *= 2.0;
    }
    for (size, _) in known {
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            scale.x(*size as f64).clamp(LEFT, WIDTH - RIGHT - 30.0),
            HEIGHT - BOTTOM + 20.0,
            in_words(*size)
        );
    }
    let _ = writeln!(
        text,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">links in the store (SQLite)</text>",
        WIDTH / 2.0,
        HEIGHT - 10.0
    );
}

/// A line through its points, and at `row` its name.
fn draw_line(
    text: &mut String,
    scale: &Scale,
    line: &[(f64, f64)],
    (name, colour, dashes): (&str, &str, &str),
    row: f64,
) {
    let point =
        |(size, ratio): &(f64, f64)| format!("{:.1},{:.1}", scale.x(*size), scale.y(*ratio));
    let points: Vec<String> = line.iter().map(point).collect();
    let stroke = format!("stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"");
    let _ = writeln!(text, "<polyline points=\"{}\" fill=\"none\" {stroke}/>", points.join(" "));
    for (size, ratio) in line {
        let (x, y) = (scale.x(*size), scale.y(*ratio));
        let _ = writeln!(
            text,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{colour}\">× {ratio:.2}</text>",
            y - 8.0
        );
    }
    let _ = writeln!(
        text,
        "<path d=\"M{LEFT} {row}h30\" {stroke}/><text x=\"{}\" y=\"{}\">{name}</text>",
        LEFT + 38.0,
        row + 4.0
    );
}

fn in_words(size: usize) -> String {
    match size {
        1_000_000.. => format!("{} million", size / 1_000_000),
        _ => format!("{} thousand", size / 1_000),
    }
}
