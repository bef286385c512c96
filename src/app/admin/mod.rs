//! What only administrators of the server may see and do. To everybody else it does not exist.

pub(crate) mod audit;
mod instances;
pub(crate) mod reports;
pub(crate) mod status;
mod users;

use crate::app::{App, AppError, Resource};
use kurz_core::account::{Caller, Scope, access};

impl App {
    /// Refuse a caller who is not an administrator, as if there were nothing here.
    pub(crate) fn require_admin(caller: &Caller) -> Result<(), AppError> {
        if caller.is_open() {
            return Ok(());
        }
        let identity = access::to_whole_account(caller, Scope::Manage)?;
        if identity.is_admin { Ok(()) } else { Err(AppError::NotFound(Resource::Page)) }
    }
}
