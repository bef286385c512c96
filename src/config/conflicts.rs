//! Checks that take more than one setting.

use super::{Config, ConfigError, Net, Retention};

/// Refuse settings that are each within bounds and do not fit together.
pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    check_tls(&config.net)?;
    check_cleanup(&config.retention)?;
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
        let table: [(&[(&str, &str)], &str); 4] = [
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
