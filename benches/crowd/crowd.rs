//! The crowd: half of the connections are idle after one request, the other half sends a request head at
//! one byte a second. A connection that kurz closes is opened again, so that their number stays the same.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{interval, sleep};

const RESTING: usize = 5_000;
const DRIBBLING: usize = 5_000;
const HEAD: &str = "GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: slow, and for a long time\r\n";

/// The crowd, in its own process. It ends when its standard input does.
pub(crate) struct Crowd {
    child: Child,
    input: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

/// Connections at the end of a crowd.
pub(crate) struct Left {
    pub(crate) open: usize,
    pub(crate) closed: usize,
}

impl Crowd {
    /// Start the process, and wait until all connections are open.
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let program = std::env::current_exe().unwrap();
        let mut child = Command::new(program)
            .args(["--crowd-at", &address.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "connected");
        Self { child, input, lines }
    }

    pub(crate) fn disconnect(mut self) -> Left {
        drop(self.input.take());
        let line = self.lines.next().unwrap().unwrap();
        let (open, closed) = line.split_once(' ').unwrap();
        let left = Left { open: open.parse().unwrap(), closed: closed.parse().unwrap() };
        assert!(self.child.wait().unwrap().success());
        left
    }
}

#[derive(Default)]
struct Counts {
    open: AtomicUsize,
    closed: AtomicUsize,
}

/// Hold the connections until standard input ends.
pub(crate) async fn hold(address: SocketAddr) {
    let counts = Arc::new(Counts::default());
    let handle = tokio::runtime::Handle::current();
    for at in 0..RESTING + DRIBBLING {
        let counts = Arc::clone(&counts);
        if at % 2 == 0 {
            handle.spawn(idle(address, counts));
        } else {
            handle.spawn(send_slowly(address, counts));
        }
    }
    while counts.open.load(Relaxed) < RESTING + DRIBBLING {
        sleep(Duration::from_millis(20)).await;
    }
    println!("connected");
    let _ = tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new())).await;
    println!("{} {}", counts.open.load(Relaxed), counts.closed.load(Relaxed));
}

/// Open a connection; retried, since the limit may be reached for a moment.
async fn connect(address: SocketAddr) -> TcpStream {
    loop {
        if let Ok(stream) = TcpStream::connect(address).await {
            return stream;
        }
        sleep(Duration::from_millis(50)).await;
    }
}

async fn idle(address: SocketAddr, counts: Arc<Counts>) {
    loop {
        let mut stream = connect(address).await;
        let mut space = [0; 1024];
        let ask = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
        if stream.write_all(ask).await.is_ok() && stream.read(&mut space).await.is_ok() {
            counts.open.fetch_add(1, Relaxed);
            // Until kurz closes it, after the idle timeout of a minute.
            while stream.read(&mut space).await.is_ok_and(|read| read > 0) {}
            counts.open.fetch_sub(1, Relaxed);
        }
    }
}

async fn send_slowly(address: SocketAddr, counts: Arc<Counts>) {
    loop {
        let stream = connect(address).await;
        counts.open.fetch_add(1, Relaxed);
        let (mut from, mut to) = stream.into_split();
        let send = async {
            let mut seconds = interval(Duration::from_secs(1));
            for byte in HEAD.bytes().cycle() {
                seconds.tick().await;
                if to.write_all(&[byte]).await.is_err() {
                    break;
                }
            }
        };
        let mut answer = Vec::new();
        tokio::select! {
            () = send => {}
            _ = from.read_to_end(&mut answer) => {}
        }
        counts.open.fetch_sub(1, Relaxed);
        counts.closed.fetch_add(1, Relaxed);
    }
}
