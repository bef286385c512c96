//! The only source of randomness. Other modules take an [`Entropy`] as a parameter, so that a test can
//! supply the bytes.

use std::fmt;
use std::sync::Arc;

type Fill = dyn Fn(&mut [u8]) + Send + Sync;

/// A source of random bytes, cheap to clone and shared between threads.
#[derive(Clone)]
pub struct Entropy(Arc<Fill>);

impl Entropy {
    /// The operating system's generator, suitable for secrets.
    pub fn os() -> Self {
        Self::from_fn(|bytes| {
            #[expect(clippy::disallowed_methods, reason = "the only module that draws randomness")]
            getrandom::fill(bytes).expect("the operating system has a random generator");
        })
    }

    /// Bytes from `fill`, which must write the whole slice.
    pub fn from_fn(fill: impl Fn(&mut [u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(fill))
    }

    /// Overwrite `bytes` with random bytes.
    pub fn fill(&self, bytes: &mut [u8]) {
        (self.0)(bytes);
    }
}

impl fmt::Debug for Entropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Entropy")
    }
}
