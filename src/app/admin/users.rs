//! The users of the server: list them, disable and enable them.

use crate::app::page::page_size;
use crate::app::{Actor, App, AppError, Page, Resource};
use crate::store::User;
use kurz_core::account::{Caller, Email};

impl App {
    /// A page of users whose address comes after `after`.
    pub async fn list_users(&self, caller: &Caller, after: &str) -> Result<Page<User>, AppError> {
        Self::require_admin(caller)?;
        let after = if after.contains('\0') { "" } else { after };
        let size = page_size(None)?;
        let users = self.parts.store.list_users(after, size + 1).await?;
        Ok(Page::cut(users, size, |last| last.email.to_string()))
    }

    /// Let somebody sign in or not, and with `with_links` let their links redirect or not.
    /// Administrators stay: the command line can do that.
    pub async fn set_user_disabled(
        &self,
        caller: &Caller,
        email: &str,
        disabled: bool,
        with_links: bool,
    ) -> Result<(), AppError> {
        Self::require_admin(caller)?;
        let email = Email::parse(email).map_err(|_| AppError::NotFound(Resource::User))?;
        let user = self.accounts.find(&email).await?;
        if user.admin_at.is_some() {
            return Err(AppError::NotFound(Resource::User));
        }
        self.accounts.set_disabled(&email, disabled, &Actor::of(caller)).await?;
        self.credentials.invalidate_user(&email);
        if with_links {
            self.set_links_disabled(caller, user.id, disabled).await?;
        }
        Ok(())
    }
}
