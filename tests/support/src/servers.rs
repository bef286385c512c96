//! Servers of a test's own, to be killed, stopped and started again: Redis, a cluster of three, and
//! PostgreSQL. Each on a private port, from a temporary folder, ended with its value by its own id.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use kurz::clock::Stopwatch;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(20);

/// A process that ends with its value.
pub(crate) struct Server {
    pub(crate) child: Child,
}

impl Server {
    /// `command` ends with the thread that starts it at the latest.
    pub(crate) fn start(
        program: &str,
        args: &[String],
        log: &std::path::Path,
        as_user: Option<&str>,
    ) -> Self {
        let log = fs::File::create(log).unwrap();
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]);
        if let Some(user) = as_user {
            command.args([&format!("--reuid={user}"), "--regid=postgres", "--clear-groups"]);
        }
        command.arg(program).args(args).stdin(Stdio::null());
        command.stdout(log.try_clone().unwrap()).stderr(log);
        Self { child: command.spawn().unwrap() }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn end(&mut self, signal: Signal) {
        // An error says that it has ended already.
        let _ = kill_process(Pid::from_child(&self.child), signal);
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end(Signal::KILL);
    }
}

/// A port below those that the kernel draws from, free at this moment.
pub fn free_port() -> u16 {
    loop {
        let mut bytes = [0; 2];
        rustix_random(&mut bytes);
        // Room for the port of a cluster's bus, 10,000 above.
        let port = 10_000 + u16::from_ne_bytes(bytes) % 10_000;
        let free = |port| std::net::TcpListener::bind(("127.0.0.1", port)).is_ok();
        if free(port) && free(port + 10_000) {
            return port;
        }
    }
}

fn rustix_random(bytes: &mut [u8]) {
    kurz::entropy::Entropy::os().fill(bytes);
}

