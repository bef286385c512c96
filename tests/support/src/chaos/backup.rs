//! A backup that is made under load, and restored as its help says. It holds every link that
//! was acknowledged before it began and not changed since, and the restored store is the backup, row
//! by row.

use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use futures_util::future::{join, join_all};
use kurz::clock::Stopwatch;
use sha2::{Digest, Sha256};
use tokio::task::block_in_place;

use super::creators::{Creator, Notes, found};
use super::history::State;
use super::kill::{expect_whole, program};
use crate::process::Program;
use crate::rng::Rng;

/// What came of it.
#[derive(Debug)]
pub struct Figures {
    pub links: u64,
    pub acknowledged: u64,
    /// Links that had to be in the backup, and were.
    pub compared: usize,
    pub backup: Duration,
    /// Copying it to its place and starting the server, until it answers.
    pub restore: Duration,
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "A backup of {} links under load ({} operations acknowledged) took {:?}; to restore it until it \
             answered {:?} (aim: 60 s). {} links that had to be in it were followed, and the checksums of \
             all rows are equal.",
            self.links, self.acknowledged, self.backup, self.restore, self.compared
        )
    }
}

/// A backup of the store in `folder`, which may hold links already, under load.
pub async fn run(seed: u64, folder: &Path, clients: u64) -> Figures {
    let (notes, rng) = (Notes::default(), Rng::new(seed));
    let server = block_in_place(|| program(folder).start());
    let http = server.http();
    let creators = (0..clients).map(|client| {
        let name = format!("c{client}");
        Creator::new(&notes, vec![http.clone()], rng.fork(client), name).until_stopped()
    });
    let file = folder.join("backup.db");
    let backing_up = async {
        while notes.write(|history| history.acknowledged) < 200 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let known = notes.write(|history| history.living());
        let watch = Stopwatch::start();
        let store = format!("sqlite://{}", folder.join("kurz.db").display());
        let name = file.to_str().unwrap().to_owned();
        let backup = tokio::task::spawn_blocking(move || {
            Program::kurz(&["backup", &name]).env("KURZ_STORE", &store).run("")
        });
        let output = backup.await.unwrap();
        assert!(output.status.success(), "{output:?}");
        let took = watch.elapsed();
        // Those that were not touched meanwhile: every target is given once.
        let still = notes.write(|history| history.living());
        let still: std::collections::HashSet<_> = still.into_iter().collect();
        let known: Vec<_> = known.into_iter().filter(|link| still.contains(link)).collect();
        notes.stop.store(true, SeqCst);
        (known, took)
    };
    let (_, (known, backup)) = join(join_all(creators), backing_up).await;
    notes.write(|history| history.expect_sound("backup", seed));
    block_in_place(|| server.kill_9());

    let watch = Stopwatch::start();
    let elsewhere = tempfile::tempdir_in(folder).unwrap();
    block_in_place(|| fs::copy(&file, elsewhere.path().join("kurz.db"))).unwrap();
    let restored = block_in_place(|| program(elsewhere.path()).start());
    let http = restored.http();
    http.get("/healthz").await.expect(200);
    let restore = watch.elapsed();
    for (key, target) in &known {
        let answer = http.get(&key.path()).await;
        assert_eq!(found(&answer), Some(State::Leads(target.clone())), "seed {seed}: {key:?}");
    }
    let (status, log) = block_in_place(|| restored.terminate());
    assert!(status.success(), "{log}");
    let (ours, links) = block_in_place(|| checksum(&file));
    let (theirs, _) = block_in_place(|| checksum(&elsewhere.path().join("kurz.db")));
    assert_eq!(ours, theirs, "the restored store differs from the backup");
    block_in_place(|| expect_whole(&elsewhere.path().join("kurz.db")));
    let acknowledged = notes.write(|history| history.acknowledged);
    Figures { links, acknowledged, compared: known.len(), backup, restore }
}

/// Of all links with all that was ever said about them, in the order of their numbers; and how many.
fn checksum(file: &Path) -> (Vec<u8>, u64) {
    let db = rusqlite::Connection::open(file).unwrap();
    let sql = "select id, workspace, code, strategy, target, canonical_hash, title, tags,
        redirect_status, hit_limit, created_at, updated_at, expires_at, deleted_at, purged_at,
        main_since, version, owner_id, claim_hash, expired_at, row_checksum from links order by id";
    let mut statement = db.prepare(sql).unwrap();
    let columns = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    let (mut hash, mut links) = (Sha256::new(), 0);
    while let Some(row) = rows.next().unwrap() {
        links += 1;
        for column in 0..columns {
            hash.update(format!("{:?}\n", row.get_ref(column).unwrap()));
        }
    }
    (hash.finalize().to_vec(), links)
}
