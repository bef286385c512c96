//! The one way to start kurz in a test: say what it should be like, then start it inside the test, as a
//! process of its own, or as several instances.
//!
//! ```ignore
//! let server = TestServer::builder().database(kind).start().await;           // inside the test
//! let server = TestServer::builder().accounts().process().start();           // a child process
//! let three = TestServer::builder().redis(&redis.url()).start_instances(3);  // three processes
//! ```

use std::path::Path;
use std::sync::Arc;

use kurz::clock::Clock;
use kurz::config::{Config, Overrides};
use kurz::entropy::Entropy;

use crate::home::{Home, Kind};
use crate::instances::Instances;
use crate::process::Program;
use crate::server::{NOON, TestServer};

/// On a busy machine a test may be slow between two requests, and its connections must not be closed
/// under it; nor should each test open more connections to the database than it needs.
const PATIENT: [(&str, &str); 4] = [
    ("KURZ_HEADER_TIMEOUT", "10m"),
    ("KURZ_BODY_TIMEOUT", "10m"),
    ("KURZ_STATEMENT_TIMEOUT", "1m"),
    ("KURZ_POOL_SIZE", "4"),
];

/// Settings of each of several instances: they share two cores, and tests of outages depend on the
/// default statement timeout.
const INSTANCE: [(&str, &str); 3] =
    [("KURZ_THREADS", "1"), ("KURZ_POOL_SIZE", "4"), ("KURZ_IDLE_TIMEOUT", "10m")];

/// What a server should be like. Without further words: SQLite, open to everybody, no rate limits,
/// timeouts that no slow machine reaches, a clock that stands at [`NOON`], random bytes in a known order.
pub struct Builder {
    kind: Kind,
    accounts: bool,
    patient: bool,
    clock: Clock,
    random: bool,
    settings: Vec<(String, String)>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            kind: Kind::Sqlite,
            accounts: false,
            patient: true,
            clock: Clock::manual(NOON),
            random: false,
            settings: Vec::new(),
        }
    }
}

impl Builder {
    /// On an empty database of this kind.
    #[must_use]
    pub fn database(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// With accounts, as `kurz serve` runs without `--open`.
    #[must_use]
    pub fn accounts(mut self) -> Self {
        self.accounts = true;
        self
    }

    /// With the default rate limits. They are off otherwise, since all tests come from one address.
    #[must_use]
    pub fn limits(self) -> Self {
        self.setting("KURZ_LIMITS", "on")
    }

    /// With kurz's own timeouts and pool size instead of patient ones.
    #[must_use]
    pub fn default_timeouts(mut self) -> Self {
        self.patient = false;
        self
    }

    /// With this clock, inside the test only.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// With a clock that stands at the machine's time until it is moved, and with real random bytes:
    /// for tests that also involve somebody with a clock of their own, such as a browser.
    #[must_use]
    pub fn from_now(mut self) -> Self {
        self.random = true;
        self.clock(Clock::manual(Clock::system().now()))
    }

    /// With this Redis.
    #[must_use]
    pub fn redis(self, url: &str) -> Self {
        self.setting("KURZ_REDIS", url)
    }

    /// With this ClickHouse.
    #[must_use]
    pub fn clickhouse(self, url: &str) -> Self {
        self.setting("KURZ_CLICKHOUSE", url)
    }

    /// With one setting, `KURZ_…`; the last value of a name counts.
    #[must_use]
    pub fn setting(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    #[must_use]
    pub fn settings(self, settings: &[(&str, &str)]) -> Self {
        settings.iter().fold(self, |builder, (name, value)| builder.setting(name, value))
    }

    /// Start it inside the test.
    pub async fn start(self) -> TestServer {
        let home = Arc::new(Home::new(self.kind));
        let config = self.config(&home);
        Box::pin(TestServer::open(home, config, self.clock, self.random)).await
    }

    /// The settings of a server inside the test, on `home`.
    pub fn config(&self, home: &Home) -> Config {
        let fixed = [
            ("KURZ_STORE", home.store()),
            ("KURZ_LISTEN", "127.0.0.1:0".to_owned()),
            ("KURZ_ADMIN_LISTEN", "off".to_owned()),
            ("KURZ_OPEN", (if self.accounts { "off" } else { "on" }).to_owned()),
            ("KURZ_LIMITS", "off".to_owned()),
            ("KURZ_THREADS", "2".to_owned()),
        ];
        let fixed = fixed.into_iter().map(|(name, value)| (name.to_owned(), value));
        let patient: &[(&str, &str)] = if self.patient { &PATIENT } else { &[] };
        let patient = patient.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let env = fixed.chain(patient).chain(self.settings.clone());
        Config::load(&Overrides::default(), env, Path::new("/nonexistent")).unwrap()
    }

    /// The `kurz serve` process to start, as often as the test likes, on the same store.
    pub fn process(self) -> Program {
        let patient: &[(&str, &str)] = if self.patient { &PATIENT } else { &[] };
        self.program(&Arc::new(Home::new(self.kind)), patient)
    }

    /// Start `count` processes on one PostgreSQL database: a new one, or the one that `KURZ_STORE` names.
    pub fn start_instances(self, count: usize) -> Instances {
        let set = |wanted: &str| {
            self.settings.iter().any(|(name, value)| name == wanted && !value.is_empty())
        };
        let kind = if set("KURZ_STORE") { Kind::Sqlite } else { Kind::Postgres };
        let home = Arc::new(Home::new(kind));
        let programs = (0..count).map(|_| self.program(&home, &INSTANCE)).collect();
        Instances::start(programs, set("KURZ_REDIS"))
    }

    fn program(&self, home: &Arc<Home>, more: &[(&str, &str)]) -> Program {
        let open: &[&str] = if self.accounts { &[] } else { &["--open"] };
        let program = Program::serve(open, Arc::clone(home)).env("KURZ_STORE", &home.store());
        let program = program.env("KURZ_LIMITS", "off");
        let program = more.iter().fold(program, |program, (name, value)| program.env(name, value));
        self.settings.iter().fold(program, |program, (name, value)| program.env(name, value))
    }
}

/// Random bytes: the system's, or in a known order, so that two servers that are asked the same give
/// the same random codes.
pub(crate) fn entropy(random: bool) -> Entropy {
    if random {
        return Entropy::os();
    }
    let state = std::sync::Mutex::new(0x9e37_79b9_7f4a_7c15_u64);
    Entropy::from_fn(move |bytes| {
        let mut state = state.lock().unwrap();
        for byte in bytes {
            // Xorshift: no more than well mixed.
            *state ^= *state << 13;
            *state ^= *state >> 7;
            *state ^= *state << 17;
            *byte = state.to_be_bytes()[0];
        }
    })
}
