//! The server over TLS: real handshakes, with certificates made for the occasion.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tempfile::TempDir;

use super::protocol::{PREFACE, SETTINGS, h2_frame, h2_get};
use super::{Running, get, patient, read_head, read_to_close, start_speaking};
use crate::config::{Config, Net, Overrides};
use crate::net::tls_reload::TlsReloader;
use crate::net::{HttpLimits, TlsError};
use kurz_core::time::Timestamp;

const SHORT: Duration = Duration::from_millis(300);

/// 2026-11-15: within the life of every certificate here but those that say otherwise.
const NOW: Timestamp = Timestamp::from_ms(1_794_700_800_000);

type Client = StreamOwned<ClientConnection, TcpStream>;

/// A certificate for `localhost` with its key, both as PEM.
struct Made {
    der: CertificateDer<'static>,
    cert: String,
    key: String,
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
}

fn make_until(year: i32) -> Made {
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    params.not_before = date_time_ymd(2000, 1, 1);
    params.not_after = date_time_ymd(year, 1, 1);
    let key = KeyPair::generate().unwrap();
    let cert = params.self_signed(&key).unwrap();
    let der = cert.der().clone();
    let text = pem("CERTIFICATE", &der);
    Made { der, cert: text, key: pem("PRIVATE KEY", &key.serialize_der()) }
}

fn make() -> Made {
    make_until(2100)
}

fn net(folder: &Path, which: &[&str]) -> Net {
    let set = |name: &str| {
        let file = folder.join(name.to_lowercase()).display().to_string();
        (format!("KURZ_TLS_{name}"), file)
    };
    let env = which.iter().map(|name| set(name));
    Config::load(&Overrides::default(), env, folder).unwrap().net
}

fn open(folder: &Path) -> Result<TlsReloader, TlsError> {
    TlsReloader::open(&net(folder, &["CERT", "KEY"]), NOW).map(|tls| tls.expect("both are set"))
}

fn put(folder: &Path, cert: &str, key: &str) {
    fs::write(folder.join("cert"), cert).unwrap();
    fs::write(folder.join("key"), key).unwrap();
}

struct Site {
    server: Running,
    tls: TlsReloader,
    made: Made,
    folder: TempDir,
}

fn start(limits: HttpLimits) -> Site {
    let folder = tempfile::tempdir().unwrap();
    let made = make();
    put(folder.path(), &made.cert, &made.key);
    let tls = open(folder.path()).unwrap();
    Site { server: start_speaking(limits, Some(&tls)), tls, made, folder }
}

impl Site {
    /// Connect, believing `der` alone, and shake hands.
    fn connect(&self, der: &CertificateDer<'static>, alpn: &[&str]) -> std::io::Result<Client> {
        let mut roots = RootCertStore::empty();
        roots.add(der.clone()).unwrap();
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        let name = ServerName::try_from("localhost").unwrap();
        let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
        let mut stream = self.server.connect();
        while connection.is_handshaking() {
            connection.complete_io(&mut stream)?;
        }
        Ok(StreamOwned::new(connection, stream))
    }

    fn client(&self) -> Client {
        self.connect(&self.made.der, &["http/1.1"]).unwrap()
    }

    fn shows(&self, made: &Made) -> bool {
        self.connect(&made.der, &[]).is_ok_and(|mut client| get(&mut client, "/").contains("302"))
    }
}

#[test]
fn http_1_and_2_are_chosen_in_the_handshake() {
    let site = start(patient());
    for (offer, chosen) in [
        (&["h2", "http/1.1"][..], Some("h2")),
        (&["http/1.1"], Some("http/1.1")),
        (&["http/1.1", "h2"], Some("h2")),
        (&[], None),
    ] {
        let mut client = site.connect(&site.made.der, offer).unwrap();
        assert_eq!(client.conn.alpn_protocol(), chosen.map(str::as_bytes), "{offer:?}");
        if chosen == Some("h2") {
            client.write_all(&[PREFACE, SETTINGS, &h2_get(1)].concat()).unwrap();
            while h2_frame(&mut client) != (1, 1) {}
        } else {
            assert!(get(&mut client, "/").starts_with("HTTP/1.1 302"));
            assert!(get(&mut client, "/").starts_with("HTTP/1.1 302"), "and it is kept");
        }
    }
    assert!(site.connect(&site.made.der, &["gopher"]).is_err());
}

