//! PostgreSQL as many instances use it: tables made once however many start at once, connections that
//! are protected as the settings say, and connections that stay open.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use base64::Engine;
use kurz_test_support::postgres::{Database, connect};
use kurz_test_support::servers::{Postgres, give};
use kurz_test_support::{Process, Program, TestServer};
use rcgen::{CertifiedKey, generate_simple_self_signed};

/// The text form of a certificate or key.
pub(crate) fn pem(label: &str, der: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

fn serve(store: &str) -> Program {
    TestServer::builder()
        .default_timeouts()
        .setting("KURZ_STORE", store)
        .setting("KURZ_POOL_SIZE", "3")
        .process()
}

#[tokio::test]
async fn instances_that_start_at_once_make_the_tables_once() {
    let database = Database::create();
    let running: Vec<Process> = thread::scope(|scope| {
        let start = |_| scope.spawn(|| serve(database.url()).start());
        let starting: Vec<_> = (0..6).map(start).collect();
        starting.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(running.len(), 6);
    let sql = connect(database.url()).await;
    let rows = sql.query("select number from migrations order by number", &[]).await.unwrap();
    let numbers: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(numbers, (1..=i64::try_from(numbers.len()).unwrap()).collect::<Vec<_>>());
}

#[tokio::test]
async fn as_many_connections_stay_open_as_should_and_no_more_than_may() {
    let database = Database::create();
    let settings = [("KURZ_POOL_IDLE", "3"), ("KURZ_POOL_SIZE", "5")];
    let instances = TestServer::builder()
        .setting("KURZ_STORE", database.url())
        .settings(&settings)
        .start_instances(1);
    let sql = connect(database.url()).await;
    let count = "select count(*) from pg_stat_activity
        where datname = current_database() and application_name = 'kurz'";
    // One more listens.
    let open = async || sql.query_one(count, &[]).await.unwrap().get::<_, i64>(0);
    let watch = kurz::clock::Stopwatch::start();
    while open().await < 4 {
        assert!(watch.elapsed() < std::time::Duration::from_secs(20), "{} are open", open().await);
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let http = instances.http(0);
    futures_util::future::join_all((0..40).map(|number| {
        let http = http.clone();
        async move { http.get(&format!("/nothing-{number}")).await.expect(404) }
    }))
    .await;
    assert!(open().await <= 6);
}

#[tokio::test]
async fn prefer_and_require_read_no_certificate_and_verify_reads_all() {
    // Version 1, self-signed, for another host: OpenSSL makes such ones, and libpq takes them.
    let (crt, key) = (include_str!("version1.crt"), include_str!("version1.key"));
    let postgres = Postgres::start_with(&["ssl=on"], |data| {
        fs::write(data.join("pg_hba.conf"), "hostssl all all 127.0.0.1/32 trust\n").unwrap();
        fs::write(data.join("server.crt"), crt).unwrap();
        fs::write(data.join("server.key"), key).unwrap();
        fs::set_permissions(data.join("server.key"), fs::Permissions::from_mode(0o600)).unwrap();
        for file in ["pg_hba.conf", "server.crt", "server.key"] {
            give(&data.join(file));
        }
    });
    for tls in ["prefer", "require"] {
        for version in ["TLSv1.2", "TLSv1.3"] {
            let limit = format!(
                "alter system set ssl_min_protocol_version = '{version}';
                 alter system set ssl_max_protocol_version = '{version}'; select pg_reload_conf()"
            );
            postgres.run_sql(&limit);
            let process = serve(&postgres.url()).env("KURZ_STORE_TLS", tls).start();
            let (status, log) = process.terminate();
            assert!(status.success(), "{tls} {version}: {log}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let authority = folder.path().join("ca.pem");
    fs::write(&authority, crt).unwrap();
    let program = serve(&postgres.url()).env("KURZ_STORE_TLS", "verify");
    for program in [program.clone(), program.env("KURZ_TLS_CA", authority.to_str().unwrap())] {
        let output = program.run("");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
    }
}

#[tokio::test]
async fn connections_are_protected_as_the_settings_say() {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let files = |data: &std::path::Path| {
        // Nobody comes in without encryption.
        fs::write(data.join("pg_hba.conf"), "hostssl all all 127.0.0.1/32 trust\n").unwrap();
        fs::write(data.join("server.crt"), pem("CERTIFICATE", cert.der())).unwrap();
        fs::write(data.join("server.key"), pem("PRIVATE KEY", &signing_key.serialize_der()))
            .unwrap();
        fs::set_permissions(data.join("server.key"), fs::Permissions::from_mode(0o600)).unwrap();
        for file in ["pg_hba.conf", "server.crt", "server.key"] {
            give(&data.join(file));
        }
    };
    let postgres = Postgres::start_with(&["ssl=on"], files);
    let folder = tempfile::tempdir().unwrap();
    let authority = |name: &str, pem: String| {
        let path = folder.path().join(name);
        fs::write(&path, pem).unwrap();
        path.display().to_string()
    };
    let right = authority("right.pem", pem("CERTIFICATE", cert.der()));
    let other = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let wrong = authority("wrong.pem", pem("CERTIFICATE", other.cert.der()));
    let empty = authority("empty.pem", String::new());

    let with = |tls: &str, authority: Option<&String>| {
        let program = serve(&postgres.url()).env("KURZ_STORE_TLS", tls);
        match authority {
            Some(path) => program.env("KURZ_TLS_CA", path),
            None => program,
        }
    };
    for (tls, authority) in [("prefer", None), ("require", None), ("verify", Some(&right))] {
        let process = with(tls, authority).start();
        let (status, log) = process.terminate();
        assert!(status.success(), "{tls}: {log}");
    }
    let refused = [
        ("off", None, "no encryption"),
        ("verify", None, "invalid peer certificate"),
        ("verify", Some(&wrong), "invalid peer certificate"),
        ("verify", Some(&empty), "holds no certificate"),
    ];
    for (tls, authority, why) in refused {
        let output = with(tls, authority).run("");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{tls} {authority:?}: {said}");
        assert!(said.contains(why), "{tls} {authority:?}: {said}");
    }
}
