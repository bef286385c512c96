//! `KURZ_URL` and `KURZ_API_KEY`, for the subcommands that talk to a server. They are not settings of
//! the server, which ignores them.

use super::error::ConfigError;
use super::public_url::{self, PublicUrl};
use super::secret::Secret;
use super::value_parser::{ValueParser, secret};

#[derive(Clone, Debug)]
pub(crate) struct ClientConfig {
    pub(crate) url: PublicUrl,
    pub(crate) api_key: Option<Secret>,
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
        Ok(Self { url, api_key: find(&env, "KURZ_API_KEY", &key)? })
    }
}

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
        let message = read(&[("KURZ_URL", "kurz.example")]).unwrap_err().to_string();
        assert!(
            message.starts_with("KURZ_URL is \"kurz.example\", but it takes http://"),
            "{message}"
        );
        let message = read(&[("KURZ_API_KEY", "hunter2\r\n")]).unwrap_err().to_string();
        assert!(message.starts_with("KURZ_API_KEY is [hidden], but it takes"), "{message}");
    }
}
