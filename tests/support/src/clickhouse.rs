//! ClickHouse for tests: a database of its own for each on the server of `TEST_CLICKHOUSE_URL`, and servers of a
//! test's own, to be killed, stopped and started again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::Signal;
use tempfile::TempDir;
use url::Url;

use crate::servers::{Server, free_port, until};

/// The URL of an empty database that no other test is given.
pub async fn database() -> Url {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mut url = crate::server_url("TEST_CLICKHOUSE_URL");
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("test_{}_{number}", std::process::id());
    ask(&url, &format!("CREATE DATABASE {name}")).await;
    url.set_path(&name);
    url
}

/// What the server at `url` answers, as lines with tabs.
pub async fn ask(url: &Url, statement: &str) -> String {
    let answer = try_ask(url, statement).await.unwrap();
    answer.unwrap_or_else(|error| panic!("{statement}: {error}"))
}

/// The number that a statement gives.
pub async fn number(url: &Url, statement: &str) -> u64 {
    ask(url, statement).await.parse().unwrap()
}

/// The same of a server that may be gone, or may refuse.
pub async fn try_ask(url: &Url, statement: &str) -> reqwest::Result<Result<String, String>> {
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build()?;
    let mut address = url.clone();
    address.set_username("").unwrap();
    address.set_password(None).unwrap();
    address.set_path("");
    address.query_pairs_mut().append_pair("database", url.path().trim_start_matches('/'));
    let request = client
        .post(address)
        .header("x-clickhouse-user", url.username())
        .header("x-clickhouse-key", url.password().unwrap_or_default());
    let response = request.body(statement.to_owned()).send().await?;
    let is_done = response.status().is_success();
    let text = response.text().await?.trim_end_matches('\n').to_owned();
    Ok(if is_done { Ok(text) } else { Err(text) })
}

/// A server of a test's own, which keeps its data over its end.
pub struct ClickHouse {
    folder: TempDir,
    port: u16,
    server: Option<Server>,
}

impl ClickHouse {
    pub fn start() -> Self {
        loop {
            let folder = tempfile::tempdir().unwrap();
            let mut clickhouse = Self { folder, port: free_port(), server: None };
            if clickhouse.run() {
                return clickhouse;
            }
        }
    }

    /// Start it; `false` when somebody else has its port.
    fn run(&mut self) -> bool {
        let folder = self.folder.path();
        let (path, port) = (folder.display(), self.port);
        let config = format!(
            "<yandex><logger><level>information</level><console>1</console></logger>
            <listen_host>127.0.0.1</listen_host><http_port>{port}</http_port>
            <path>{path}/data/</path><tmp_path>{path}/tmp/</tmp_path>
            <users_config>{path}/users.xml</users_config>
            <default_profile>default</default_profile><default_database>default</default_database>
            <mark_cache_size>67108864</mark_cache_size></yandex>"
        );
        let users =
            "<yandex><profiles><default/></profiles><quotas><default/></quotas><users><default>
            <password></password><networks><ip>127.0.0.1</ip></networks>
            <profile>default</profile><quota>default</quota></default></users></yandex>";
        fs::write(folder.join("config.xml"), config).unwrap();
        fs::write(folder.join("users.xml"), users).unwrap();
        let args = [format!("--config-file={path}/config.xml")];
        let log = folder.join("log");
        let mut server = Server::start(&program(), &args, &log, None);
        let mut alive = true;
        until("ClickHouse is ready", || {
            alive = server.child.try_wait().unwrap().is_none();
            let text = fs::read(&log).unwrap_or_default();
            !alive || String::from_utf8_lossy(&text).contains("Ready for connections")
        });
        self.server = Some(server);
        alive
    }

    pub fn url(&self) -> Url {
        format!("http://127.0.0.1:{}/default", self.port).parse().unwrap()
    }

    /// Where it keeps its data.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// End it at once, as a crash does.
    pub fn kill(&mut self) {
        self.server = None;
    }

    /// Start it on the same data.
    pub fn start_again(&mut self) {
        until("its port is free again", || self.run());
    }

    /// Stop it where it stands: connections stay open, and nothing answers.
    pub fn freeze(&self) {
        self.server.as_ref().unwrap().signal(Signal::STOP);
    }

    pub fn thaw(&self) {
        self.server.as_ref().unwrap().signal(Signal::CONT);
    }
}

/// Debian's is in a folder that only root has in PATH.
fn program() -> String {
    let debian = "/usr/sbin/clickhouse-server";
    if Path::new(debian).exists() { debian.to_owned() } else { "clickhouse-server".to_owned() }
}
