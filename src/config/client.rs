//! `KURZ_URL`, `KURZ_API_KEY` (or `KURZ_API_KEY_FILE`) and `KURZ_TLS_CA`, for the subcommands that talk to a
//! server. The first two are not settings of the server, which ignores them.

use std::path::PathBuf;

use super::error::ConfigError;
use super::public_url::{self, PublicUrl};
use super::secret::Secret;
use super::secret_file;
use super::value_parser::{ValueParser, path, secret};

#[derive(Clone, Debug)]
pub(crate) struct ClientConfig {
    pub(crate) url: PublicUrl,
    pub(crate) api_key: Option<Secret>,
    /// A PEM file with certificate authorities beside the machine's.
    pub(crate) tls_ca: Option<PathBuf>,
}

impl ClientConfig {
    /// Empty variables count as not set.
    pub(crate) fn read(
        env: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let env: Vec<(String, String)> =
            env.into_iter().filter(|(_, text)| !text.is_empty()).collect();
        let url = find(&env, "KURZ_URL", &public_url::parser())?;
        let url = url.unwrap_or_else(|| {
            PublicUrl::parse("http://127.0.0.1:8080").expect("the default is within bounds")
        });
        let key = secret(1..=1000).require("visible ASCII only", |key| {
            key.expose().bytes().all(|byte| byte.is_ascii_graphic())
        });
        let api_key = match (find(&env, "KURZ_API_KEY", &key)?, find(&env, KEY_FILE, &path())?) {
            (Some(_), Some(_)) => {
                let first = "KURZ_API_KEY".to_owned();
                return Err(ConfigError::Both { first, second: KEY_FILE.to_owned() });
            }
            (None, Some(file)) => {
                let text = secret_file::read(KEY_FILE, &file.to_string_lossy())?;
                Some(key.read(KEY_FILE, &text)?)
            }
            (given, None) => given,
        };
        Ok(Self { url, api_key, tls_ca: find(&env, "KURZ_TLS_CA", &path())? })
    }
}

const KEY_FILE: &str = "KURZ_API_KEY_FILE";

fn find<T: 'static>(
    env: &[(String, String)],
    name: &str,
    parser: &ValueParser<T>,
) -> Result<Option<T>, ConfigError> {
    let value = env.iter().find(|(variable, _)| variable == name);
    value.map(|(_, text)| parser.read(name, text)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(env: &[(&str, &str)]) -> Result<ClientConfig, ConfigError> {
        ClientConfig::read(env.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())))
    }

    #[test]
    fn without_variables_the_default_server_is_used_without_a_key() {
        for env in [&[][..], &[("KURZ_URL", ""), ("KURZ_API_KEY", "")], &[("KURZ_LISTEN", "x")]] {
            let client = read(env).unwrap();
            assert_eq!(client.url.as_str(), "http://127.0.0.1:8080");
            assert!(client.api_key.is_none());
        }
    }

    #[test]
    fn both_variables_are_read_and_a_bad_one_is_named_but_not_shown() {
        let client = read(&[("KURZ_URL", "https://kurz.example/"), ("KURZ_API_KEY", "kurz_a")]);
        let client = client.unwrap();
        assert_eq!(client.url.as_str(), "https://kurz.example");
        assert_eq!(client.api_key.unwrap().expose(), "kurz_a");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        std::fs::write(&file, "kurz_b\n").unwrap();
        let file = file.to_str().unwrap();
        let client = read(&[(KEY_FILE, file), ("KURZ_TLS_CA", "ca.pem")]).unwrap();
        assert_eq!(client.api_key.unwrap().expose(), "kurz_b");
        assert_eq!(client.tls_ca, Some(PathBuf::from("ca.pem")));
        let both = read(&[(KEY_FILE, file), ("KURZ_API_KEY", "kurz_a")]).unwrap_err().to_string();
        assert!(both.contains("both set"), "{both}");
        let message = read(&[("KURZ_URL", "kurz.example")]).unwrap_err().to_string();
        assert!(
            message.starts_with("KURZ_URL is \"kurz.example\", but it takes http://"),
            "{message}"
        );
        let message = read(&[("KURZ_API_KEY", "hunter2\r\n")]).unwrap_err().to_string();
        assert!(message.starts_with("KURZ_API_KEY is [hidden], but it takes"), "{message}");
    }
}
