//! Password hashing on threads of its own: it takes a third of a second, which no thread that serves
//! requests may spend. The queue is bounded; when it is full, the caller gets an error at once.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tokio::sync::oneshot;

use crate::app::AppError;
use kurz_core::account::password::Password;
use kurz_core::plan::LinkPassword;

/// What is stored begins with `$2b$12$`.
pub const COST: u32 = 12;
/// Of passwords of links, which many visitors send.
const LINK_COST: u32 = 10;
/// Most passwords that wait, unless somebody says otherwise.
pub const QUEUE: usize = 64;
/// The salt and hash of no password in particular: what an unknown user's password is compared
/// with, so that the answer takes as long as for a known one.
const NOBODYS: &str = "CwTycUXWue0Thq9StjUM0uJ8Qgk8oXBIBk0b3ZJdQmY3v4qQ1n3dW";

pub struct Passwords {
    jobs: SyncSender<PasswordJob>,
    nobodys: String,
}

enum PasswordJob {
    Hash(Password, oneshot::Sender<Option<String>>),
    HashLink(LinkPassword, oneshot::Sender<Option<String>>),
    Compare(Password, String, oneshot::Sender<bool>),
    CompareLink(LinkPassword, String, oneshot::Sender<bool>),
}

impl Passwords {
    /// Start `threads` threads, for which at most `waiting` passwords wait. `cost` is [`COST`], except
    /// in tests, which have no time.
    pub fn start(threads: NonZeroUsize, waiting: usize, cost: u32) -> std::io::Result<Self> {
        let (jobs, queue) = sync_channel(waiting);
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..threads.get() {
            let queue = Arc::clone(&queue);
            // They end when the last sender is gone.
            thread::Builder::new()
                .name("kurz-passwords".to_owned())
                .spawn(move || work(&queue, cost))?;
        }
        Ok(Self { jobs, nobodys: format!("$2b${cost:02}${NOBODYS}") })
    }

    pub async fn hash(&self, password: Password) -> Result<String, AppError> {
        let (answer, hashed) = oneshot::channel();
        self.send(PasswordJob::Hash(password, answer))?;
        hashed.await.ok().flatten().ok_or(AppError::Busy)
    }

    /// The hash of a password of a link.
    pub async fn hash_link(&self, password: &LinkPassword) -> Result<String, AppError> {
        let (answer, hashed) = oneshot::channel();
        self.send(PasswordJob::HashLink(password.clone(), answer))?;
        hashed.await.ok().flatten().ok_or(AppError::Busy)
    }

    /// Whether `hash` is that of `password`. Without a hash it is not, which takes as long.
    pub async fn matches(&self, password: Password, hash: Option<&str>) -> Result<bool, AppError> {
        let (answer, compared) = oneshot::channel();
        let against = hash.unwrap_or(&self.nobodys).to_owned();
        self.send(PasswordJob::Compare(password, against, answer))?;
        let matches = compared.await.map_err(|_| AppError::Busy)?;
        Ok(matches && hash.is_some())
    }

    /// Whether `hash` is that of the password of a link.
    pub async fn matches_link(
        &self,
        password: &LinkPassword,
        hash: String,
    ) -> Result<bool, AppError> {
        let (answer, compared) = oneshot::channel();
        self.send(PasswordJob::CompareLink(password.clone(), hash, answer))?;
        compared.await.map_err(|_| AppError::Busy)
    }

    fn send(&self, job: PasswordJob) -> Result<(), AppError> {
        self.jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) | TrySendError::Disconnected(_) => AppError::Busy,
        })
    }
}

impl fmt::Debug for Passwords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passwords")
    }
}

