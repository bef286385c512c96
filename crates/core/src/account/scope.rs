//! The scopes of an API key: read, create, manage.

use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    Read,
    Create,
    Manage,
}

impl Scope {
    /// All of them, in the order they are written in.
    pub const ALL: [Self; 3] = [Self::Read, Self::Create, Self::Manage];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Create => "create",
            Self::Manage => "manage",
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Read => 1,
            Self::Create => 2,
            Self::Manage => 4,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or(())
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scopes(u8);

impl Scopes {
    /// Every scope, as after a login.
    pub const ALL: Self = Self(7);

    /// Whether it holds `scope`.
    pub const fn has(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.has(*scope))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | scope.bit()))
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Scope::as_str).collect();
        f.write_str(&names.join(" "))
    }
}

impl FromStr for Scopes {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        text.split_whitespace().map(str::parse).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_a_set_with_one_spelling() {
        let scopes: Scopes = "manage read read".parse().unwrap();
        assert_eq!(scopes.to_string(), "read manage");
        assert!(scopes.has(Scope::Read) && !scopes.has(Scope::Create));
        assert_eq!("read create manage".parse(), Ok(Scopes::ALL));
        assert_eq!("read write".parse::<Scopes>(), Err(()));
        assert!("".parse::<Scopes>().unwrap().is_empty());
    }
}
