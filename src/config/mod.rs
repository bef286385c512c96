//! The configuration: one concern per file, each setting declared once with its default, its bounds
//! and its documentation. The only module that reads the environment.
//!
//! Precedence: defaults < file < environment < command line. Nothing here opens a socket or a database.
//!
//! Invariant: a [`Config`] that exists is valid: each setting is within its bounds, and they fit
//! together. Whoever holds one need not check again.

pub(crate) mod duration;
pub(crate) mod size;
mod access;
mod analytics;
mod cache;
mod clickhouse_url;
mod client;
mod codes;
mod conflicts;
mod docs;
mod error;
mod kubernetes;
mod layers;
mod limits;
mod links;
mod log;
mod memory;
mod net;
mod public_url;
mod redis;
mod redis_url;
mod retention;
mod sample;
mod secret;
mod secret_file;
mod setting;
mod store;
mod store_url;
mod value_parser;

use std::path::{Path, PathBuf};

pub(crate) use self::access::Access;
pub use self::access::Signup;
pub(crate) use self::analytics::Analytics;
pub(crate) use self::cache::Cache;
pub use self::clickhouse_url::ClickHouseUrl;
pub(crate) use self::client::ClientConfig;
pub use self::codes::Codes;
pub use self::docs::reference;
pub use self::error::ConfigError;
pub(crate) use self::limits::RateLimits;
pub use self::limits::password_threads;
pub(crate) use self::links::{Links, PrivateTargets, Targets};
pub use self::log::{AccessLog, Log, LogFormat};
pub use self::net::{AdminListen, Net};
pub use self::public_url::PublicUrl;
pub use self::redis::{OnOutage, RedisConfig};
pub use self::redis_url::RedisUrl;
pub(crate) use self::retention::Retention;
pub use self::sample::sample;
pub use self::secret::Secret;
pub use self::store::{StoreConfig, StoreTls};
pub use self::store_url::StoreUrl;

use self::layers::Layers;
use self::setting::{PREFIX, Setting};

/// Read from the working directory unless another file is named.
const FILE: &str = "kurz.toml";

/// All settings, parsed and validated.
#[derive(Clone, Debug)]
pub struct Config {
    /// Listeners, timeouts and connection limits.
    pub net: Net,
    /// The database and its connections.
    pub store: StoreConfig,
    /// Redis, and the behaviour without it.
    pub redis: RedisConfig,
    /// The counter strategy's key.
    pub codes: Codes,
    pub(crate) links: Links,
    pub(crate) cache: Cache,
    /// Filter and format of the log.
    pub log: Log,
    pub(crate) retention: Retention,
    pub(crate) access: Access,
    pub(crate) analytics: Analytics,
    pub(crate) rates: RateLimits,
}

/// The command line's values, which override all others.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--config`.
    pub file: Option<PathBuf>,
    /// `--port`, which replaces the port of the address to listen on.
    pub port: Option<u16>,
    flags: Vec<(&'static str, String)>,
}

impl Overrides {
    /// Set `key` from its flag (`listen` from `--listen`), if the flag was given.
    pub fn set(&mut self, key: &'static str, value: Option<impl Into<String>>) {
        self.flags.extend(value.map(|value| (key, value.into())));
    }
}

impl Config {
    /// Merge defaults, file, environment and command line. `env` may hold variables of other programs
    /// too; `dir` is where `kurz.toml` is looked for.
    pub fn load(
        args: &Overrides,
        env: impl IntoIterator<Item = (String, String)>,
        dir: &Path,
    ) -> Result<Self, ConfigError> {
        let env: Vec<(String, String)> = env.into_iter().collect();
        let settings = sections().into_iter().flat_map(|(_, settings)| settings).collect();
        let mut layers = Layers::new(settings);
        if let Some(file) = find_file(args, &env, dir) {
            layers.add_file(&file)?;
        }
        layers.add_environment(env.iter().map(|(name, text)| (name.as_str(), text.as_str())))?;
        for (key, text) in &args.flags {
            layers.add_flag(key, text)?;
        }
        let mut net = Net::read(&layers)?;
        if let Some(port) = args.port {
            net.listen.set_port(port);
        }
        let config = Self {
            net,
            store: StoreConfig::read(&layers)?,
            redis: RedisConfig::read(&layers)?,
            codes: Codes::read(&layers)?,
            links: Links::read(&layers)?,
            cache: Cache::read(&layers)?,
            log: Log::read(&layers)?,
            retention: Retention::read(&layers)?,
            access: Access::read(&layers)?,
            analytics: Analytics::read(&layers)?,
            rates: RateLimits::read(&layers)?,
        };
        conflicts::check(&config)?;
        Ok(config)
    }
}

/// The variables of this process that begin with `KURZ_`.
pub(crate) fn environment() -> Result<Vec<(String, String)>, ConfigError> {
    // Not `vars`: it panics when a variable of any program is not UTF-8.
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

/// All settings under their titles, in the order of the documentation.
fn sections() -> Vec<(&'static str, Vec<Setting>)> {
    vec![
        ("Network", Net::settings()),
        ("Store", StoreConfig::settings()),
        ("Redis", RedisConfig::settings()),
        ("Codes", Codes::settings()),
        ("Links", Links::settings()),
        ("Expiry and cleanup", Retention::settings()),
        ("Cache", Cache::settings()),
        ("Log", Log::settings()),
        ("Access", Access::settings()),
        ("Analytics", Analytics::settings()),
        ("Rate limits", RateLimits::settings()),
    ]
}

/// A named file must exist; `kurz.toml` need not.
fn find_file(args: &Overrides, env: &[(String, String)], dir: &Path) -> Option<PathBuf> {
    let variable = env.iter().find(|(name, _)| name == "KURZ_CONFIG");
    let named = args.file.clone().or_else(|| variable.map(|(_, path)| PathBuf::from(path)));
    named.or_else(|| Some(dir.join(FILE)).filter(|file| file.exists()))
}

#[cfg(test)]
mod tests;
