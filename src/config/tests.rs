//! Tests of the whole configuration: the layers, and that each error names its setting.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use kurz_core::code::counter::{DEFAULT_MULT, Scramble};

/// Load from variables and perhaps a file, in a directory of its own.
fn load(env: &[(&str, &str)], file: Option<&str>) -> Result<Config, ConfigError> {
    load_with(&Overrides::default(), env, file)
}

fn load_with(
    args: &Overrides,
    env: &[(&str, &str)],
    file: Option<&str>,
) -> Result<Config, ConfigError> {
    let dir = tempfile::tempdir().unwrap();
    if let Some(text) = file {
        std::fs::write(dir.path().join(FILE), text).unwrap();
    }
    let env = env.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    Config::load(args, env, dir.path())
}

fn error_of(env: &[(&str, &str)], file: Option<&str>) -> String {
    load(env, file).unwrap_err().to_string()
}

#[test]
fn without_any_source_the_defaults_hold() {
    let config = load(&[], None).unwrap();
    let net = &config.net;
    assert_eq!(net.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(
        net.admin_listen.address().map(|at| at.to_string()).as_deref(),
        Some("127.0.0.1:9580")
    );
    assert_eq!(net.public_url, None);
    assert_eq!(net.public_url_at(net.listen).as_str(), "http://127.0.0.1:8080");
    assert_eq!((net.threads, net.limits), (0, true));
    assert!(net.trusted_proxies.is_none());
    assert_eq!((net.max_connections, net.max_connections_per_ip), (10_000, 200));
    let timeouts = [net.header_timeout, net.body_timeout, net.idle_timeout, net.drain_timeout];
    assert_eq!(timeouts.map(|timeout| timeout.as_secs()), [5, 10, 60, 10]);
    assert_eq!(config.store.url, StoreUrl::Sqlite(PathBuf::from("kurz.db")));
    assert_eq!((config.store.pool_size, config.store.statement_timeout.as_secs()), (10, 5));
    assert_eq!((config.store.pool_idle, config.store.tls), (2, StoreTls::Prefer));
    assert!(config.store.tls_ca.is_none() && config.store.replica.is_none());
    assert!(config.redis.url.is_none());
    assert_eq!(config.redis.on_outage, OnOutage::Share);
    assert!(config.codes.counter_salt.is_none());
    assert_eq!(u128::from(config.codes.counter_mult), DEFAULT_MULT);
    assert_eq!(config.codes.counter_scramble, Scramble::Affine);
    assert_eq!(config.links.hit_limit, Some(10_000));
    assert_eq!(config.links.counter_ttl, Some(Duration::from_hours(24 * 365)));
    assert_eq!(config.links.private_targets, PrivateTargets::Allow);
    assert!(config.links.blocklist.is_none());
    assert_eq!(config.links.targets, Targets::Editable);
    let days = [config.links.host_quarantine, config.retention.audit_keep];
    assert_eq!(days.map(|span| span.as_secs() / 86_400), [30, 400]);
    assert_eq!((config.cache.bytes, config.cache.repeat_bytes), (None, 16 << 20));
    assert!((64 << 20..=1 << 30).contains(&config.cache.link_bytes()));
    assert_eq!((config.log.directives.as_str(), config.log.format), ("info", LogFormat::Human));
    let retention = &config.retention;
    assert_eq!(retention.anon_ttl, Duration::from_hours(8));
    let minutes = [
        retention.purge_grace,
        retention.cleanup_interval,
        retention.cleanup_delay,
        retention.cleanup_lock_at_least,
        retention.cleanup_lock_at_most,
    ];
    assert_eq!(minutes.map(|span| span.as_secs() / 60), [15, 15, 1, 10, 14]);
    assert!(!retention.health_checks);
    let access = &config.access;
    assert!(!access.open && access.front_totals && access.jwt_secret.is_none());
    assert_eq!((access.signup, access.user_link_limit), (Signup::Open, Some(20)));
    assert_eq!(
        (net.max_target_bytes, net.max_head_bytes, net.max_header_fields),
        (8192, 16384, 64)
    );
    let rates = &config.rates;
    assert_eq!((rates.logins_per_account, rates.logins_per_address, rates.signups), (5, 20, 20));
    assert_eq!((rates.anonymous_links, rates.anonymous_links_daily, rates.misses), (10, 100, 30));
    assert_eq!((rates.links, rates.calls_per_account, rates.calls_per_key), (6000, 6000, 3000));
    assert_eq!((rates.bad_credentials, rates.reports), (60, 10));
    assert_eq!((rates.password_threads, rates.password_queue), (0, 64));
}

#[test]
fn the_command_line_beats_the_environment_which_beats_the_file() {
    let file = "listen = \"127.0.0.1:1\"\nthreads = 3\npool_size = 7\n";
    let env = [("KURZ_LISTEN", "127.0.0.1:2"), ("KURZ_THREADS", "4")];
    let mut args = Overrides::default();
    args.set("listen", Some("127.0.0.1:3"));
    args.set("store", None::<String>);
    let config = load_with(&args, &env, Some(file)).unwrap();
    assert_eq!(config.net.listen.port(), 3);
    assert_eq!(config.net.threads, 4);
    assert_eq!(config.store.pool_size, 7);
}

#[test]
fn the_file_may_hold_every_type_of_value() {
    let file = r#"
        listen = "[::1]:0"
        admin_listen = "off"
        public_url = "https://kurz.example/"
        drain_timeout = 0
        limits = false
        open = true
        counter_salt = "s"
        counter_mult = "18446744073709551613"
        counter_scramble = "feistel"
        hit_limit = 0
        counter_ttl = "0"
        private_targets = "refuse"
        cache_bytes = 1048576
        log = "warn,kurz::store=debug"
        log_format = "json"
    "#;
    let config = load(&[], Some(file)).unwrap();
    assert_eq!(config.net.listen.to_string(), "[::1]:0");
    assert_eq!(config.net.admin_listen, AdminListen::Off);
    assert_eq!(config.net.public_url_at(config.net.listen).as_str(), "https://kurz.example");
    assert_eq!(config.net.drain_timeout, Duration::ZERO);
    assert!(!config.net.limits && config.access.open);
    assert_eq!(config.codes.counter_salt.unwrap().expose(), "s");
    assert_eq!(config.codes.counter_mult, u64::MAX - 2);
    assert_eq!(config.codes.counter_scramble, Scramble::Feistel);
    assert_eq!((config.links.hit_limit, config.links.counter_ttl), (None, None));
    assert_eq!(config.links.private_targets, PrivateTargets::Refuse);
    assert_eq!(config.cache.link_bytes(), 1 << 20);
    assert_eq!(config.log.format, LogFormat::Json);
}

/// A value that each setting refuses; a setting that is missing here fails the test below.
const BAD: &[(&str, &str)] = &[
    ("front_totals", "perhaps"),
    ("check_bytes", "much"),
    ("listen", "localhost"),
    ("admin_listen", "on"),
    ("public_url", "https://kurz.example/go"),
    ("tls_cert", ""),
    ("tls_key", ""),
    ("threads", "1025"),
    ("header_timeout", "5"),
    ("body_timeout", "2h"),
    ("idle_timeout", "0"),
    ("drain_timeout", "-1s"),
    ("max_connections", "0"),
    ("max_connections_per_ip", "many"),
    ("limits", "maybe"),
    ("max_target_bytes", "1MiB"),
    ("max_head_bytes", "0"),
    ("max_header_fields", "1001"),
    ("limit_logins_per_account", "-1"),
    ("limit_logins_per_address", "1000001"),
    ("limit_signups", "off"),
    ("limit_anonymous_links", "1.5"),
    ("limit_anonymous_links_daily", "1/d"),
    ("limit_reports", "many"),
    ("limit_misses", "many"),
    ("limit_bad_credentials", "-60"),
    ("limit_links", "1e3"),
    ("limit_calls_per_account", "+5"),
    ("limit_calls_per_key", "1000001"),
    ("limit_searches_per_account", "1000001"),
    ("limit_searches", "1000001"),
    ("password_threads", "1025"),
    ("password_queue", "0"),
    ("trusted_proxies", "0.0.0.0/0"),
    ("store", "sqlite::memory:"),
    ("pool_size", "1001"),
    ("pool_idle", "1001"),
    ("store_tls", "on"),
    ("tls_ca", ""),
    ("replica", "sqlite://kurz.db"),
    ("redis", "http://cache:6379"),
    ("quota_on_outage", "allow"),
    ("statement_timeout", "1.5s"),
    ("code_length", "6"),
    ("counter_salt", "my_secret"),
    ("counter_mult", "62"),
    ("counter_scramble", "xor"),
    ("hit_limit", "-1"),
    ("counter_ttl", "1y"),
    ("private_targets", "no"),
    ("blocklist", ""),
    ("home_url", "example.com"),
    ("not_found_url", "ftp://example.com/"),
    ("invalid_code_url", "https://"),
    ("targets", "locked"),
    ("host_quarantine", "-1d"),
    ("dns_resolver", "dns.example:53"),
    ("cache_bytes", "1023KiB"),
    ("repeat_bytes", "16MB"),
    ("log", "kurz=loud"),
    ("log_format", "xml"),
    ("access_log", "on"),
    ("otlp", "collector:4318"),
    ("anon_ttl", "0"),
    ("purge_grace", "-1s"),
    ("cleanup_interval", "0"),
    ("cleanup_delay", "soon"),
    ("cleanup_lock_at_least", "2d"),
    ("cleanup_lock_at_most", "0"),
    ("audit_keep", "1h"),
    ("health_checks", "yes"),
    ("open", "yes"),
    ("signup", "maybe"),
    ("jwt_secret", "0123456789abcdef0123456789abcdef"),
    ("user_link_limit", "-1"),
    ("workspace_limit", "1000001"),
    ("custom_code_limit", "many"),
    ("honour", "cookies"),
    ("exclude", "::/0"),
    ("no_track_param", "no track"),
    ("geo_file", ""),
    ("channels", ""),
    ("geo_header", "cf ipcountry"),
    ("analytics", "on"),
    ("events_keep", "36501d"),
    ("sums_keep", "1h"),
    ("visitor_period", "year"),
    ("clickhouse", "clickhouse:9000"),
];

#[test]
fn each_error_names_its_setting_the_value_and_what_is_accepted() {
    for setting in sections().into_iter().flat_map(|(_, settings)| settings) {
        let (key, accepts) = (setting.key, &setting.accepts);
        let (_, bad) = BAD.iter().find(|(name, _)| *name == key).unwrap_or_else(|| {
            panic!("{key} has no bad value in BAD: add one, so that its bounds are tested")
        });
        let secret = ["counter_salt", "jwt_secret"].contains(&key);
        let shown = if secret { "[hidden]".to_owned() } else { format!("{bad:?}") };
        let variable = setting.variable();
        assert_eq!(
            error_of(&[(&variable, bad)], None),
            format!("{variable} is {shown}, but it takes {accepts}.")
        );

        let line = format!("{key} = {bad:?}\n");
        let message = error_of(&[], Some(&line));
        assert!(message.starts_with(&format!("{key} in ")), "{message}");
        assert!(
            message.ends_with(&format!("kurz.toml is {shown}, but it takes {accepts}.")),
            "{message}"
        );

        let mut args = Overrides::default();
        args.set(key, Some(*bad));
        let message = load_with(&args, &[], None).unwrap_err().to_string();
        assert!(
            message.starts_with(&format!("--{} is {shown}", key.replace('_', "-"))),
            "{message}"
        );
    }
}

#[test]
fn a_wrong_type_in_the_file_is_refused_even_when_its_text_would_do() {
    let table = [
        ("pool_size = \"10\"", "is \"10\", but it takes a whole number"),
        ("pool_size = 1.5", "is a number with a fraction, but"),
        ("pool_size = true", "is true, but"),
        ("listen = 80808", "is 80808, but it takes an IP address"),
        ("listen = [\"127.0.0.1:80\"]", "is a list, but"),
        ("log = 5", "is 5, but"),
        (
            "counter_salt = 12345",
            "is [hidden], but it takes text of 1 to 1024 bytes, not one from an example.",
        ),
        ("open = 1", "is 1, but it takes on or off"),
        ("listen = 2020-01-01", "is a date, but"),
    ];
    for (line, part) in table {
        let message = error_of(&[], Some(line));
        assert!(message.contains(part), "{line}: {message}");
        assert!(!message.contains("12345"), "{message}");
    }
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest_one() {
    let table = [
        ("KURZ_LISTN", "KURZ_LISTN is not a setting of kurz (did you mean KURZ_LISTEN?); "),
        ("KURZ_listen", "KURZ_listen is not a setting of kurz (did you mean KURZ_LISTEN?); "),
        ("KURZ_COMPLETELY_ELSE", "KURZ_COMPLETELY_ELSE is not a setting of kurz; "),
        ("KURZ_", "KURZ_ is not a setting of kurz"),
    ];
    for (name, start) in table {
        let message = error_of(&[(name, "1")], None);
        assert!(message.starts_with(start), "{message}");
        assert!(message.ends_with("docs/CONFIG.md lists them all."), "{message}");
    }
    let message = error_of(&[], Some("pool = 3"));
    assert!(
        message.starts_with("pool in ") && message.contains("kurz.toml is not a setting"),
        "{message}"
    );
    let message = error_of(&[], Some("[net]\nlisten = \"127.0.0.1:1\""));
    assert!(message.starts_with("net in "), "keys are flat: {message}");
}

#[test]
fn variables_of_the_client_and_of_other_programs_are_ignored() {
    let env = [
        ("KURZ_URL", "http://127.0.0.1:8080"),
        ("KURZ_API_KEY", "kurz_abc"),
        ("PATH", "/bin"),
        ("kurz_listen", "?"),
    ];
    assert!(load(&env, None).is_ok());
}

// threats: H12
#[test]
fn every_secret_may_come_from_a_file_and_not_from_both() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (salt, jwt) =
        (file("salt", "b7Kx-own\n"), file("jwt", "9vQ2mZr8Lk4TxW7bN1cYs6HdJf3GpEaU\r\n"));
    let (store, redis) =
        (file("store", "postgres://me:a@db/kurz"), file("redis", "redis://:b@c\n\n"));
    let env = [
        ("KURZ_COUNTER_SALT_FILE", &*salt),
        ("KURZ_JWT_SECRET_FILE", &jwt),
        ("KURZ_STORE_FILE", &store),
        ("KURZ_REPLICA_FILE", &store),
        ("KURZ_REDIS_FILE", &redis),
    ];
    let config = load(&env, None).unwrap();
    assert_eq!(config.codes.counter_salt.unwrap().expose(), "b7Kx-own");
    assert_eq!(config.access.jwt_secret.unwrap().expose(), "9vQ2mZr8Lk4TxW7bN1cYs6HdJf3GpEaU");
    assert_eq!(config.store.url, StoreUrl::Postgres("postgres://me:a@db/kurz".to_owned()));
    assert_eq!(config.redis.url.unwrap().seeds(), ["redis://:b@c"]);

    let both = [("KURZ_COUNTER_SALT", "salt"), ("KURZ_COUNTER_SALT_FILE", &*salt)];
    let message = error_of(&both, None);
    assert_eq!(
        message,
        "KURZ_COUNTER_SALT and KURZ_COUNTER_SALT_FILE are both set: set one of them."
    );
    let line = format!("counter_salt_file = {salt:?}");
    assert_eq!(load(&[], Some(&line)).unwrap().codes.counter_salt.unwrap().expose(), "b7Kx-own");
    assert!(error_of(&[], Some(&format!("{line}\ncounter_salt = \"x\""))).contains("both set"));
    // A later source wins, in whatever form.
    let over = load(&[("KURZ_COUNTER_SALT", "q9-other")], Some(&line)).unwrap();
    assert_eq!(over.codes.counter_salt.unwrap().expose(), "q9-other");

    let message = error_of(&[("KURZ_COUNTER_SALT_FILE", "/nonexistent/salt")], None);
    assert!(message.contains("KURZ_COUNTER_SALT_FILE names /nonexistent/salt"), "{message}");
    let bad = file("bad", "hunter2");
    let message = error_of(&[("KURZ_STORE_FILE", &bad)], None);
    assert!(message.starts_with("KURZ_STORE_FILE is [hidden]"), "{message}");
    assert!(error_of(&[("KURZ_LISTEN_FILE", &bad)], None).contains("is not a setting"));
}

#[test]
fn what_kubernetes_adds_for_a_service_of_our_name_is_ignored() {
    let env = [
        ("KURZ_SERVICE_HOST", "10.96.0.17"),
        ("KURZ_SERVICE_PORT", "80"),
        ("KURZ_SERVICE_PORT_HTTP", "80"),
        ("KURZ_PORT", "tcp://10.96.0.17:80"),
        ("KURZ_PORT_80_TCP", "tcp://10.96.0.17:80"),
        ("KURZ_PORT_80_TCP_PROTO", "tcp"),
        ("KURZ_PORT_80_TCP_PORT", "80"),
        ("KURZ_PORT_80_TCP_ADDR", "10.96.0.17"),
    ];
    assert_eq!(load(&env, None).unwrap().net.listen.to_string(), "127.0.0.1:8080");
    assert!(error_of(&[("KURZ_PORT", "8080")], None).starts_with("KURZ_PORT is not a setting"));
}

#[test]
fn a_port_alone_keeps_the_address() {
    let args = Overrides { port: Some(9000), ..Overrides::default() };
    let listen = |env: &[(&str, &str)]| load_with(&args, env, None).unwrap().net.listen.to_string();
    assert_eq!(listen(&[]), "127.0.0.1:9000");
    assert_eq!(listen(&[("KURZ_LISTEN", "0.0.0.0:8080")]), "0.0.0.0:9000");
}

#[test]
fn a_named_file_must_be_there_and_be_toml() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("other.toml");
    let args = Overrides { file: Some(path.clone()), ..Overrides::default() };
    let message = load_with(&args, &[], Some("threads = 9")).unwrap_err().to_string();
    assert!(message.starts_with("Cannot read the configuration file"), "{message}");
    assert!(message.contains("other.toml"), "{message}");

    std::fs::write(&path, "threads = 2\nlisten = \n").unwrap();
    let message = load_with(&args, &[], None).unwrap_err().to_string();
    assert!(message.contains("other.toml is not valid TOML at line 2"), "{message}");
    assert!(!message.contains('\n'), "one line: {message}");

    std::fs::write(&path, "threads = 2\n").unwrap();
    assert_eq!(load_with(&args, &[], Some("threads = 9")).unwrap().net.threads, 2);
    let named = [("KURZ_CONFIG", path.to_str().unwrap())];
    assert_eq!(load(&named, Some("threads = 9")).unwrap().net.threads, 2);
}