#[test]
fn bodies_of_many_records_come_and_go_whole() {
    let site = start(patient());
    let mut client = site.client();
    let body: Vec<u8> = (0..1_000_000_u32).map(|at| at.to_le_bytes()[1]).collect();
    let length = body.len();
    write!(client, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n").unwrap();
    client.write_all(&body).unwrap();
    assert!(read_head(&mut client).starts_with("HTTP/1.1 200"));
    let mut back = vec![0; length];
    client.read_exact(&mut back).unwrap();
    assert!(back == body, "what came back differs");
}

#[test]
fn a_new_pair_is_shown_to_new_connections_while_the_old_ones_go_on() {
    let mut site = start(patient());
    let mut before = site.client();
    assert!(get(&mut before, "/").starts_with("HTTP/1.1 302"));

    let next = make();
    put(site.folder.path(), &next.cert, &next.key);
    site.tls.look(false, NOW);
    assert!(site.shows(&site.made), "files that still move are not read");
    site.tls.look(false, NOW);
    assert!(site.shows(&next) && !site.shows(&site.made));
    assert!(get(&mut before, "/").starts_with("HTTP/1.1 302"));

    let last = make();
    put(site.folder.path(), &last.cert, &last.key);
    site.tls.look(true, NOW);
    assert!(site.shows(&last), "whoever asks need not wait");
}

#[test]
fn a_pair_that_is_not_whole_leaves_the_old_one_until_it_is() {
    let mut site = start(patient());
    let next = make();
    let cert = site.folder.path().join("cert");
    let over = make_until(2020);
    for broken in [&next.cert, "no certificate", &over.cert] {
        fs::write(&cert, broken).unwrap();
        site.tls.look(false, NOW);
        site.tls.look(false, NOW);
        assert!(site.shows(&site.made));
    }
    fs::remove_file(&cert).unwrap();
    site.tls.look(true, NOW);
    assert!(site.shows(&site.made));
    put(site.folder.path(), &next.cert, &next.key);
    site.tls.look(false, NOW);
    site.tls.look(false, NOW);
    assert!(site.shows(&next));
}

#[test]
fn files_that_cannot_be_used_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other, over) = (make(), make(), make_until(2020));
    let early = {
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.not_before = date_time_ymd(2090, 1, 1);
        let key = KeyPair::generate().unwrap();
        let cert = params.self_signed(&key).unwrap();
        Made {
            der: cert.der().clone(),
            cert: pem("CERTIFICATE", cert.der()),
            key: pem("PRIVATE KEY", &key.serialize_der()),
        }
    };
    let locked = pem("ENCRYPTED PRIVATE KEY", b"x");
    let torn = &one.cert[..one.cert.len() / 2];
    let nonsense = pem("CERTIFICATE", b"nonsense");
    let odd = pem("PRIVATE KEY", b"nonsense");
    let table = [
        (one.cert.as_str(), other.key.as_str(), "is not that of the first certificate in"),
        (&over.cert, &over.key, "is valid from 2000-01-01T00:00:00.000Z to 2020-01-01"),
        (&early.cert, &early.key, "is valid from 2090-01-01"),
        ("", &one.key, "cert (KURZ_TLS_CERT) is not a certificate: there is none in it"),
        (torn, &one.key, "(KURZ_TLS_CERT) is not a certificate"),
        (&nonsense, &one.key, "(KURZ_TLS_CERT) is not a certificate"),
        (&one.key, &one.key, "(KURZ_TLS_CERT) is not a certificate: there is none in it"),
        (&one.cert, "", "key (KURZ_TLS_KEY) is not a private key: there is none in it"),
        (&one.cert, &locked, "it is locked with a passphrase"),
        (&one.cert, &odd, "(KURZ_TLS_KEY) is not a private key"),
    ];
    for (cert, key, words) in table {
        put(folder.path(), cert, key);
        let said = open(folder.path()).unwrap_err().to_string();
        assert!(said.contains(words), "{said} lacks {words}");
    }
    for gone in ["cert", "key"] {
        put(folder.path(), &one.cert, &one.key);
        fs::remove_file(folder.path().join(gone)).unwrap();
        let said = open(folder.path()).unwrap_err().to_string();
        let setting = format!("{gone} (KURZ_TLS_{})", gone.to_uppercase());
        assert!(said.contains("cannot read") && said.contains(&setting), "{said}");
    }
    assert!(TlsReloader::open(&net(folder.path(), &[]), NOW).unwrap().is_none());
}