fn work(queue: &Mutex<Receiver<PasswordJob>>, cost: u32) {
    give_way();
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        // The request may have been cancelled; then nobody receives the answer.
        match job {
            Ok(PasswordJob::Hash(_, answer) | PasswordJob::HashLink(_, answer))
                if answer.is_closed() => {}
            Ok(PasswordJob::Compare(_, _, answer) | PasswordJob::CompareLink(_, _, answer))
                if answer.is_closed() => {}
            Ok(PasswordJob::Hash(password, answer)) => {
                let hash = bcrypt::non_truncating_hash(&*password.bcrypt_input(), cost);
                let _ = answer.send(hash.ok());
            }
            Ok(PasswordJob::HashLink(password, answer)) => {
                let cost = cost.min(LINK_COST);
                let hash = bcrypt::non_truncating_hash(password.as_str(), cost);
                let _ = answer.send(hash.ok());
            }
            Ok(PasswordJob::Compare(password, hash, answer)) => {
                // A damaged hash is nobody's password.
                let same = bcrypt::non_truncating_verify(&*password.bcrypt_input(), &hash);
                let _ = answer.send(same.unwrap_or(false));
            }
            Ok(PasswordJob::CompareLink(password, hash, answer)) => {
                let same = bcrypt::non_truncating_verify(password.as_str(), &hash);
                let _ = answer.send(same.unwrap_or(false));
            }
            Err(_) => return,
        }
    }
}

/// Let threads that serve requests go first: who waits for a password can wait a little longer, who
/// follows a link cannot. On Linux this is about the calling thread alone.
fn give_way() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(10);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quick() -> Passwords {
        Passwords::start(NonZeroUsize::MIN, QUEUE, 4).unwrap()
    }

    fn password(text: &str) -> Password {
        Password::parse(text).unwrap()
    }

    #[tokio::test]
    async fn a_password_matches_its_hash_and_no_other_does() {
        let passwords = quick();
        let hash = passwords.hash(password("correct horse")).await.unwrap();
        assert!(hash.starts_with("$2b$04$"), "{hash}");
        assert!(passwords.matches(password("correct horse"), Some(&hash)).await.unwrap());
        assert!(!passwords.matches(password("correct horsf"), Some(&hash)).await.unwrap());
        assert!(!passwords.matches(password("correct horse"), None).await.unwrap());
        let long = "x".repeat(71);
        let hash = passwords.hash(password(&long)).await.unwrap();
        assert!(!passwords.matches(password(&long[..70]), Some(&hash)).await.unwrap());
    }

    // threats: C17
    #[tokio::test]
    async fn a_damaged_hash_is_nobodys_password() {
        let passwords = quick();
        for hash in ["", "x", "$2b$04$", "$2b$99$abc", "ä$2b$12$", "\u{1f512}".repeat(15).as_str()]
        {
            assert!(!passwords.matches(password("correct horse"), Some(hash)).await.unwrap());
        }
    }

    // threats: C9
    #[tokio::test]
    async fn an_unknown_user_takes_the_work_of_a_wrong_password() {
        let passwords = Passwords::start(NonZeroUsize::MIN, QUEUE, 5).unwrap();
        let hash = passwords.hash(password("correct horse")).await.unwrap();
        let cost = |hash: &str| hash.parse::<bcrypt::HashParts>().unwrap().get_cost();
        assert_eq!((cost(&passwords.nobodys), cost(&hash)), (5, 5));
        // It is compared to the end, not refused for its form.
        let compared = bcrypt::non_truncating_verify("correct horse", &passwords.nobodys);
        assert_eq!(compared.ok(), Some(false));
        assert!(!passwords.matches(password("correct horse"), None).await.unwrap());
    }

    // threats: C11
    #[tokio::test]
    async fn a_full_queue_is_said_at_once() {
        let passwords = Passwords::start(NonZeroUsize::MIN, QUEUE, 6).unwrap();
        let tries = (0..QUEUE * 4).map(|_| passwords.hash(password("12345678")));
        let done = futures_util::future::join_all(tries).await;
        assert!(done.iter().any(|one| matches!(one, Err(AppError::Busy))));
        assert!(done.iter().filter(|one| one.is_ok()).count() >= QUEUE);
    }
}
