//! `kurz serve` with a certificate: what a client sees, a renewal while it runs, and its end. The
//! handshakes themselves are tested beside the server.

use std::path::Path;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kurz_test_support::{Process, Program, TestServer};
use reqwest::tls::TlsInfo;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

fn pem(label: &str, der: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
}

/// Put a fresh pair in place as tools do, by renaming; its certificate.
fn renew(folder: &Path) -> Vec<u8> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let put = |name: &str, text: String| {
        let fresh = folder.join(format!("{name}.new"));
        std::fs::write(&fresh, text).unwrap();
        std::fs::rename(fresh, folder.join(name)).unwrap();
    };
    put("cert.pem", pem("CERTIFICATE", made.cert.der()));
    put("key.pem", pem("PRIVATE KEY", &made.signing_key.serialize_der()));
    made.cert.der().to_vec()
}

fn secure() -> Program {
    TestServer::builder()
        .default_timeouts()
        .setting("KURZ_TLS_CERT", "cert.pem")
        .setting("KURZ_TLS_KEY", "key.pem")
        .process()
}

/// A client that keeps no connection, and believes whatever it is shown: the tests look at that.
fn client() -> reqwest::Client {
    reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .tls_certs_only([])
        .tls_danger_accept_invalid_certs(true)
        .tls_info(true)
        .pool_max_idle_per_host(0)
        .build()
        .unwrap()
}

async fn shown(server: &Process) -> Vec<u8> {
    let answer = client().get(format!("{}/healthz", server.base_url())).send().await.unwrap();
    let info = answer.extensions().get::<TlsInfo>().unwrap();
    info.peer_certificate().unwrap().to_vec()
}

async fn until_shown(server: &Process, certificate: &[u8]) {
    #[expect(clippy::disallowed_methods, reason = "a deadline of the test, not of the program")]
    let start = Instant::now();
    while shown(server).await != certificate {
        assert!(start.elapsed() < Duration::from_secs(30), "the old certificate is still shown");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn links_are_made_and_followed_over_tls_and_a_renewal_needs_no_restart() {
    let program = secure();
    let first = renew(program.folder());
    let server = program.start();
    let base = server.base_url().to_owned();
    assert!(base.starts_with("https://127.0.0.1:"), "{base}");

    let body = json!({"original_url": "https://example.com/"}).to_string();
    let made = client().post(format!("{base}/api/v1/links")).body(body).send().await.unwrap();
    let made: Value = serde_json::from_slice(&made.bytes().await.unwrap()).unwrap();
    let short = made["short_url"].as_str().unwrap();
    assert!(short.starts_with(&base), "{short}");
    let followed = client().get(short).send().await.unwrap();
    assert_eq!(followed.status(), 302);
    assert!(followed.headers().get("strict-transport-security").is_none());
    assert_eq!(shown(&server).await, first);

    let second = renew(program.folder());
    until_shown(&server, &second).await;
    let third = renew(program.folder());
    let pid = Pid::from_raw(i32::try_from(server.pid()).unwrap()).unwrap();
    kill_process(pid, Signal::HUP).unwrap();
    until_shown(&server, &third).await;

    std::fs::write(program.folder().join("key.pem"), "no key").unwrap();
    server.wait_for_log("the old one stays");
    assert_eq!(shown(&server).await, third);
    let (status, log) = server.terminate();
    assert!(status.success(), "{log}");
}

#[test]
fn a_pair_that_cannot_be_used_stops_the_start_before_anything_is_made() {
    let program = secure();
    let output = program.run("");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cert.pem (KURZ_TLS_CERT)"), "{said}");
    assert_eq!(std::fs::read_dir(program.folder()).unwrap().count(), 0, "nothing was made");

    let doctor = |program: Program| String::from_utf8(program.run("").stdout).unwrap();
    let asked = Program::kurz(&["doctor"])
        .env("KURZ_TLS_CERT", "cert.pem")
        .env("KURZ_LISTEN", "127.0.0.1:0")
        .env("KURZ_ADMIN_LISTEN", "127.0.0.1:0");
    assert!(doctor(asked.clone()).contains("KURZ_TLS_CERT is set and KURZ_TLS_KEY is not"));
    let asked = asked.env("KURZ_TLS_KEY", "key.pem");
    renew(asked.folder());
    assert!(doctor(asked).contains("belong together and are valid"));
}

#[test]
fn the_doctor_knows_a_server_behind_tls() {
    let program = secure();
    renew(program.folder());
    let server = program.start();
    let address = server.base_url().trim_start_matches("https://");
    let doctor = Program::kurz(&["doctor"])
        .env("KURZ_TLS_CERT", program.folder().join("cert.pem").to_str().unwrap())
        .env("KURZ_TLS_KEY", program.folder().join("key.pem").to_str().unwrap())
        .env("KURZ_LISTEN", address)
        .env("KURZ_ADMIN_LISTEN", "off");
    let said = String::from_utf8(doctor.run("").stdout).unwrap();
    assert!(said.contains(&format!("kurz answers on {address}")), "{said}");
}
