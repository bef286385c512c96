//! The figures of one size, kept in a file between runs, and the table of all sizes.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) struct Creation {
    pub(crate) per_second: f64,
    pub(crate) cpu_us: f64,
}

pub(crate) struct Redirects {
    pub(crate) per_second: f64,
    pub(crate) cpu_us: f64,
    pub(crate) lookup_us: f64,
}

pub(crate) struct Figures {
    pub(crate) file_mb: f64,
    pub(crate) creation: Creation,
    pub(crate) redirects: Redirects,
}

impl Figures {
    pub(crate) fn save(&self, folder: &Path, size: usize) {
        let Self { file_mb, creation, redirects } = self;
        let numbers = [
            *file_mb,
            creation.per_second,
            creation.cpu_us,
            redirects.per_second,
            redirects.cpu_us,
            redirects.lookup_us,
        ];
        let text = numbers.map(|number| number.to_string()).join(" ");
        fs::write(path(folder, size), text).unwrap();
    }

    pub(crate) fn load(folder: &Path, size: usize) -> Option<Self> {
        let text = fs::read_to_string(path(folder, size)).ok()?;
        let numbers: Vec<f64> = text.split(' ').map(|number| number.parse().unwrap()).collect();
        let &[file_mb, created, creation_cpu, followed, redirect_cpu, lookup_us] =
            numbers.as_slice()
        else {
            return None;
        };
        Some(Self {
            file_mb,
            creation: Creation { per_second: created, cpu_us: creation_cpu },
            redirects: Redirects { per_second: followed, cpu_us: redirect_cpu, lookup_us },
        })
    }

    /// What a link costs to make, and what one costs to follow: time, and CPU time.
    pub(crate) fn costs(&self) -> [f64; 2] {
        [1e6 / self.creation.per_second, self.redirects.cpu_us]
    }
}

fn path(folder: &Path, size: usize) -> PathBuf {
    folder.join(format!("{size}.figures"))
}

pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A row for each figure, with its ratio to that of the first size.
pub(crate) fn table(known: &[(usize, Figures)]) -> String {
    type Read = fn(&Figures) -> f64;
    let rows: [(&str, Read); 6] = [
        ("file, MB", |one| one.file_mb),
        ("creation, links/s", |one| one.creation.per_second),
        ("creation, CPU µs a link", |one| one.creation.cpu_us),
        ("cold redirects, requests/s", |one| one.redirects.per_second),
        ("cold redirect, CPU µs", |one| one.redirects.cpu_us),
        ("look-up in the store alone, µs", |one| one.redirects.lookup_us),
    ];
    let sizes: Vec<String> = known.iter().map(|(size, _)| format!("{size} links")).collect();
    let mut text = format!("\n| | {} |\n|---|{}", sizes.join(" | "), "---|".repeat(sizes.len()));
    for (name, read) in rows {
        let _ = write!(text, "\n| {name} |");
        let first = known.first().map_or(f64::NAN, |(_, figures)| read(figures));
        for (_, figures) in known {
            let figure = read(figures);
            let digits = usize::from(figure < 100.0);
            let _ = write!(text, " {figure:.digits$} (× {:.2}) |", figure / first);
        }
    }
    text.push('\n');
    text
}
