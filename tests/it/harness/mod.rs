//! What tests stand on: a database and a Redis of their own, a running kurz, an HTTP client. It knows
//! nothing of what kurz answers. Whatever a test takes from here is its own and goes away with it.

pub(crate) mod http;
pub(crate) mod instance;
pub(crate) mod postgres;
pub(crate) mod process;
pub(crate) mod redis;
pub(crate) mod storm;

/// A variable that `./scripts/with-servers` sets. A missing server is a failure, never a skip: a
/// skipped test looks just like a passed one.
fn server_url(variable: &str) -> url::Url {
    #[expect(clippy::disallowed_methods, reason = "this is where tests learn of their servers")]
    let Ok(text) = std::env::var(variable) else {
        panic!("{variable} is not set: run ./scripts/test (or ./scripts/with-servers cargo test)");
    };
    text.parse().unwrap_or_else(|error| panic!("{variable} is not a URL: {error}"))
}
