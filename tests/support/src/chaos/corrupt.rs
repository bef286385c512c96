//! A store that was damaged while nobody served it: a byte turned over, the end cut off, the
//! write-ahead log gone. It is noticed, or it does no harm; no visitor is ever sent elsewhere.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::history::{Key, State};
use super::kill::program;
use crate::http::Http;
use crate::process::Program;
use crate::rng::Rng;

const LINKS: usize = 300;

/// A store as a kill left it, and what its links are.
struct Sample {
    folder: tempfile::TempDir,
    links: Vec<(Key, State)>,
}

const FILES: [&str; 3] = ["kurz.db", "kurz.db-wal", "kurz.db.lock"];

impl Sample {
    /// Half of the links are in the file, the others in its log alone.
    async fn make() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = program(folder.path());
        let mut links = Vec::new();
        let server = tokio::task::block_in_place(|| program.start());
        write_links(&server.http(), 0, &mut links).await;
        // In order: everything is moved into the file, and no log is asked for at the next start.
        let (status, log) = tokio::task::block_in_place(|| server.terminate());
        assert!(status.success(), "{log}");
        for name in ["kurz.db-wal", "kurz.db.lock"] {
            let left = folder.path().join(name).metadata().unwrap().len();
            assert_eq!(left, 0, "{name}");
        }
        let server = tokio::task::block_in_place(|| program.start());
        write_links(&server.http(), LINKS / 2, &mut links).await;
        tokio::task::block_in_place(|| server.kill_9());
        Self { folder, links }
    }

    /// The sample again, to be damaged.
    fn copy(&self) -> tempfile::TempDir {
        let copy = tempfile::tempdir().unwrap();
        for name in FILES {
            fs::copy(self.folder.path().join(name), copy.path().join(name)).unwrap();
        }
        copy
    }
}

/// Make some links, edit and delete some of them, and let the plans of others decide.
async fn write_links(http: &Http, from: usize, links: &mut Vec<(Key, State)>) {
    for number in from..from + LINKS / 2 {
        let code = format!("code-{number}");
        // What comes after the # is in no other column.
        let url = |word: &str| format!("https://example.com/red/{number}#{word}-{number:032}");
        let key = Key::new("red", &code);
        let body = json!({ "original_url": url("first"), "custom_code": code });
        http.post("/api/v1/workspaces/red/links", &body).await.expect(201);
        let state = match number % 10 {
            0 => {
                http.delete(&key.api()).await.expect(200);
                State::Missing
            }
            1 => {
                let body = json!({ "original_url": url("second") });
                http.patch(&key.api(), &body).await.expect(200);
                State::Leads(url("second"))
            }
            2..=4 => {
                let rule = json!({ "name": "all", "when": {}, "to": url("ruled") });
                http.patch(&key.api(), &json!({ "rules": [rule] })).await.expect(200);
                State::Leads(url("ruled"))
            }
            _ => State::Leads(url("first")),
        };
        links.push((key, state));
    }
    // One more, so that none of those above is in the last transaction: damage to that one cannot be
    // told from an end that a power cut tore off.
    let body = json!({ "original_url": "https://example.com/red/last", "custom_code": format!("last-{from}") });
    http.post("/api/v1/workspaces/red/links", &body).await.expect(201);
}

/// What is done to the files.
fn damage(folder: &Path, rng: &mut Rng) -> String {
    let file = |name: &str| folder.join(name);
    let turn_over = |path: PathBuf, bytes: std::ops::Range<u64>, rng: &mut Rng| {
        let mut content = fs::read(&path).unwrap();
        let at = usize::try_from(rng.between(bytes.start, bytes.end - 1)).unwrap();
        let bit = rng.below(8);
        content[at] ^= 1 << bit;
        fs::write(&path, content).unwrap();
        format!("bit {bit} of byte {at} of {} turned over", path.display())
    };
    let size = |name: &str| file(name).metadata().unwrap().len();
    match rng.below(10) {
        0 => {
            let length = rng.below(size("kurz.db"));
            fs::File::options().write(true).open(file("kurz.db")).unwrap().set_len(length).unwrap();
            format!("the file was cut to {length} bytes")
        }
        1 => {
            fs::remove_file(file("kurz.db-wal")).unwrap();
            "the log was removed".to_owned()
        }
        2..=3 => {
            // Not in its last transaction, see above.
            let safe = size("kurz.db-wal").saturating_sub(30 * 4120).max(4096);
            turn_over(file("kurz.db-wal"), 0..safe, rng)
        }
        _ => turn_over(file("kurz.db"), 0..size("kurz.db"), rng),
    }
}

