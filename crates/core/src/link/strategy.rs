//! How the code of a link is made.

use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// From the canonical URL and the workspace: same input, same code.
    Deterministic,
    Counter,
    /// From the operating system's random generator.
    Random,
    Custom,
}

impl Strategy {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 4] = [Self::Deterministic, Self::Counter, Self::Random, Self::Custom];

    /// The name in the API and in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deterministic => "deterministic",
            Self::Counter => "counter",
            Self::Random => "random",
            Self::Custom => "custom",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Strategy {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|one| one.as_str() == text).ok_or(())
    }
}
