//! The configuration: one concern a file, each setting declared once with its default, its bounds
//! and its line of documentation. The only module that reads the environment.
//!
//! Layers: defaults < file < environment < command line. Nothing here opens a socket or a database.
//!
//! Invariant: a [`Config`] that exists is valid: each setting is within its bounds, and they fit
//! together. Whoever holds one need not check again.

pub mod duration;
pub mod size;
mod access;
mod cache;
mod client;
mod codes;
mod conflicts;
mod docs;
mod error;
mod given;
mod limits;
mod links;
mod retention;
mod log;
mod net;
mod public_url;
mod redis;
mod redis_url;
mod rule;
mod secret;
mod setting;
mod store;
mod store_url;

use std::path::{Path, PathBuf};

pub use self::access::{Access, Signup};
pub use self::cache::Cache;
pub use self::client::ClientConfig;
pub use self::codes::Codes;
pub use self::docs::reference;
pub use self::error::ConfigError;
pub use self::limits::{RateLimits, password_threads};
pub use self::links::{Links, PrivateTargets, Targets};
pub use self::log::{AccessLog, Log, LogFormat};
pub use self::net::Net;
pub use self::public_url::PublicUrl;
pub use self::redis::{OnOutage, RedisConfig};
pub use self::redis_url::RedisUrl;
pub use self::retention::Retention;
pub use self::secret::Secret;
pub use self::store::{StoreConfig, StoreTls};
pub use self::store_url::StoreUrl;

use self::given::Given;
use self::setting::{PREFIX, Setting};

/// The file that is read when nobody names another.
const FILE: &str = "kurz.toml";

/// Everything that can be set, typed and within bounds.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where and how the server listens.
    pub net: Net,
    /// Which database, and how it is reached.
    pub store: StoreConfig,
    /// What instances share.
    pub redis: RedisConfig,
    /// The key of the counter strategy.
    pub codes: Codes,
    /// What holds for every link.
    pub links: Links,
    /// How much memory the cache may take.
    pub cache: Cache,
    /// What is logged, and how.
    pub log: Log,
    /// How long links live, and when they are cleaned up.
    pub retention: Retention,
    /// Who may do what, and how they show who they are.
    pub access: Access,
    /// How often somebody may do something.
    pub rates: RateLimits,
}

/// What the command line says: the file, and settings that go over all others.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--config`.
    pub file: Option<PathBuf>,
    flags: Vec<(&'static str, String)>,
}

impl Overrides {
    /// Set `key` from its flag (`listen` from `--listen`), when the flag was given.
    pub fn set(&mut self, key: &'static str, value: Option<impl Into<String>>) {
        self.flags.extend(value.map(|value| (key, value.into())));
    }
}

impl Config {
    /// Lay defaults, file, environment and command line over each other. `env` holds all variables,
    /// those of other programs too; `dir` is where `kurz.toml` is looked for.
    pub fn load(
        args: &Overrides,
        env: impl IntoIterator<Item = (String, String)>,
        dir: &Path,
    ) -> Result<Self, ConfigError> {
        let env: Vec<(String, String)> = env.into_iter().collect();
        let settings = concerns().into_iter().flat_map(|(_, settings)| settings).collect();
        let mut given = Given::new(settings);
        if let Some(file) = find_file(args, &env, dir) {
            given.add_file(&file)?;
        }
        given.add_environment(env.iter().map(|(name, text)| (name.as_str(), text.as_str())))?;
        for (key, text) in &args.flags {
            given.add_flag(key, text)?;
        }
        let config = Self {
            net: Net::read(&given)?,
            store: StoreConfig::read(&given)?,
            redis: RedisConfig::read(&given)?,
            codes: Codes::read(&given)?,
            links: Links::read(&given)?,
            cache: Cache::read(&given)?,
            log: Log::read(&given)?,
            retention: Retention::read(&given)?,
            access: Access::read(&given)?,
            rates: RateLimits::read(&given)?,
        };
        conflicts::check(&config)?;
        Ok(config)
    }
}

/// The variables of this process that begin with `KURZ_`.
pub fn environment() -> Result<Vec<(String, String)>, ConfigError> {
    // Not `vars`: it panics when any variable, of whatever program, is not UTF-8.
    let ours = std::env::vars_os().filter_map(|(name, text)| {
        let name = name.into_string().ok().filter(|name| name.starts_with(PREFIX))?;
        Some((name, text))
    });
    ours.map(|(name, text)| match text.into_string() {
        Ok(text) => Ok((name, text)),
        Err(_) => Err(ConfigError::NotText { setting: name }),
    })
    .collect()
}

/// All settings under the titles of their concerns, in the order of the documentation.
fn concerns() -> Vec<(&'static str, Vec<Setting>)> {
    vec![
        ("Network", Net::settings()),
        ("Store", StoreConfig::settings()),
        ("Redis", RedisConfig::settings()),
        ("Codes", Codes::settings()),
        ("Links", Links::settings()),
        ("Retention of links", Retention::settings()),
        ("Cache", Cache::settings()),
        ("Log", Log::settings()),
        ("Access", Access::settings()),
        ("Rate limits", RateLimits::settings()),
    ]
}

/// A file that was named must be there; `kurz.toml` need not be.
fn find_file(args: &Overrides, env: &[(String, String)], dir: &Path) -> Option<PathBuf> {
    let variable = env.iter().find(|(name, _)| name == "KURZ_CONFIG");
    let named = args.file.clone().or_else(|| variable.map(|(_, path)| PathBuf::from(path)));
    named.or_else(|| Some(dir.join(FILE)).filter(|file| file.exists()))
}

#[cfg(test)]
mod tests;