/// Wait until `done`.
pub fn until(what: &str, mut done: impl FnMut() -> bool) {
    let watch = Stopwatch::start();
    while !done() {
        assert!(watch.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        sleep(PAUSE);
    }
}

/// A Redis that keeps nothing over its end.
pub struct Redis {
    folder: TempDir,
    port: u16,
    args: Vec<String>,
    server: Option<Server>,
}

impl Redis {
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    fn start_with(args: &[&str]) -> Self {
        loop {
            let folder = tempfile::tempdir().unwrap();
            let args = args.iter().map(|arg| (*arg).to_owned()).collect();
            let mut redis = Self { folder, port: free_port(), args, server: None };
            if redis.run() {
                return redis;
            }
        }
    }

    /// Start it; `false` when somebody else took its port.
    fn run(&mut self) -> bool {
        let mut args = vec!["--port".to_owned(), self.port.to_string()];
        args.extend(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"].map(str::to_owned));
        args.extend(["--dir".to_owned(), self.folder.path().display().to_string()]);
        args.extend(self.args.clone());
        let log = self.folder.path().join("log");
        let mut server = Server::start("redis-server", &args, &log, None);
        let mut alive = true;
        until("Redis is ready", || {
            alive = server.child.try_wait().unwrap().is_none();
            let text = fs::read_to_string(&log).unwrap_or_default();
            !alive || text.contains("Ready to accept connections")
        });
        self.server = Some(server);
        alive
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// One that speaks TLS as well, with the certificate and key in these files; and where.
    pub fn protected(certificate: &str, key: &str) -> (Self, String) {
        let port = free_port().to_string();
        let files = ["--tls-cert-file", certificate, "--tls-key-file", key];
        let tls = ["--tls-port", &port, "--tls-auth-clients", "no"];
        (Self::start_with(&[files, tls].concat()), format!("rediss://127.0.0.1:{port}"))
    }

    /// End it at once: its memory is gone.
    pub fn kill(&mut self) {
        self.server = None;
    }

    /// Start it again, empty.
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

    /// What `redis-cli` prints.
    pub fn ask(&self, args: &[&str]) -> String {
        let port = self.port.to_string();
        let output = Command::new("redis-cli").args(["-p", &port]).args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// How many commands clients sent, without those that scripts ran themselves.
    pub fn commands(&self) -> u64 {
        let calls = |line: &str| {
            let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
            let sent = ["evalsha", "eval", "publish", "spublish", "script"];
            let sent = sent.iter().any(|word| name.starts_with(word));
            sent.then(|| rest.split(',').next()?.parse::<u64>().ok()).flatten()
        };
        self.ask(&["info", "commandstats"]).lines().filter_map(calls).sum()
    }
}

/// Three nodes of one cluster.
pub struct Cluster(Vec<Redis>);

impl Cluster {
    pub fn start() -> Self {
        let enabled = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"];
        let nodes: Vec<Redis> = (0..3).map(|_| Redis::start_with(&enabled)).collect();
        let addresses: Vec<String> =
            nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
        let mut args = vec!["--cluster", "create"];
        args.extend(addresses);
        args.push("--cluster-yes");
        let made = nodes[0].ask(&args);
        assert!(made.contains("All 16384 slots covered"), "{made}");
        for node in &nodes {
            until("the cluster is whole", || {
                node.ask(&["cluster", "info"]).contains("cluster_state:ok")
            });
        }
        Self(nodes)
    }

    pub fn url(&self) -> String {
        self.0.iter().map(Redis::url).collect::<Vec<_>>().join(",")
    }
}

/// A PostgreSQL of one's own.
pub struct Postgres {
    _folder: TempDir,
    data: PathBuf,
    port: u16,
    settings: Vec<String>,
    server: Option<Server>,
}

impl Postgres {
    pub fn start() -> Self {
        Self::start_with(&[], |_| ())
    }

    /// With settings, after `prepare` has seen its folder.
    pub fn start_with(settings: &[&str], prepare: impl Fn(&std::path::Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711)).unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        give(&data);
        let args = format!(
            "--pgdata={} --username=postgres --auth=trust --no-sync --encoding=UTF8 --locale=C.UTF-8",
            data.display()
        );
        let args: Vec<String> = args.split(' ').map(str::to_owned).collect();
        let log = folder.path().join("initdb");
        let mut initdb = Server::start(&program("initdb"), &args, &log, user());
        let status = initdb.child.wait().unwrap();
        assert!(status.success(), "{}", fs::read_to_string(&log).unwrap());
        prepare(&data);
        let settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let mut postgres =
            Self { _folder: folder, data, port: free_port(), settings, server: None };
        postgres.start_again();
        postgres
    }

    /// One that follows `first`.
    pub fn follow(first: &Self) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711)).unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
        give(&data);
        let from = first.url();
        let args = ["--dbname", &from, "--checkpoint=fast", "--no-sync", "--write-recovery-conf"];
        let mut args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        args.extend(["--pgdata".to_owned(), data.display().to_string()]);
        let log = folder.path().join("basebackup");
        let mut copying = Server::start(&program("pg_basebackup"), &args, &log, user());
        let status = copying.child.wait().unwrap();
        assert!(status.success(), "{}", fs::read_to_string(&log).unwrap());
        let mut second =
            Self { _folder: folder, data, port: free_port(), settings: Vec::new(), server: None };
        second.start_again();
        second
    }

    /// How many rows a table has.
    pub fn count(&self, table: &str) -> usize {
        let ask = format!("select count(*) from {table}");
        let psql =
            Command::new(program("psql")).args([&self.url(), "-Atc", &ask]).output().unwrap();
        String::from_utf8(psql.stdout).unwrap().trim().parse().unwrap_or_default()
    }

    /// Run statements, each by itself.
    pub fn run_sql(&self, statements: &str) {
        for statement in statements.split(';').map(str::trim) {
            let psql =
                Command::new(program("psql")).args([&self.url(), "-Atc", statement]).output();
            let psql = psql.unwrap();
            assert!(psql.status.success(), "{statement}: {psql:?}");
        }
    }

    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// End it at once, as a crash does. Not by KILL: its children would go on for a moment.
    pub fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.end(Signal::QUIT);
        }
    }

    /// Start it on the same data.
    pub fn start_again(&mut self) {
        let mut args = vec!["-D".to_owned(), self.data.display().to_string()];
        let port = self.port.to_string();
        for setting in ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"] {
            args.extend(["-c".to_owned(), setting.to_owned()]);
        }
        args.extend(["-c".to_owned(), format!("port={port}")]);
        for setting in &self.settings {
            args.extend(["-c".to_owned(), setting.clone()]);
        }
        let log = self.data.with_extension("log");
        until("PostgreSQL is ready", || {
            let mut server = Server::start(&program("postgres"), &args, &log, user());
            let mut alive = true;
            until("PostgreSQL says something", || {
                alive = server.child.try_wait().unwrap().is_none();
                let text = fs::read_to_string(&log).unwrap_or_default();
                !alive || text.contains("ready to accept ")
            });
            // One that was killed leaves children for a moment, and they its lock.
            self.server = alive.then_some(server);
            alive
        });
    }
}

/// PostgreSQL refuses to run as root.
fn user() -> Option<&'static str> {
    rustix::process::geteuid().is_root().then_some("postgres")
}

/// Let PostgreSQL's user have a file or folder.
pub fn give(path: &std::path::Path) {
    if let Some(user) = user() {
        let given = Command::new("chown").arg(format!("{user}:postgres")).arg(path).status();
        assert!(given.unwrap().success());
    }
}

/// A program of the newest PostgreSQL that is installed.
fn program(name: &str) -> String {
    let mut found: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .map(|version| version.unwrap().path().join("bin").join(name))
        .filter(|path| path.exists())
        .collect();
    found.sort();
    found.pop().map_or_else(|| name.to_owned(), |path| path.display().to_string())
}
