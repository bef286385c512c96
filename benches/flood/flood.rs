//! The flood: requests at a fixed rate from hundreds of local addresses, and their responses.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::LocalSet;
use tokio::time::{Instant, sleep_until};

/// What the flood requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Wrong passwords for as many accounts, each over a new connection.
    Logins,
    /// Short addresses that do not exist, all different, over keep-alive connections.
    Misses,
}

/// Source addresses.
const ADDRESSES: u16 = 500;
/// Logins and misses per second.
const LOGINS: u32 = 500;
const MISSES: u32 = 20_000;

/// The flood, in its own process. It ends when its standard input does.
pub(crate) struct Flood {
    child: Child,
    input: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Flood {
    /// Start the process, and wait until it sends.
    pub(crate) fn start(address: SocketAddr, kind: Kind) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--flood-at", &address.to_string()]);
        if kind == Kind::Misses {
            command.arg("--misses");
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "sending");
        Self { child, input, lines }
    }

    /// End it; returns a summary of the responses.
    pub(crate) fn stop(mut self) -> String {
        drop(self.input.take());
        let answers = self.lines.next().unwrap().unwrap();
        assert!(self.child.wait().unwrap().success());
        answers
    }
}

#[derive(Default)]
struct Answers(std::cell::RefCell<BTreeMap<String, u64>>);

impl Answers {
    fn note(&self, answer: &[u8]) {
        let status = answer.get(9..12).map(String::from_utf8_lossy);
        let status = status.map_or_else(|| "closed".to_owned(), std::borrow::Cow::into_owned);
        *self.0.borrow_mut().entry(status).or_default() += 1;
    }

    fn in_words(&self, time: Duration) -> String {
        let answers = self.0.borrow();
        let total: u64 = answers.values().sum();
        let each: Vec<_> =
            answers.iter().map(|(status, count)| format!("{count} × {status}")).collect();
        let rate = u32::try_from(total).map(f64::from).unwrap() / time.as_secs_f64();
        format!("{} ({rate:.0} a second)", each.join(", "))
    }
}

/// Send requests until standard input ends.
pub(crate) async fn send(address: SocketAddr, kind: Kind) {
    let answers = Rc::new(Answers::default());
    let start = Instant::now();
    let tasks = LocalSet::new();
    for at in 0..ADDRESSES {
        let rate = if kind == Kind::Logins { LOGINS } else { MISSES };
        let period = Duration::from_secs(ADDRESSES.into()) / rate;
        let due = start + period * at.into() / ADDRESSES.into();
        let answers = Rc::clone(&answers);
        match kind {
            Kind::Logins => tasks.spawn_local(log_in(address, at, (due, period), answers)),
            Kind::Misses => tasks.spawn_local(miss(address, at, (due, period), answers)),
        };
    }
    println!("sending");
    let end = tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new()));
    let _ = tasks.run_until(end).await;
    println!("{}", answers.in_words(start.elapsed()));
}

async fn connect(address: SocketAddr, at: u16) -> Option<TcpStream> {
    let socket = TcpSocket::new_v4().ok()?;
    let [high, low] = at.to_be_bytes();
    socket.bind((Ipv4Addr::new(127, 1, high, low), 0).into()).ok()?;
    socket.connect(address).await.ok()
}

/// Logins are sent on schedule, whether or not the one before was answered.
async fn log_in(
    address: SocketAddr,
    at: u16,
    (mut due, period): (Instant, Duration),
    answers: Rc<Answers>,
) {
    let body = format!(r#"{{"email":"user{at}@example.com","password":"not the password"}}"#);
    let request = format!(
        "POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let request: Rc<str> = request.into();
    loop {
        sleep_until(due).await;
        due += period;
        let (request, answers) = (Rc::clone(&request), Rc::clone(&answers));
        tokio::task::spawn_local(async move {
            let Some(mut stream) = connect(address, at).await else { return };
            let mut answer = Vec::new();
            if stream.write_all(request.as_bytes()).await.is_ok() {
                let _ = stream.read_to_end(&mut answer).await;
            }
            answers.note(&answer);
        });
    }
}

/// Requests addresses that do not exist.
async fn miss(
    address: SocketAddr,
    at: u16,
    (mut due, period): (Instant, Duration),
    answers: Rc<Answers>,
) {
    let Some(mut stream) = connect(address, at).await else { return };
    let mut space = [0; 4096];
    for number in 0_u64.. {
        sleep_until(due).await;
        due += period;
        // Each flood requests other addresses.
        let salt = std::process::id();
        let request = format!("GET /m{salt}x{at}y{number} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        if stream.write_all(request.as_bytes()).await.is_err() {
            break;
        }
        let read = stream.read(&mut space).await.unwrap_or_default();
        answers.note(space.get(..read).unwrap_or_default());
    }
}