/// How it went, over all trials.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// The server did not start, and said why.
    pub refused: u64,
    /// It served, and said of some links that it cannot.
    pub noticed: u64,
    /// It served, and some links were missing, which `kurz doctor` found.
    pub examined: u64,
    /// Everything was as before.
    pub harmless: u64,
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { refused, noticed, examined, harmless } = self;
        write!(
            f,
            "{} damages: {refused} starts refused, {noticed} noticed when a link was read, {examined} found \
             by kurz doctor, {harmless} without harm; no visitor was sent elsewhere.",
            refused + noticed + examined + harmless
        )
    }
}

/// Damage a store `trials` times. Half of them start without a look at every page, as a large store
/// does.
pub async fn run(seed: u64, trials: u64) -> Figures {
    let sample = Sample::make().await;
    let rng = Rng::new(seed);
    let mut figures = Figures::default();
    for trial in 0..trials {
        let mut rng = rng.fork(trial);
        let copy = sample.copy();
        let what = damage(copy.path(), &mut rng);
        let checked = if trial % 2 == 0 { "64MiB" } else { "0" };
        let server = program(copy.path()).env("KURZ_CHECK_BYTES", checked);
        let what = format!("seed {seed}, trial {trial}, checked up to {checked}: {what}");
        match tokio::task::block_in_place(|| server.try_start()) {
            Err((status, said)) => {
                assert_eq!(status.code(), Some(1), "{what}: {said}");
                assert!(said.contains("error: "), "{what}: {said}");
                figures.refused += 1;
            }
            Ok(process) => {
                let http = process.http();
                let (missing, noticed) = look(&http, &sample.links, &what).await;
                tokio::task::block_in_place(|| process.kill_9());
                if missing > 0 {
                    let found = tokio::task::block_in_place(|| doctor(copy.path()));
                    assert!(found, "{what}: {missing} links are missing, and nobody knows");
                    figures.examined += 1;
                } else if noticed > 0 {
                    figures.noticed += 1;
                } else {
                    figures.harmless += 1;
                }
            }
        }
    }
    figures
}

/// Follow every link: how many are missing, and how many were said to be out of reach. One that leads
/// elsewhere, or is back from the dead, ends the scenario.
async fn look(http: &Http, links: &[(Key, State)], what: &str) -> (u64, u64) {
    let (mut missing, mut noticed) = (0, 0);
    for (key, state) in links {
        let answer = http.get(&key.path()).await;
        match (answer.status, state) {
            (302, State::Leads(target)) => {
                assert_eq!(answer.header("location"), Some(target.as_str()), "{what}");
            }
            (302, State::Missing) => panic!("{what}: {} is back from the dead", key.path()),
            (404, State::Missing) => {}
            (404, State::Leads(_)) => missing += 1,
            (500..=599 | 410, _) => noticed += 1,
            (other, _) => panic!("{what}: {} answers {other}", key.path()),
        }
    }
    (missing, noticed)
}

/// Whether `kurz doctor` finds something.
pub fn doctor(folder: &Path) -> bool {
    let store = format!("sqlite://{}", folder.join("kurz.db").display());
    let output = Program::kurz(&["doctor"]).env("KURZ_STORE", &store).run("");
    output.status.code() == Some(1)
        && String::from_utf8_lossy(&output.stdout).contains("problem  store")
}
