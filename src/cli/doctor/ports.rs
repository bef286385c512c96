//! The addresses: free for a server to take, or taken by a kurz that answers there.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::time::Duration;

use super::{Finding, Level};
use crate::config::{AdminListen, Net};

const CHECK: &str = "port";

/// A server on this machine that is well answers at once.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) async fn check(net: &Net) -> Vec<Finding> {
    let main = format!("{}://{}/healthz", net.scheme(), reachable(net.listen));
    let mut findings = vec![check_one(net.listen, "KURZ_LISTEN", &main).await];
    if let Some(admin) = net.admin_listen.address() {
        let metrics = format!("http://{}/metrics", reachable(admin));
        let mut finding = check_one(admin, "KURZ_ADMIN_LISTEN", &metrics).await;
        if finding.level == Level::Problem && net.admin_listen == AdminListen::Default {
            // A server starts without it.
            finding.level = Level::Warning;
        }
        findings.push(finding);
    }
    findings
}

async fn check_one(address: SocketAddr, setting: &str, page: &str) -> Finding {
    match TcpListener::bind(address) {
        Ok(_) => Finding::ok(CHECK, format!("{address} ({setting}) is free")),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            if answers(page).await {
                return Finding::ok(CHECK, format!("a kurz answers on {address} ({setting})"));
            }
            let detail = format!(
                "another program listens on {address} ({setting}): stop it or choose another port"
            );
            Finding::problem(CHECK, detail)
        }
        Err(error) => {
            let detail = format!(
                "cannot listen on {address} ({setting}): {error}; choose an address of this \
                 machine and a port that this user may take"
            );
            Finding::problem(CHECK, detail)
        }
    }
}

/// Where to ask whoever listens on `address`.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}

/// Whether `page` is what kurz answers.
async fn answers(page: &str) -> bool {
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .tls_certs_only([])
        // This machine's own address: no certificate names it, and nothing secret is sent.
        .tls_danger_accept_invalid_certs(true)
        .timeout(PATIENCE)
        .build();
    let Ok(client) = client else { return false };
    let Ok(mut response) = client.get(page).send().await else {
        return false;
    };
    if !response.status().is_success() {
        return false;
    }
    // The beginning tells, and the rest may be long.
    let start = response.chunk().await.ok().flatten().unwrap_or_default();
    start.as_ref() == b"ok" || String::from_utf8_lossy(&start).contains("kurz_")
}
