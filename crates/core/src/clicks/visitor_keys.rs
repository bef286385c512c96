//! The keys under which visitors are hashed. A period (a day, a week, a month) has a key of its own,
//! which is destroyed after it: from then on nobody can tell whose a hash was.

use std::fmt;

use siphasher::sip::SipHasher13;

use crate::time::Timestamp;

/// The key of a period, the same on all instances.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PeriodKey {
    from: Timestamp,
    /// The first moment after the period.
    to: Timestamp,
    key: [u64; 2],
}

impl PeriodKey {
    /// The key from `from` up to, not including, `to`.
    pub fn new(from: Timestamp, to: Timestamp, key: [u8; 16]) -> Self {
        let key = u128::from_le_bytes(key);
        let half = |bits: u128| u64::try_from(bits & u128::from(u64::MAX)).unwrap_or_default();
        Self { from, to, key: [half(key), half(key >> 64)] }
    }

    #[inline]
    fn hash(&self, address: u128, agent: u64) -> u64 {
        let [first, second] = self.key;
        let mut bytes = [0; 24];
        let (of_address, of_agent) = bytes.split_at_mut(16);
        of_address.copy_from_slice(&address.to_le_bytes());
        of_agent.copy_from_slice(&agent.to_le_bytes());
        SipHasher13::new_with_keys(first, second).hash(&bytes)
    }
}

/// A key is a secret.
impl fmt::Debug for PeriodKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (&self.from, &self.to);
        f.debug_struct("PeriodKey").field("from", from).field("to", to).finish_non_exhaustive()
    }
}

/// The keys of the running period and of the one after it, which is made ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VisitorKeys {
    pub current: Option<PeriodKey>,
    pub next: Option<PeriodKey>,
}

impl VisitorKeys {
    /// The hash of a visitor with this address (an IPv4 address as mapped into IPv6) and this hash of the
    /// user agent, in the period of `at`. 0 where there is no key of that period: an older one would make
    /// visitors known across periods.
    #[inline]
    pub fn person(&self, at: Timestamp, address: u128, agent: u64) -> u64 {
        let running = |key: &&PeriodKey| at < key.to;
        // A time before both periods is that of a clock that was set back.
        let key = self.current.as_ref().filter(running);
        let Some(key) = key.or_else(|| self.next.as_ref().filter(running)) else { return 0 };
        key.hash(address, agent).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: u128 = 0xFFFF_C000_0201;

    fn key(from: i64, to: i64, byte: u8) -> PeriodKey {
        PeriodKey::new(Timestamp::from_ms(from), Timestamp::from_ms(to), [byte; 16])
    }

    fn keys(current: PeriodKey, next: Option<PeriodKey>) -> VisitorKeys {
        VisitorKeys { current: Some(current), next }
    }

    #[test]
    fn a_visitor_is_known_within_a_period_and_not_across() {
        let keys = keys(key(100, 200, 1), Some(key(200, 300, 2)));
        let person = |keys: &VisitorKeys, at| keys.person(Timestamp::from_ms(at), HOME, 5);
        let first = person(&keys, 100);
        assert!(first != 0);
        assert_eq!(person(&keys, 199), first);
        let second = person(&keys, 200);
        assert!(second != 0 && second != first);
        assert_eq!(person(&keys, 299), second);
        assert_eq!(person(&keys, 300), 0, "no key of that period");
        assert_eq!(person(&keys, 50), first, "the clock was set back");
        let later = VisitorKeys { current: keys.next, next: None };
        assert_eq!(person(&later, 250), second);
        assert_eq!(person(&VisitorKeys::default(), 150), 0, "before the first key");
    }

    #[test]
    fn address_agent_and_key_all_matter_and_no_key_is_printed() {
        let known_keys = keys(key(0, 9, 0xAB), None);
        let at = Timestamp::from_ms(1);
        let known = known_keys.person(at, HOME, 5);
        assert_ne!(known_keys.person(at, HOME + 1, 5), known);
        assert_ne!(known_keys.person(at, HOME, 6), known);
        let other = keys(key(0, 9, 0xAC), None);
        assert_ne!(other.person(at, HOME, 5), known);
        let text = format!("{known_keys:?}");
        assert!(!text.contains("abab") && !text.contains("171"), "{text}");
        assert!(!text.contains(&0xABAB_ABAB_ABAB_ABAB_u64.to_string()), "{text}");
    }

    #[test]
    fn the_hash_is_siphash_1_3_of_address_and_agent() {
        let key = PeriodKey::new(Timestamp::from_ms(0), Timestamp::from_ms(1), [0; 16]);
        let mut hasher = std::hash::DefaultHasher::new();
        // The standard library's is SipHash-1-3 with a key of zeroes.
        std::hash::Hasher::write(&mut hasher, &HOME.to_le_bytes());
        std::hash::Hasher::write(&mut hasher, &5_u64.to_le_bytes());
        assert_eq!(key.hash(HOME, 5), std::hash::Hasher::finish(&hasher));
    }
}
