//! `kurz privacy`: what is kept about visitors by the settings in force, for a record of processing.

use super::CliError;
use super::lines::print_text;
use super::settings::Settings;
use crate::app::PrivacyNotice;
use crate::web::notice_text;

const EXAMPLES: &str = "\
Examples:
  kurz privacy
  kurz privacy --config /etc/kurz/kurz.toml > privacy.txt

Visitors can read the same at /privacy/stats of every host. A workspace may keep less.";

/// Print what is kept about visitors, for how long, and how they object
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    settings: Settings,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let config = args.settings.load()?;
    print_text(&notice_text(&PrivacyNotice::of(&config)))
}
