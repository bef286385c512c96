//! Authorisation: functions of the caller, their role and the owner of a link.
//!
//! Invariant: what a caller must not know to exist is [`Refused::Hidden`], which is answered like absence;
//! only members learn that a permission is missing.

use crate::account::{Caller, CallerKind, Credential, Identity, Role, Scope, UserId};
use crate::code::WorkspaceId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Read the workspace, its hosts and members.
    Look,
    ReadLinks,
    CreateLinks,
    ManageLinks,
    /// Settings, hosts and members; remove the workspace.
    Manage,
}

impl Act {
    /// The scope that a key needs.
    pub const fn scope(self) -> Scope {
        match self {
            Self::Look | Self::ReadLinks => Scope::Read,
            Self::CreateLinks => Scope::Create,
            Self::ManageLinks | Self::Manage => Scope::Manage,
        }
    }

    /// The lowest role that is allowed to.
    pub const fn role(self) -> Role {
        match self {
            Self::Look | Self::ReadLinks => Role::Viewer,
            Self::CreateLinks | Self::ManageLinks => Role::Member,
            Self::Manage => Role::Admin,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    All,
    Own(UserId),
    /// No existing link: only creating one without an owner.
    Nobodys,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    Unauthenticated,
    NotOwner,
    MissingScope(Scope),
    MissingRole(Role),
    /// A key is not enough: it needs a login.
    NeedsSignIn,
    /// The key is bound to another workspace, whether the one that was named exists or not.
    OtherWorkspace,
    /// The caller may not know that it exists.
    Hidden,
}

/// The workspace of an action, and the role of the caller there.
#[derive(Clone, Copy, Debug)]
pub struct WorkspaceRole<'a> {
    pub workspace: &'a WorkspaceId,
    /// Whether it is `main`, where every account has its own links.
    pub is_main: bool,
    pub role: Option<Role>,
}

/// Whether `caller` may do `act` in a workspace, and for which links.
pub fn in_workspace(
    caller: &Caller,
    place: &WorkspaceRole<'_>,
    act: Act,
) -> Result<Reach, Refused> {
    let identity = match &caller.who {
        CallerKind::Open => return Ok(Reach::All),
        CallerKind::Anonymous if place.is_main && act == Act::CreateLinks => {
            return Ok(Reach::Nobodys);
        }
        CallerKind::Anonymous => return Err(Refused::Unauthenticated),
        CallerKind::User(identity) => identity,
    };
    let elsewhere = identity.only_workspace.as_ref().is_some_and(|only| only != place.workspace);
    let stranger = !place.is_main && !identity.is_admin && place.role.is_none();
    // Before anything that depends on the workspace, so that the answer tells nothing about it.
    if elsewhere {
        return Err(Refused::OtherWorkspace);
    }
    if stranger {
        return Err(Refused::Hidden);
    }
    scope(identity, act.scope())?;
    if identity.is_admin {
        return Ok(Reach::All);
    }
    match place.role {
        Some(role) if role >= act.role() => Ok(Reach::All),
        // In `main` every account may manage its own links, whatever its role.
        _ if place.is_main && act != Act::Manage => Ok(Reach::Own(identity.id)),
        _ => Err(Refused::MissingRole(act.role())),
    }
}

/// Whether `reach` includes a link of `owner`.
pub fn to_link(reach: Reach, owner: Option<UserId>) -> Result<(), Refused> {
    match reach {
        Reach::All => Ok(()),
        Reach::Own(id) if owner == Some(id) => Ok(()),
        Reach::Own(_) | Reach::Nobodys => Err(Refused::NotOwner),
    }
}

/// The account of `caller`, whose credential must have the scope `needed`: for what belongs to an account
/// and not to a workspace.
pub fn to_account(caller: &Caller, needed: Scope) -> Result<&Identity, Refused> {
    let identity = caller.identity().ok_or(Refused::Unauthenticated)?;
    scope(identity, needed)?;
    Ok(identity)
}

/// The same for what concerns the whole account, which a key of one workspace may not touch.
pub fn to_whole_account(caller: &Caller, needed: Scope) -> Result<&Identity, Refused> {
    let identity = to_account(caller, needed)?;
    if identity.only_workspace.is_some() { Err(Refused::NeedsSignIn) } else { Ok(identity) }
}

/// The account of `caller`, who must have logged in: a key that could create keys or change the password
/// would have more rights than it was given.
pub fn signed_in(caller: &Caller) -> Result<&Identity, Refused> {
    let identity = caller.identity().ok_or(Refused::Unauthenticated)?;
    if identity.credential == Credential::Token { Ok(identity) } else { Err(Refused::NeedsSignIn) }
}

/// Whether `caller` may create a workspace. A key that is bound to one may not.
pub fn to_new_workspace(caller: &Caller) -> Result<(), Refused> {
    if caller.is_open() {
        return Ok(());
    }
    let identity = to_account(caller, Scope::Manage)?;
    if identity.only_workspace.is_some() { Err(Refused::OtherWorkspace) } else { Ok(()) }
}

fn scope(identity: &Identity, needed: Scope) -> Result<(), Refused> {
    if identity.scopes.has(needed) { Ok(()) } else { Err(Refused::MissingScope(needed)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{Email, KeyId, Scopes};

    const ACTS: [Act; 5] =
        [Act::Look, Act::ReadLinks, Act::CreateLinks, Act::ManageLinks, Act::Manage];

    fn user(change: impl FnOnce(&mut Identity)) -> Caller {
        let mut identity = Identity {
            id: UserId(1),
            email: Email::parse("ada@example.com").unwrap(),
            is_admin: false,
            scopes: Scopes::ALL,
            only_workspace: None,
            credential: Credential::Token,
        };
        change(&mut identity);
        Caller::user(identity)
    }

    fn ask(
        caller: &Caller,
        workspace: &str,
        role: Option<Role>,
        act: Act,
    ) -> Result<Reach, Refused> {
        let id = WorkspaceId::parse(workspace).unwrap();
        let place = WorkspaceRole { workspace: &id, is_main: workspace == "main", role };
        in_workspace(caller, &place, act)
    }

    #[test]
    fn an_open_server_lets_everybody_do_everything() {
        for act in ACTS {
            assert_eq!(ask(&Caller::OPEN, "main", None, act), Ok(Reach::All));
            assert_eq!(ask(&Caller::OPEN, "team", None, act), Ok(Reach::All));
        }
        assert_eq!(to_new_workspace(&Caller::OPEN), Ok(()));
    }

    #[test]
    fn without_a_credential_one_can_only_make_links_in_main() {
        for act in ACTS {
            let answer = ask(&Caller::ANONYMOUS, "main", None, act);
            if act == Act::CreateLinks {
                assert_eq!(answer, Ok(Reach::Nobodys));
            } else {
                assert_eq!(answer, Err(Refused::Unauthenticated));
            }
            let elsewhere = ask(&Caller::ANONYMOUS, "team", None, act);
            assert_eq!(elsewhere, Err(Refused::Unauthenticated));
        }
        assert_eq!(to_new_workspace(&Caller::ANONYMOUS), Err(Refused::Unauthenticated));
    }

    #[test]
    fn in_main_everybody_has_their_own_links() {
        let ada = user(|_| {});
        for act in [Act::Look, Act::ReadLinks, Act::CreateLinks, Act::ManageLinks] {
            assert_eq!(ask(&ada, "main", None, act), Ok(Reach::Own(UserId(1))));
        }
        let refused = Err(Refused::MissingRole(Role::Admin));
        assert_eq!(ask(&ada, "main", None, Act::Manage), refused);
        let reach = Reach::Own(UserId(1));
        assert_eq!(to_link(reach, Some(UserId(1))), Ok(()));
        assert_eq!(to_link(reach, Some(UserId(2))), Err(Refused::NotOwner));
        assert_eq!(to_link(reach, None), Err(Refused::NotOwner));
    }

    #[test]
    fn a_role_opens_what_it_says_and_strangers_see_nothing() {
        let ada = user(|_| {});
        for act in ACTS {
            assert_eq!(ask(&ada, "team", None, act), Err(Refused::Hidden));
            for role in [Role::Viewer, Role::Member, Role::Admin] {
                let answer = ask(&ada, "team", Some(role), act);
                if role >= act.role() {
                    assert_eq!(answer, Ok(Reach::All), "{role} {act:?}");
                } else {
                    assert_eq!(answer, Err(Refused::MissingRole(act.role())), "{role} {act:?}");
                }
            }
        }
    }

    #[test]
    fn an_administrator_of_the_server_may_do_everything() {
        let root = user(|identity| identity.is_admin = true);
        for act in ACTS {
            assert_eq!(ask(&root, "main", None, act), Ok(Reach::All));
            assert_eq!(ask(&root, "team", None, act), Ok(Reach::All));
        }
    }

    #[test]
    fn a_key_is_good_for_its_scopes_and_its_workspace_only_whoever_holds_it() {
        for is_admin in [false, true] {
            for scope in Scope::ALL {
                let key = user(|identity| {
                    identity.is_admin = is_admin;
                    identity.scopes = Scopes::from_iter([scope]);
                    identity.only_workspace = WorkspaceId::parse("team");
                    identity.credential = Credential::Key(KeyId(1));
                });
                for act in ACTS {
                    let here = ask(&key, "team", Some(Role::Admin), act);
                    if act.scope() == scope {
                        assert_eq!(here, Ok(Reach::All));
                    } else {
                        assert_eq!(here, Err(Refused::MissingScope(act.scope())));
                    }
                    assert_eq!(ask(&key, "main", None, act), Err(Refused::OtherWorkspace));
                    let other = ask(&key, "other", Some(Role::Admin), act);
                    assert_eq!(other, Err(Refused::OtherWorkspace));
                }
                assert_eq!(signed_in(&key), Err(Refused::NeedsSignIn));
                assert!(to_new_workspace(&key).is_err());
            }
        }
    }
}
