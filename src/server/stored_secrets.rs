//! Secrets that a setting gives or that the store keeps: drawn at the first start, the same for every
//! instance on the store.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use xxhash_rust::xxh64::xxh64;

use super::run::StartError;
use crate::clock::Clock;
use crate::config::{Access, Codes};
use crate::entropy::Entropy;
use crate::store::Store;
use kurz_core::account::token::Tokens;
use kurz_core::code::counter::{Scrambler, salt_fingerprint};

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

    /// The seed of the hashes of user agents, which visitors are recognised by: the same on every instance.
    pub(super) async fn visitor_seed(&self) -> Result<u64, StartError> {
        Ok(xxh64(self.read_or_draw::<16>("visitor_seed").await?.as_bytes(), 0))
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
        self.note_salt(&salt).await?;
        let Codes { counter_scramble: scramble, counter_mult: mult, code_length, .. } = codes;
        let scrambler = Scrambler::new(*scramble, &salt, (*mult).into(), *code_length);
        scrambler.map_err(|error| {
            StartError::Setting(format!(
                "counter codes cannot be made (KURZ_COUNTER_SALT, KURZ_COUNTER_MULT): {error}"
            ))
        })
    }

    /// Keep a fingerprint of the salt, and warn when it is not that of the last start.
    async fn note_salt(&self, salt: &str) -> Result<(), StartError> {
        let fingerprint = salt_fingerprint(salt);
        let last = match self.store.find_secret("counter_salt_fingerprint").await? {
            Some(last) => Some(last),
            // A store from before fingerprints, or a new one: the salt that it generated.
            None => self.store.find_secret("counter_salt").await?.as_deref().map(salt_fingerprint),
        };
        if last.is_some_and(|last| last != fingerprint) {
            tracing::warn!(
                "the counter salt is not the one of the last start: new counter codes can meet \
                 older ones, which are skipped; unless you changed it on purpose, set \
                 KURZ_COUNTER_SALT to what it was, and to the same on every instance"
            );
        }
        let name = "counter_salt_fingerprint";
        Ok(self.store.replace_secret(name, &fingerprint, self.clock.now()).await?)
    }

    /// The secret `name` of the store; where there is none, `N` random bytes become it.
    async fn read_or_draw<const N: usize>(&self, name: &'static str) -> Result<String, StartError> {
        let mut bytes = [0; N];
        self.entropy.fill(&mut bytes);
        let fresh = URL_SAFE_NO_PAD.encode(bytes);
        Ok(self.store.secret_or_keep(name, &fresh, self.clock.now()).await?)
    }
}
