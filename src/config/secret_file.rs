//! Secrets from files: `KURZ_JWT_SECRET_FILE=/run/secrets/jwt` instead of `KURZ_JWT_SECRET=…`, which every
//! process of the same user can read. The end of the last line does not count.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::error::ConfigError;

/// After the name of a setting that may hold a secret.
pub(super) const SUFFIX: &str = "_FILE";

/// No secret is as long as this.
const MAX_BYTES: u64 = 64 << 10;

/// The secret in the file that `setting` names.
pub(super) fn read(setting: &str, path: &str) -> Result<String, ConfigError> {
    let unreadable = |reason: String| {
        let (setting, path) = (setting.to_owned(), path.into());
        ConfigError::SecretUnreadable { setting, path, reason }
    };
    let file = File::open(Path::new(path)).map_err(|error| unreadable(error.to_string()))?;
    let mut text = String::new();
    file.take(MAX_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| unreadable(error.to_string()))?;
    if u64::try_from(text.len()).is_ok_and(|length| length > MAX_BYTES) {
        return Err(unreadable("it is larger than 64 KiB".to_owned()));
    }
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
