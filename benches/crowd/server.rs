//! The kurz that the crowd stands before, or that the flood comes over.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};

use rustix::process::{Resource, getrlimit, setrlimit};

/// As many descriptors as the system lets this process have.
pub(crate) fn raise_descriptors() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let enough = limit.maximum.is_none_or(|most| most >= 10_500);
    assert!(enough, "10,500 descriptors are needed: raise the hard limit (ulimit -Hn)");
}

pub(crate) struct Kurz {
    child: Child,
    pub(crate) address: SocketAddr,
    folder: tempfile::TempDir,
}

impl Kurz {
    pub(crate) fn start(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_kurz"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .env("KURZ_STORE", "sqlite://kurz.db")
            .env("KURZ_ADMIN_LISTEN", "off")
            .env("KURZ_MAX_CONNECTIONS", "12000")
            .env("KURZ_HIT_LIMIT", "0")
            .env("KURZ_LOG", "error")
            .envs(settings.iter().copied())
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines
            .find_map(|line| line.ok()?.strip_prefix("listening on http://").map(str::to_owned));
        let address = address.expect("kurz says where it listens").parse().unwrap();
        Self { child, address, folder }
    }

    /// A link, in memory; its path.
    pub(crate) fn make_link(&self) -> String {
        let body = r#"{"original_url":"https://example.com/","custom_code":"crowd"}"#;
        let mut stream = TcpStream::connect(self.address).unwrap();
        write!(
            stream,
            "POST /api/v1/links HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
        assert!(self.folder.path().join("kurz.db").exists());
        "/crowd".to_owned()
    }

    pub(crate) fn memory_mb(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1024.0
    }
}

impl Drop for Kurz {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
