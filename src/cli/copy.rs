//! `kurz copy`: a whole store into another, of either kind, with proof.
//!
//! Invariant: a store that is being copied is not served meanwhile, as far as its database lets us
//! see to that: an SQLite file is locked, a PostgreSQL database is the operator's promise. The
//! comparison at the end finds out.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use super::CliError;
use super::lines::print_text;
use super::runtime::block_on;
use super::settings;
use crate::clock::Stopwatch;
use crate::config::{Overrides, StoreConfig, StoreUrl};
use crate::store::{Checksum, Progress, SchemaState, ServeLock, Store};

const EXAMPLES: &str = "\
Examples:
  kurz copy --from sqlite://kurz.db --to postgres://kurz@db/kurz
  kurz copy --from postgres://kurz@db/kurz --to sqlite:///backups/kurz.db
  KURZ_STORE=postgres://kurz:secret@db/kurz kurz copy --from sqlite://kurz.db

A side that is not named is the configured store (KURZ_STORE): so a password need not be on the
command line, where others can see it.

Stop the servers of both stores first. The target must be empty. Afterwards both are read again and
compared, row by row; until they are equal the target cannot be served. To continue a copy that was
interrupted, run the same command again.";

/// One statement of a copy may take longer than a request may wait: it counts or clears a table.
const STATEMENT_TIMEOUT: Duration = Duration::from_hours(1);

/// How long a plain report is silent.
const SILENCE: Duration = Duration::from_secs(2);
/// How long the line on a terminal stays as it is.
const SHORT_SILENCE: Duration = Duration::from_millis(200);

/// Copy a whole store into another, SQLite or PostgreSQL, and compare the two
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The store to read [default: the configured store]
    #[arg(long, value_name = "STORE", required_unless_present = "to")]
    from: Option<String>,
    /// The new store to write [default: the configured store]
    #[arg(long, value_name = "STORE")]
    to: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let mut config = settings::load(&Overrides::default())?.store;
    config.statement_timeout = STATEMENT_TIMEOUT;
    let end = |flag, given: &Option<String>| -> Result<StoreConfig, CliError> {
        let mut config = config.clone();
        if let Some(text) = given {
            config.url = StoreUrl::read_flag(flag, text)?;
        }
        Ok(config)
    };
    let (from, to) = (end("--from", &args.from)?, end("--to", &args.to)?);
    if same(&from.url, &to.url) {
        let text = "Source and target are the same store: name another one with --to.";
        return Err(CliError::Refused(text.to_owned()));
    }
    let sums = block_on(copy(&from, &to))?;
    print_text(&summary(&sums, &from.url, &to.url))
}

async fn copy(from: &StoreConfig, to: &StoreConfig) -> Result<Vec<Checksum>, CliError> {
    match Store::inspect(from).await? {
        SchemaState::Current => {}
        SchemaState::Missing => {
            let text = format!("There is no store at {}: name one with --from.", from.url);
            return Err(CliError::Refused(text));
        }
        SchemaState::Behind(_) => {
            let url = &from.url;
            let text = format!(
                "The tables of {url} are not up to date: run `kurz migrate --store {url}` first."
            );
            return Err(CliError::Failed(text));
        }
    }
    let _locks = (ServeLock::take(&from.url)?, ServeLock::take(&to.url)?);
    let (from, to) = (Store::open(from).await?, Store::open(to).await?);
    let mut meter = CopyProgress::new();
    let sums = from.copy_to(&to, &mut |progress| meter.show(progress)).await;
    meter.finish();
    Ok(sums?)
}

fn same(one: &StoreUrl, other: &StoreUrl) -> bool {
    match (one, other) {
        (StoreUrl::Sqlite(one), StoreUrl::Sqlite(other)) => {
            let real = |path: &std::path::Path| path.canonicalize().ok();
            one == other || real(one).is_some_and(|one| Some(one) == real(other))
        }
        _ => one == other,
    }
}

/// A line for each table: rows and checksum, which hold for both stores.
fn summary(sums: &[Checksum], from: &StoreUrl, to: &StoreUrl) -> String {
    let line =
        |Checksum { table, rows, sha256 }: &Checksum| format!("{table:<12} {rows:>10}  {sha256}");
    let mut lines: Vec<String> = sums.iter().map(line).collect();
    let rows: u64 = sums.iter().map(|sum| sum.rows).sum();
    lines.push(format!("copied {rows} rows from {from} to {to}: equal\n"));
    lines.join("\n")
}

/// How far the copy is, on stderr: on a terminal one line that is written over, elsewhere a line now and then.
struct CopyProgress {
    is_terminal: bool,
    since: Stopwatch,
    doing: &'static str,
}

impl CopyProgress {
    fn new() -> Self {
        Self { is_terminal: io::stderr().is_terminal(), since: Stopwatch::start(), doing: "" }
    }

    fn show(&mut self, Progress { doing, done, total }: Progress) {
        let silence = if self.is_terminal { SHORT_SILENCE } else { SILENCE };
        if self.doing == doing && done != total && self.since.elapsed() < silence {
            return;
        }
        self.doing = doing;
        self.since = Stopwatch::start();
        let percent = done.saturating_mul(100).checked_div(total).unwrap_or(100);
        // Nobody reads it any more? The copy goes on.
        let _ = if self.is_terminal {
            write!(io::stderr(), "\r\x1b[K{doing}: {done} of {total} rows ({percent} %)")
        } else {
            writeln!(io::stderr(), "{doing}: {done} of {total} rows")
        };
    }

    fn finish(&self) {
        if self.is_terminal {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
