//! Checks that take more than one setting.

use super::{Config, ConfigError, Net, Retention};
use kurz_core::code::canonicalise;

/// Refuse settings that are each within bounds and do not fit together.
pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    check_tls(&config.net)?;
    check_cleanup(&config.retention)?;
    check_main_host_urls(config)?;
    check_replica(config)
}

fn check_tls(net: &Net) -> Result<(), ConfigError> {
    let text = match (&net.tls_cert, &net.tls_key) {
        (Some(_), None) => {
            "KURZ_TLS_CERT is set and KURZ_TLS_KEY is not: TLS takes both, or neither"
        }
        (None, Some(_)) => {
            "KURZ_TLS_KEY is set and KURZ_TLS_CERT is not: TLS takes both, or neither"
        }
        (None, None) | (Some(_), Some(_)) => return Ok(()),
    };
    Err(ConfigError::Conflict(text))
}

fn check_cleanup(retention: &Retention) -> Result<(), ConfigError> {
    if retention.cleanup_lock_at_least <= retention.cleanup_lock_at_most {
        return Ok(());
    }
    Err(ConfigError::Conflict(
        "KURZ_CLEANUP_LOCK_AT_LEAST is longer than KURZ_CLEANUP_LOCK_AT_MOST: shorten the first or \
         lengthen the second",
    ))
}

/// An address of the main host that leads to another one of it would lead there for ever.
fn check_main_host_urls(config: &Config) -> Result<(), ConfigError> {
    let Some(public) = &config.net.public_url else { return Ok(()) };
    let links = &config.links;
    let is_own = |url: &String| {
        canonicalise(url).is_ok_and(|url| url.host().trim_end_matches('.') == public.host())
    };
    let urls = [&links.home_url, &links.not_found_url, &links.invalid_code_url];
    if !urls.into_iter().flatten().any(is_own) {
        return Ok(());
    }
    Err(ConfigError::Conflict(
        "KURZ_HOME_URL, KURZ_NOT_FOUND_URL and KURZ_INVALID_CODE_URL cannot be on the host of \
         KURZ_PUBLIC_URL, where they could lead back: name a page elsewhere",
    ))
}

/// A replica lags behind: the hits it knows of a month are no base to count from.
fn check_replica(config: &Config) -> Result<(), ConfigError> {
    if config.store.replica.is_none() || config.redis.url.is_some() {
        return Ok(());
    }
    Err(ConfigError::Conflict(
        "KURZ_REPLICA needs KURZ_REDIS: a replica lags behind, and without Redis the hits of a month \
         are counted from what it says; set KURZ_REDIS as well, or leave the replica out",
    ))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Overrides;
    use super::*;

    fn load(env: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let env = env.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        Config::load(&Overrides::default(), env, Path::new("/nonexistent"))
    }

    #[test]
    fn settings_that_contradict_each_other_are_refused() {
        let own =
            [("KURZ_PUBLIC_URL", "https://k.example"), ("KURZ_HOME_URL", "http://K.example./a")];
        let table: [(&[(&str, &str)], &str); 5] = [
            (&own, "cannot be on the host of KURZ_PUBLIC_URL"),
            (&[("KURZ_TLS_CERT", "a")], "KURZ_TLS_CERT is set and KURZ_TLS_KEY is not"),
            (&[("KURZ_TLS_KEY", "a")], "KURZ_TLS_KEY is set and KURZ_TLS_CERT is not"),
            (&[("KURZ_CLEANUP_LOCK_AT_LEAST", "20m")], "longer than KURZ_CLEANUP_LOCK_AT_MOST"),
            (&[("KURZ_REPLICA", "postgres://db/kurz")], "KURZ_REPLICA needs KURZ_REDIS"),
        ];
        for (env, words) in table {
            let said = load(env).unwrap_err().to_string();
            assert!(said.contains(words), "{said} lacks {words}");
        }
        let fitting = [
            ("KURZ_TLS_CERT", "a"),
            ("KURZ_TLS_KEY", "b"),
            ("KURZ_REPLICA", "postgres://db/kurz"),
            ("KURZ_REDIS", "redis://cache"),
            ("KURZ_CLEANUP_LOCK_AT_LEAST", "20m"),
            ("KURZ_CLEANUP_LOCK_AT_MOST", "20m"),
        ];
        assert!(load(&fitting).is_ok());
    }
}
