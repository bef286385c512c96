//! The `Date` header, formatted once per second.

use std::sync::{Mutex, PoisonError};

use kurz_core::time::Timestamp;

/// The date that was asked for last. Each worker has its own, so that its lock is always free.
#[derive(Debug, Default)]
pub struct Date(Mutex<Option<(i64, String)>>);

impl Date {
    /// Use the date at `now`.
    pub(super) fn with<T>(&self, now: Timestamp, use_it: impl FnOnce(&str) -> T) -> T {
        // The value is replaced as a whole.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let second = now.as_ms().div_euclid(1000);
        match &*known {
            Some((at, date)) if *at == second => use_it(date),
            _ => use_it(&known.insert((second, now.to_http_date())).1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_that_of_the_second() {
        let date = Date::default();
        let at = |ms| date.with(Timestamp::from_ms(ms), str::to_owned);
        assert_eq!(at(784_111_777_000), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(at(784_111_777_999), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(at(784_111_778_000), "Sun, 06 Nov 1994 08:49:38 GMT");
        assert_eq!(at(784_111_776_000), "Sun, 06 Nov 1994 08:49:36 GMT");
    }
}
