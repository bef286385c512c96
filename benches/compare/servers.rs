//! The servers that are compared: started here, on free ports, and ended by their own ids.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// A server under test.
pub(crate) trait Target {
    fn name(&self) -> String;
    fn url(&self) -> String;
    /// The first process; its children count too.
    fn pid(&self) -> u32;

    /// User and system time of all its processes, in ticks.
    fn cpu_ticks(&self) -> (u64, u64) {
        family(self.pid())
            .iter()
            .map(|pid| ticks(*pid))
            .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// Resident memory of all its processes.
    fn memory_mb(&self) -> f64 {
        family(self.pid()).iter().map(|pid| resident_kb(*pid)).sum::<f64>() / 1024.0
    }
}

fn family(pid: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let children = children.unwrap_or_default();
    let mut all = vec![pid];
    for child in children.split_whitespace() {
        all.extend(family(child.parse().unwrap()));
    }
    all
}

fn ticks(pid: u32) -> (u64, u64) {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Fields are counted after the name, which may contain spaces.
    let rest = stat.rsplit_once(") ").map(|(_, rest)| rest.to_owned()).unwrap_or_default();
    let fields: Vec<u64> = rest.split(' ').map(|field| field.parse().unwrap_or(0)).collect();
    (fields.get(11).copied().unwrap_or(0), fields.get(12).copied().unwrap_or(0))
}

fn resident_kb(pid: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0.0)
}

/// nginx with two workers, each with its own listener.
pub(crate) struct Nginx {
    child: Child,
    port: u16,
}

impl Nginx {
    /// With a static response.
    pub(crate) fn start(folder: &Path) -> Self {
        let answer = "return 302 https://example.com/spring-sale/2026/some-page?id=1;";
        Self::start_with(folder, "nginx", "", answer)
    }

    /// A proxy that keeps its connections to `upstream`.
    fn proxy(folder: &Path, name: &str, upstream: &dyn Target) -> Self {
        let url = upstream.url();
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        let upstream = format!(
            "upstream behind {{ server {address}; keepalive 64; keepalive_requests 1000000000; }}"
        );
        let pass = "proxy_pass http://behind; proxy_http_version 1.1; \
            proxy_set_header Connection \"\"; proxy_set_header Host $host; \
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_redirect off;";
        Self::start_with(folder, name, &upstream, pass)
    }

    fn start_with(folder: &Path, name: &str, upstream: &str, location: &str) -> Self {
        let port = free_port();
        let config = folder.join(format!("{name}.conf"));
        let text = format!(
            "daemon off; worker_processes 2; pid {pid}; error_log stderr crit;
             events {{ worker_connections 4096; }}
             http {{ access_log off; server_tokens off; keepalive_requests 1000000000;
               client_body_temp_path {tmp}; proxy_temp_path {tmp}; fastcgi_temp_path {tmp};
               uwsgi_temp_path {tmp}; scgi_temp_path {tmp};
               {upstream}
               server {{ listen 127.0.0.1:{port} reuseport backlog=4096;
                 location / {{ {location} }} }} }}",
            pid = folder.join(format!("{name}.pid")).display(),
            tmp = folder.join(format!("{name}-tmp")).display()
        );
        fs::write(&config, text).unwrap();
        let child = Command::new("nginx").arg("-c").arg(&config).arg("-p").arg(folder).spawn();
        let child = child.expect("nginx is installed (Debian's package nginx-light)");
        wait_for(port);
        Self { child, port }
    }
}

impl Target for Nginx {
    fn name(&self) -> String {
        "nginx `return 302`".to_owned()
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// A server behind a proxy of its own. CPU and memory are the server's alone.
pub(crate) struct Proxied<'a> {
    proxy: Nginx,
    server: &'a dyn Target,
}

impl<'a> Proxied<'a> {
    pub(crate) fn start(folder: &Path, name: &str, server: &'a dyn Target) -> Self {
        Self { proxy: Nginx::proxy(folder, name, server), server }
    }
}

impl Target for Proxied<'_> {
    fn name(&self) -> String {
        format!("{}, behind nginx", self.server.name())
    }

    fn url(&self) -> String {
        self.proxy.url()
    }

    fn pid(&self) -> u32 {
        self.server.pid()
    }
}

/// kurz with its defaults: quota on, clicks counted.
pub(crate) struct Kurz {
    name: &'static str,
    child: Child,
    address: String,
}

impl Kurz {
    /// With this much memory for links; `None` for the default.
    pub(crate) fn start(folder: &Path, cache_bytes: Option<&str>) -> Self {
        Self::start_program("kurz", Path::new(env!("CARGO_BIN_EXE_kurz")), folder, cache_bytes)
    }

