//! What a link costs as the store grows: making one, and following one that is not in memory, at ten
//! thousand, one million and ten million links on SQLite.
//!
//! ```text
//! cargo bench --bench growth [-- 10000 1000000 10000000]
//! ```
//!
//! Creation goes through the library, 64 callers at once, durable. Redirects go over HTTP from wrk (Debian's
//! package) to the program itself, whose cache is as small as it may be, so that nearly all of them
//! are cold. Filled stores stay in `target/tmp/growth`, and each size's figures beside them: the
//! sizes can be measured one by one. Once all are known, the plot is written.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "a bench: it talks on stdout and ends when something is missing"
)]

mod creation;
mod figures;
mod plot;
mod redirects;

use std::fs;
use std::path::{Path, PathBuf};

use figures::Figures;
use kurz_test_support::prefilled;

const SIZES: [usize; 3] = [10_000, 1_000_000, 10_000_000];

fn main() {
    let args = std::env::args().skip(1).filter(|arg| !arg.starts_with('-'));
    let mut sizes: Vec<usize> = args.map(|arg| arg.parse().expect("a number of links")).collect();
    if sizes.is_empty() {
        sizes = SIZES.to_vec();
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("growth");
    fs::create_dir_all(&folder).unwrap();
    for size in sizes {
        let store = prefilled::filled(&folder, size);
        measure(&folder, &store, size).save(&folder, size);
    }
    let known: Vec<(usize, Figures)> =
        SIZES.iter().filter_map(|size| Some((*size, Figures::load(&folder, *size)?))).collect();
    println!("{}", figures::table(&known));
    if known.len() == SIZES.len() {
        let plot = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/images/growth.svg");
        fs::create_dir_all(plot.parent().unwrap()).unwrap();
        fs::write(&plot, plot::svg(&known)).unwrap();
        println!("The plot is in {}.", plot.display());
    }
}

/// On a copy: the filled store stays as it is.
fn measure(folder: &Path, store: &Path, size: usize) -> Figures {
    // A folder for each: who closes the last copy late must not meet the next one.
    let fresh = |part: &str| -> PathBuf {
        let round = folder.join(part);
        let _ = fs::remove_dir_all(&round);
        fs::create_dir(&round).unwrap();
        let copy = round.join("kurz.db");
        fs::copy(store, &copy).unwrap();
        // The copy's own writes are not to fall into what is measured.
        fs::File::open(&copy).unwrap().sync_all().unwrap();
        copy
    };
    let file_mb = fs::metadata(store).unwrap().len() as f64 / 1e6;
    println!("{size} links, {file_mb:.0} MB: creation");
    let creation = creation::measure(&fresh("creation"));
    println!("{size} links: cold redirects");
    let redirects = redirects::measure(&fresh("redirects"), size);
    for part in ["creation", "redirects"] {
        fs::remove_dir_all(folder.join(part)).unwrap();
    }
    Figures { file_mb, creation, redirects }
}
