//! Which settings hold for a subcommand that works on the store itself: those of `kurz serve`.

use std::path::{Path, PathBuf};

use super::CliError;
use crate::config::{self, Config, Overrides};

/// The flags of the store and of the settings' file.
#[derive(Debug, clap::Args)]
pub(super) struct Settings {
    /// The store: a file, or the URL of a database [default: kurz.db, an SQLite file]
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    /// The settings file [default: kurz.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Settings {
    /// What these flags say over the file and the environment.
    pub(super) fn overrides(&self) -> Overrides {
        let mut overrides = Overrides::default();
        overrides.file.clone_from(&self.config);
        overrides.set("store", self.store.as_deref());
        overrides
    }

    /// The settings, all layers.
    pub(super) fn load(&self) -> Result<Config, CliError> {
        load(&self.overrides())
    }
}

/// The settings of this process and this folder, under `overrides`.
pub(super) fn load(overrides: &Overrides) -> Result<Config, CliError> {
    Ok(Config::load(overrides, config::environment()?, Path::new("."))?)
}