#[test]
fn a_huge_file_is_refused_instead_of_read() {
    let comments = "# long\n".repeat(200_000);
    assert!(error_of(&[], Some(&comments)).contains("larger than 1 MiB"));
}

#[test]
fn nothing_printed_shows_a_secret() {
    let env = [("KURZ_COUNTER_SALT", "hunter2"), ("KURZ_STORE", "postgres://me:hunter2@db/kurz")];
    let config = load(&env, None).unwrap();
    assert!(!format!("{config:?}").contains("hunter2"));
    let long = "hunter2".repeat(1000);
    assert!(!error_of(&[("KURZ_COUNTER_SALT", &long)], None).contains("hunter2"));
    let bad = [("KURZ_STORE", "mysql://me:hunter2@db/kurz")];
    assert!(!error_of(&bad, None).contains("hunter2"));
    for name in ["KURZ_REDIS", "KURZ_REPLICA"] {
        let url = if name == "KURZ_REDIS" { "redis" } else { "postgres" };
        let good = [("KURZ_REDIS", "redis://db"), (name, &*format!("{url}://me:hunter2@db:1/1"))];
        assert!(!format!("{:?}", load(&good, None).unwrap()).contains("hunter2"));
        assert!(!error_of(&[(name, "ftp://me:hunter2@db")], None).contains("hunter2"));
    }
    assert!(load(&[("KURZ_REDIS", "")], None).unwrap().redis.url.is_none());
    let bad = [("KURZ_STORE", "host=db password=hunter2")];
    assert!(!error_of(&bad, None).contains("hunter2"));
    let bad = [("KURZ_PUBLIC_URL", "https://me:hunter2@kurz.example")];
    assert!(!error_of(&bad, None).contains("hunter2"));
}

proptest! {
    #[test]
    fn no_value_of_any_setting_makes_the_loader_panic(text: String, which in 0..BAD.len()) {
        let name = format!("KURZ_{}", BAD[which].0.to_ascii_uppercase());
        let _ = load(&[(&name, &text)], None);
    }
}