#[test]
fn plain_http_on_the_port_is_closed_at_once() {
    let site = start(patient());
    let mut stream = site.server.connect();
    // The service never sees it, and no timeout is what ends it.
    write!(stream, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    read_to_close(&mut stream);
    assert_eq!(site.server.calls(), 0);
}

// threats: G1
#[test]
fn a_handshake_that_does_not_come_to_its_end_is_cut() {
    let site = start(HttpLimits { header_timeout: SHORT, ..patient() });
    assert_eq!(read_to_close(&mut site.server.connect()), "");
    let mut stream = site.server.connect();
    // The beginning of a record that a handshake begins with, and more of it for as long as it is taken.
    stream.write_all(&[0x16, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc]).unwrap();
    let mut sender = stream.try_clone().unwrap();
    let dribble = std::thread::spawn(move || {
        while sender.write_all(&[0]).is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    read_to_close(&mut stream);
    dribble.join().unwrap();
}

// threats: G1
#[test]
fn a_head_that_dribbles_over_tls_is_answered_408() {
    let site = start(HttpLimits { header_timeout: Duration::from_secs(2), ..patient() });
    let mut client = site.client();
    client.write_all(b"GET / HTTP/1.1\r\nX: ").unwrap();
    let answer = read_to_close(&mut client);
    assert!(answer.starts_with("HTTP/1.1 408 Request Timeout"), "{answer}");
}

// threats: G1
#[test]
fn a_client_that_never_takes_its_answer_over_tls_is_cut() {
    let site = start(HttpLimits { body_timeout: SHORT, ..patient() });
    let mut client = site.client();
    write!(client, "GET /big HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    site.server.dropped.recv_timeout(super::PATIENCE).unwrap();
}

#[test]
fn a_handshake_that_does_not_go_on_makes_room() {
    let site = start(HttpLimits { max_connections: 1, ..patient() });
    let mut silent = site.server.connect();
    silent.set_nonblocking(true).unwrap();
    // The workers accept in any order: the silent one may come after some of the clients.
    while !silent.read(&mut [0]).is_ok_and(|read| read == 0) {
        let _ = site.connect(&site.made.der, &[]);
    }
}

#[test]
fn what_is_in_flight_over_tls_is_answered_before_the_server_ends() {
    let site = start(patient());
    let mut hanging = site.client();
    write!(hanging, "GET /hang HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    while site.server.calls() == 0 {
        std::thread::yield_now();
    }
    let mut idle = site.client();
    assert!(get(&mut idle, "/").starts_with("HTTP/1.1 302"));
    let mut shaking = site.server.connect();

    let (handle, service) = (site.server.handle, site.server.site);
    let ending = std::thread::spawn(move || handle.shutdown());
    assert_eq!(read_to_close(&mut idle), "");
    assert_eq!(read_to_close(&mut shaking), "");
    assert!(!ending.is_finished(), "it waits for the request in flight");
    service.release.add_permits(1);
    let answer = read_head(&mut hanging);
    assert!(answer.contains("connection: close"), "{answer}");
    assert_eq!(read_to_close(&mut hanging), "");
    assert_eq!(ending.join().unwrap(), 0);
}
