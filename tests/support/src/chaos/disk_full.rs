//! The disk that holds the store is full. Nothing is acknowledged that is not stored,
//! redirects go on and are counted, and when there is room again all is as before, by itself.
//!
//! The disk is a small one in memory that only this server sees: it goes away with it.

use std::fmt;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use kurz::clock::Stopwatch;
use serde_json::{Value, json};

use super::kill::expect_whole;
use crate::links;
use crate::process::Process;
use crate::rng::Rng;
use crate::server::TestServer;

/// Only a failing run waits that long: kurz promises 5 seconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server on a disk of 16 MiB.
struct SmallDisk {
    process: Process,
    /// The disk, as this process reaches it.
    disk: PathBuf,
}

impl SmallDisk {
    fn start() -> Self {
        let program = TestServer::builder().default_timeouts().process();
        let disk = program.folder().join("disk");
        fs::create_dir(&disk).unwrap();
        // Whoever is not root becomes so in a world of their own, where they may mount.
        let root = rustix::process::getuid().is_root();
        let world = if root { "-m" } else { "-rm" };
        let mount = format!(
            "mount -t tmpfs -o size=16m none {} || {{ echo 'the test needs to mount a tmpfs: run it \
             as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1)' >&2; \
             exit 1; }}; exec \"$@\"",
            disk.display()
        );
        let program = program
            .env("KURZ_STORE", &format!("sqlite://{}/kurz.db", disk.display()))
            .env("KURZ_LOG", "off")
            .through(&["unshare", world, "sh", "-c", &mount, "sh"]);
        let process = program.start();
        let disk = PathBuf::from(format!("/proc/{}/root{}", process.pid(), disk.display()));
        Self { process, disk }
    }

    /// Take all the room there is.
    fn fill(&self) {
        let mut filler = File::create(self.disk.join("filler")).unwrap();
        for size in [1 << 16, 1 << 12, 1] {
            while filler.write_all(&vec![0; size]).is_ok() {}
        }
    }

    /// SQLite takes this process's road to a file, not the one through the other's world: it looks at
    /// a copy, of one instant.
    fn expect_whole(&self) {
        let copy = tempfile::tempdir().unwrap();
        self.process.freeze();
        for name in ["kurz.db", "kurz.db-wal"] {
            fs::copy(self.disk.join(name), copy.path().join(name)).unwrap();
        }
        self.process.thaw();
        expect_whole(&copy.path().join("kurz.db"));
    }

    fn free(&self) {
        fs::remove_file(self.disk.join("filler")).unwrap();
    }
}

/// What came of it.
#[derive(Debug)]
pub struct Figures {
    /// Creations that were refused while the disk was full.
    pub refused: u64,
    pub redirects: i64,
    /// From the return of the room to the first link that was made.
    pub healed_in: Vec<Duration>,
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} times full: {} creations refused with 507, {} redirects served and counted; healed by \
             itself within {:?} (aim: 5 s); the file is sound.",
            self.healed_in.len(),
            self.refused,
            self.redirects,
            self.healed_in.iter().max().copied().unwrap_or_default()
        )
    }
}

/// Fill and free the disk `rounds` times, and keep it full for `hold` each time.
pub async fn run(seed: u64, rounds: u64, hold: Duration) -> Figures {
    let server = tokio::task::block_in_place(SmallDisk::start);
    let http = server.process.http();
    let mut rng = Rng::new(seed);
    let (mut made, mut healed_in) = (Vec::new(), Vec::new());
    let (mut refused, mut redirects) = (0, 0);
    let create = async |number: u64, round: u64| -> (u16, Value) {
        // Long targets, so that a link takes room.
        let body = json!({
            "original_url": format!("https://example.com/{number}/{}", "x".repeat(2000)),
            "custom_code": format!("r{round}-{number}"),
        });
        let answer = http.post(&links::path("team"), &body).await;
        (answer.status, answer.json())
    };
    for round in 0..rounds {
        for number in 0..rng.between(20, 60) {
            let (status, link) = create(number, round).await;
            assert_eq!(status, 201, "{link}");
            made.push((link, 0_i64));
        }
        server.fill();
        let watch = Stopwatch::start();
        let mut full = false;
        while watch.elapsed() < hold || !full {
            // A page of the log may still have room; the disk has none.
            let number = 1_000 + refused;
            let (status, problem) = create(number, round).await;
            match status {
                507 => {
                    assert_eq!(problem["code"], "storage-full", "{problem}");
                    (full, refused) = (true, refused + 1);
                }
                201 => made.push((problem, 0)),
                other => panic!("{other} on a full disk: {problem}"),
            }
            // Links that are in memory, and links that are not.
            for _ in 0..5 {
                let at = rng.index(made.len());
                http.get(&links::short_path(&made[at].0)).await.expect(302);
                made[at].1 += 1;
                redirects += 1;
            }
            assert!(watch.elapsed() < PATIENCE, "the disk is never full");
        }
        server.free();
        let watch = Stopwatch::start();
        let mut number = 2_000_000;
        while create(number, round).await.0 != 201 {
            assert!(watch.elapsed() < PATIENCE, "it does not heal");
            number += 1;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        healed_in.push(watch.elapsed());
    }
    // So small a disk has no room for events: clicks are counted without them, and that is said.
    let ready = http.get("/readyz").await.expect(200).json();
    let said = ready["checks"]["events"].as_str().unwrap_or_default();
    assert!(said.contains("counted without details"), "{ready}");
    // Every link is there, and every redirect was counted in the end.
    for (link, count) in &made {
        http.get(&links::short_path(link)).await.expect(302);
        links::counted(&http, link, count + 1).await;
    }
    tokio::task::block_in_place(|| server.expect_whole());
    Figures { refused, redirects, healed_in }
}