    /// Another build of kurz, on a store of its own.
    pub(crate) fn start_program(
        name: &'static str,
        program: &Path,
        folder: &Path,
        cache_bytes: Option<&str>,
    ) -> Self {
        let mut command = Command::new(program);
        command.env_remove("KURZ_CACHE_BYTES");
        if let Some(bytes) = cache_bytes {
            command.env("KURZ_CACHE_BYTES", bytes);
        }
        let mut child = command
            .args(["serve", "--open", "--listen", "127.0.0.1:0", "--store"])
            .arg(format!("sqlite://{}", folder.join("kurz.db").display()))
            .env("KURZ_ADMIN_LISTEN", "off")
            // The limit is checked on every redirect, and never reached.
            .env("KURZ_HIT_LIMIT", "1000000000000")
            .env("KURZ_LIMITS", "off")
            .env("KURZ_LOG", "error")
            .current_dir(folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines
            .find_map(|line| line.ok()?.strip_prefix("listening on http://").map(str::to_owned));
        Self { name, child, address: line.expect("kurz says where it listens") }
    }

    /// Create links, a thousand at a time, one in `planned` with a plan; returns their codes.
    pub(crate) fn fill(&self, links: usize, planned: Option<usize>) -> Vec<String> {
        let mut codes = Vec::with_capacity(links);
        for batch in 0..links.div_ceil(1000) {
            let one = |n: usize| {
                let number = batch * 1000 + n;
                let url = format!("https://example.com/spring-sale/2026/some-page?id={number}");
                if planned.is_some_and(|planned| number.is_multiple_of(planned)) {
                    return json!({ "original_url": url, "rules": rules() });
                }
                json!({ "original_url": url })
            };
            let body = json!({"links": (0..1000).map(one).collect::<Vec<_>>()});
            let answer = self.call("POST", "/api/v1/workspaces/main/links/bulk", &body.to_string());
            for result in answer["results"].as_array().unwrap() {
                codes.push(result["link"]["short_code"].as_str().unwrap().to_owned());
            }
        }
        codes
    }

    /// Follow each link once, so that all are cached.
    pub(crate) fn follow_all(&self, codes: &[String]) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut answers = BufReader::new(stream.try_clone().unwrap()).lines();
        for codes in codes.chunks(100) {
            let request = |code| format!("GET /{code} HTTP/1.1\r\nHost: localhost\r\n\r\n");
            let requests: String = codes.iter().map(request).collect();
            stream.write_all(requests.as_bytes()).unwrap();
            for _ in codes {
                let head = answers.by_ref().map(Result::unwrap).take_while(|line| !line.is_empty());
                let head: Vec<String> = head.collect();
                assert!(head[0].starts_with("HTTP/1.1 302"), "{head:?}");
            }
        }
    }

    /// The clicks in the store after the load.
    pub(crate) fn check_totals(&self) {
        thread::sleep(Duration::from_secs(2));
        let totals = self.call("GET", "/api/v1/stats", "");
        println!("kurz counted {} redirects.", totals["total_redirects"]);
    }

    fn call(&self, method: &str, path: &str, body: &str) -> Value {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap_or_else(|_| panic!("{path} answered {answer}"))
    }
}

impl Target for Kurz {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Kurz {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// A server that runs already and knows the codes, or redirects any.
pub(crate) struct Peer {
    name: String,
    url: String,
    pid: u32,
}

impl Peer {
    pub(crate) fn parse(text: &str) -> Self {
        let (name, rest) = text.split_once('=').expect("--peer NAME=URL[,PID]");
        let (url, pid) = rest.split_once(',').unwrap_or((rest, "0"));
        Self { name: name.to_owned(), url: url.to_owned(), pid: pid.parse().unwrap() }
    }
}

impl Target for Peer {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn url(&self) -> String {
        self.url.clone()
    }

    fn pid(&self) -> u32 {
        self.pid
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn wait_for(port: u16) {
    for _ in 0..100 {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return;
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("nothing listens on port {port}");
}

fn end(child: &mut Child) {
    let _ = Command::new("kill").arg(child.id().to_string()).status();
    let _ = child.wait();
}

/// Eight rules with two tests of four values each; without a user agent and a language none holds, and all are
/// looked at.
fn rules() -> Value {
    let rule = |number: usize| {
        json!({ "name": format!("rule {number}"), "to": format!("https://example.com/{number}"),
            "when": { "query": { "ab": number.to_string() }, "language": ["es", "fr", "it", "pt"] } })
    };
    (1..=8).map(rule).collect()
}
