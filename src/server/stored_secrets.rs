//! Secrets that a setting gives or that the store keeps: drawn at the first start, the same for every
//! instance on the store.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::run::StartError;
use crate::clock::Clock;
use crate::config::{Access, Codes};
use crate::entropy::Entropy;
use crate::store::Store;
use kurz_core::account::token::Tokens;
use kurz_core::code::counter::{LENGTH, Scrambler};

#[derive(Debug)]
pub(super) struct StoredSecrets<'a> {
    pub(super) store: &'a Store,
    pub(super) clock: &'a Clock,
    pub(super) entropy: &'a Entropy,
}

impl StoredSecrets<'_> {
    /// The prefix of this store's channels and keys on a Redis that others may use as well.
    pub(super) async fn channel_name(&self) -> Result<String, StartError> {
        self.read_or_draw::<9>("fleet").await
    }

    pub(super) async fn tokens(&self, access: &Access) -> Result<Tokens, StartError> {
        if let Some(secret) = &access.jwt_secret {
            return Ok(Tokens::new(secret.expose()));
        }
        Ok(Tokens::new(&self.read_or_draw::<48>("jwt_secret").await?))
    }

    pub(super) async fn scrambler(&self, codes: &Codes) -> Result<Scrambler, StartError> {
        let salt = match &codes.counter_salt {
            Some(salt) => salt.expose().to_owned(),
            None => self.read_or_draw::<16>("counter_salt").await?,
        };
        let scrambler =
            Scrambler::new(codes.counter_scramble, &salt, codes.counter_mult.into(), LENGTH);
        scrambler.map_err(|error| {
            StartError::Setting(format!(
                "counter codes cannot be made (KURZ_COUNTER_SALT, KURZ_COUNTER_MULT): {error}"
            ))
        })
    }

    /// The secret `name` of the store; where there is none, `N` random bytes become it.
    async fn read_or_draw<const N: usize>(&self, name: &'static str) -> Result<String, StartError> {
        let mut bytes = [0; N];
        self.entropy.fill(&mut bytes);
        let fresh = URL_SAFE_NO_PAD.encode(bytes);
        Ok(self.store.secret_or_keep(name, &fresh, self.clock.now()).await?)
    }
}
