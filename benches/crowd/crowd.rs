//! The crowd: half of it asked once and rests, the other half sends a head a byte a second. Whom kurz
//! closes comes again, so that the crowd stays as large as it is.

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

/// A crowd in a process of its own. It goes when its standard input ends.
pub(crate) struct Crowd {
    child: Child,
    input: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

/// What a crowd saw.
pub(crate) struct Left {
    pub(crate) open: usize,
    pub(crate) closed: usize,
}

impl Crowd {
    /// Bring it together, and come back once all are there.
    pub(crate) fn gather(address: SocketAddr) -> Self {
        let program = std::env::current_exe().unwrap();
        let mut child = Command::new(program)
            .args(["--crowd-at", &address.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "gathered");
        Self { child, input, lines }
    }

    pub(crate) fn dismiss(mut self) -> Left {
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

/// Be the crowd, until standard input ends.
pub(crate) async fn hold(address: SocketAddr) {
    let counts = Arc::new(Counts::default());
    let handle = tokio::runtime::Handle::current();
    for at in 0..RESTING + DRIBBLING {
        let counts = Arc::clone(&counts);
        if at % 2 == 0 {
            handle.spawn(rest(address, counts));
        } else {
            handle.spawn(dribble(address, counts));
        }
    }
    while counts.open.load(Relaxed) < RESTING + DRIBBLING {
        sleep(Duration::from_millis(20)).await;
    }
    println!("gathered");
    let _ = tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new())).await;
    println!("{} {}", counts.open.load(Relaxed), counts.closed.load(Relaxed));
}

/// A connection; there may be no room for a moment.
async fn connect(address: SocketAddr) -> TcpStream {
    loop {
        if let Ok(stream) = TcpStream::connect(address).await {
            return stream;
        }
        sleep(Duration::from_millis(50)).await;
    }
}

async fn rest(address: SocketAddr, counts: Arc<Counts>) {
    loop {
        let mut stream = connect(address).await;
        let mut space = [0; 1024];
        let ask = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
        if stream.write_all(ask).await.is_ok() && stream.read(&mut space).await.is_ok() {
            counts.open.fetch_add(1, Relaxed);
            // Until kurz closes it, which is not for a minute.
            while stream.read(&mut space).await.is_ok_and(|read| read > 0) {}
            counts.open.fetch_sub(1, Relaxed);
        }
    }
}

async fn dribble(address: SocketAddr, counts: Arc<Counts>) {
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
