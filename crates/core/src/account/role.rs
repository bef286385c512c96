//! Roles in a workspace, each with all permissions of the one before it.

use std::fmt;
use std::str::FromStr;

/// What a member may do in a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    Viewer,
    /// Also create, change and delete links.
    Member,
    /// Also manage settings, hosts and members.
    Admin,
}

impl Role {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Member => "member",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let roles = [Self::Viewer, Self::Member, Self::Admin];
        roles.into_iter().find(|role| role.as_str() == text).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_ordered_and_named() {
        assert!(Role::Viewer < Role::Member && Role::Member < Role::Admin);
        for role in [Role::Viewer, Role::Member, Role::Admin] {
            assert_eq!(role.as_str().parse(), Ok(role));
        }
        assert_eq!("Admin".parse::<Role>(), Err(()));
    }
}
