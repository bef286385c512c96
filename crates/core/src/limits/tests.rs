//! Tests of the limits together: which clients share a limit, what resets it, and that concurrent threads get
//! no more than one thread.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use super::*;

const NUMBERS: LimitSettings = LimitSettings {
    logins_per_account: 5,
    logins_per_address: 20,
    signups: 20,
    anonymous_links: 10,
    anonymous_links_daily: 100,
    misses: 30,
    bad_credentials: 60,
    reports: 10,
    links: 6_000,
    calls_per_account: 6_000,
    calls_per_key: 3_000,
};

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// So many seconds after a fixed time.
fn at(seconds: u64) -> Duration {
    Duration::from_secs(3_600_000 + seconds)
}

/// How many of `tries` are allowed.
fn allowed(tries: usize, mut one: impl FnMut() -> Result<(), Limited>) -> usize {
    (0..tries).filter(|_| one().is_ok()).count()
}

// threats: C10
#[test]
fn logins_are_limited_by_account_and_address_and_by_address() {
    let limits = Limits::new(&NUMBERS);
    let (here, there) = (ip("192.0.2.1"), ip("192.0.2.2"));
    assert_eq!(allowed(50, || limits.sign_in("ada", here, at(0))), 5);
    // Another address is not affected: the owner of the account is not locked out.
    assert_eq!(allowed(1, || limits.sign_in("ada", there, at(0))), 1);
    // Other accounts from here: fifteen more of the twenty.
    let mut account = 0;
    let stuffing = || {
        account += 1;
        limits.sign_in(&format!("user{account}"), here, at(0))
    };
    assert_eq!(allowed(100, stuffing), 15);
    let refused = limits.sign_in("bob", here, at(0)).unwrap_err();
    assert_eq!((refused.limit, refused.wait.seconds()), (Limit::Logins, 3));
    let refused = limits.sign_in("ada", here, at(3)).unwrap_err();
    assert_eq!(refused.wait.seconds(), 57, "of two delays the longer one is said");
    assert!(limits.sign_in("ada", here, at(60)).is_ok());
    limits.signed_in("ada", here, LoginOutcome::Wrong, at(60));
    assert_eq!(limits.sign_in("ada", here, at(61)).unwrap_err().wait.seconds(), 119);
}

// threats: C10
#[test]
fn a_successful_login_resets_the_limit_and_an_unchecked_one_does_not_count() {
    let limits = Limits::new(&NUMBERS);
    let here = ip("192.0.2.1");
    // Each round has two wrong logins for the address; for the account the count is reset.
    for _ in 0..9 {
        for outcome in
            [LoginOutcome::Wrong, LoginOutcome::Unknown, LoginOutcome::Wrong, LoginOutcome::Right]
        {
            limits.sign_in("ada", here, at(1)).unwrap();
            limits.signed_in("ada", here, outcome, at(1));
        }
    }
    assert_eq!(allowed(9, || limits.sign_in("grace", here, at(1))), 2);
    assert_eq!(allowed(9, || limits.sign_in("ada", here, at(100))), 5);
    for _ in 0..1_000 {
        limits.sign_in("bob", here, at(200)).unwrap();
        limits.signed_in("bob", here, LoginOutcome::Right, at(200));
    }
}

// threats: B10
#[test]
fn links_without_an_account_are_limited_by_minute_and_day() {
    let limits = Limits::new(&NUMBERS);
    let here = ip("192.0.2.1");
    assert_eq!(allowed(50, || limits.anonymous_link(here, at(0))), 10);
    let refused = limits.anonymous_link(here, at(0)).unwrap_err();
    assert_eq!((refused.limit, refused.wait.seconds()), (Limit::AnonymousLinks, 6));
    let mut made = 10;
    for minute in 1..24 * 60 {
        made += allowed(50, || limits.anonymous_link(here, at(60 * minute)));
        if minute == 30 {
            let wait = limits.anonymous_link(here, at(60 * minute)).unwrap_err().wait;
            assert_eq!(wait.seconds(), 3 * 864 - 1_800, "the day's limit has room each 864 s");
        }
    }
    // A hundred at first, and the refill of a day.
    assert!((100..=200).contains(&made), "{made}");
    // A link that was not created is given back to both limits.
    let other = ip("192.0.2.9");
    for _ in 0..500 {
        limits.anonymous_link(other, at(0)).unwrap();
        limits.give_back_anonymous_link(other, at(0));
    }
}

#[test]
fn an_ipv6_64_is_one_subscriber_and_a_mapped_address_is_ipv4() {
    let limits = Limits::new(&NUMBERS);
    let mut host = 0_u32;
    let scan = || {
        host += 1;
        limits.miss(ip(&format!("2001:db8:0:7::{host:x}")), at(0))
    };
    assert_eq!(allowed(1_000, scan), 30);
    assert!(limits.miss(ip("2001:db8:0:8::1"), at(0)).is_ok(), "the neighbour is not limited");
    assert_eq!(allowed(60, || limits.miss(ip("192.0.2.1"), at(0))), 30);
    assert!(limits.miss(ip("::ffff:192.0.2.1"), at(0)).is_err());
    assert!(limits.is_out_of_misses(ip("192.0.2.1"), at(0)));
    assert!(!limits.is_out_of_misses(ip("192.0.2.1"), at(2)));
    assert!(!limits.is_out_of_misses(ip("192.0.2.2"), at(0)));
}

// threats: B5
#[test]
fn what_a_scanner_finds_in_a_day_is_a_hundredth_of_a_link() {
    // A thousand requests a second for a day.
    let limits = Limits::new(&NUMBERS);
    let mut answered = 0_u64;
    for second in 0..24 * 60 * 60 {
        let free = (0..1_000).take_while(|_| limits.miss(ip("192.0.2.1"), at(second)).is_ok());
        answered += u64::try_from(free.count()).unwrap();
    }
    assert_eq!(answered, 30 + (24 * 60 * 60 - 1) / 2);
    // A million links among 62^7 codes: hits are not limited, yet each takes so many misses to find.
    let density = 1e6 / 62_f64.powi(7);
    let found = f64::from(u32::try_from(answered).unwrap()) * density;
    assert!((0.012..0.013).contains(&found), "{found}");
    let unlimited = 1_000.0 * 86_400.0 * density;
    assert!((24.0..25.0).contains(&unlimited), "{unlimited}");
}

#[test]
fn accounts_and_keys_have_limits_of_their_own() {
    let limits = Limits::new(&NUMBERS);
    assert_eq!(allowed(9_000, || limits.call(1, Some(7), at(0))), 3_000, "one key");
    assert_eq!(allowed(9_000, || limits.call(1, None, at(0))), 3_000, "the rest of the account's");
    assert!(limits.call(1, Some(8), at(0)).is_err(), "another key does not help");
    assert!(limits.call(2, Some(9), at(0)).is_ok());
    // A batch is allowed while one is free, and is charged in full.
    assert_eq!(allowed(100, || limits.links(1, 1_000, at(0))), 6);
    assert_eq!(limits.links(1, 1, at(0)).unwrap_err().wait.seconds(), 1);
    limits.give_back_links(1, 1_000, at(0));
    assert!(limits.links(1, 1_000, at(0)).is_ok());
    assert_eq!(allowed(100, || limits.sign_up(ip("192.0.2.1"), at(0))), 20);
    assert_eq!(allowed(100, || limits.report(ip("192.0.2.1"), at(0))), 10);
}

#[test]
fn each_limit_can_be_off() {
    let limits = Limits::new(&LimitSettings::default());
    let here = ip("192.0.2.1");
    assert_eq!(allowed(1_000, || limits.sign_in("ada", here, at(0))), 1_000);
    assert_eq!(allowed(1_000, || limits.sign_up(here, at(0))), 1_000);
    assert_eq!(allowed(1_000, || limits.anonymous_link(here, at(0))), 1_000);
    assert_eq!(allowed(1_000, || limits.miss(here, at(0))), 1_000);
    assert_eq!(allowed(1_000, || limits.report(here, at(0))), 1_000);
    assert_eq!(allowed(1_000, || limits.links(1, 1_000, at(0))), 1_000);
    assert_eq!(allowed(1_000, || limits.call(1, Some(1), at(0))), 1_000);
    assert!(!limits.is_out_of_misses(here, at(0)));
    let daily = Limits::new(&LimitSettings { anonymous_links: 0, ..NUMBERS });
    assert_eq!(allowed(1_000, || daily.anonymous_link(here, at(0))), 100);
    let account = Limits::new(&LimitSettings { logins_per_address: 0, ..NUMBERS });
    assert_eq!(allowed(1_000, || account.sign_in("ada", here, at(0))), 5);
    let address = Limits::new(&LimitSettings { logins_per_account: 0, ..NUMBERS });
    assert_eq!(allowed(1_000, || address.sign_in("ada", here, at(0))), 20);
}

// threats: C10
#[test]
fn sixty_four_threads_get_no_more_than_one_thread() {
    for _ in 0..20 {
        let limits = Limits::new(&NUMBERS);
        let counts: [AtomicUsize; 4] = Default::default();
        let here = ip("192.0.2.1");
        thread::scope(|scope| {
            for _ in 0..64 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let done = [
                            limits.sign_in("ada", here, at(1)).is_ok(),
                            limits.anonymous_link(here, at(1)).is_ok(),
                            limits.miss(here, at(1)).is_ok(),
                            limits.links(1, 1_000, at(1)).is_ok(),
                        ];
                        for (count, done) in counts.iter().zip(done) {
                            count.fetch_add(usize::from(done), Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!(counts.map(AtomicUsize::into_inner), [5, 10, 30, 6]);
    }
}

#[test]
fn evading_a_limit_by_a_flood_takes_more_addresses_than_the_table_holds() {
    let limits = Limits::new(&NUMBERS);
    let scanner = ip("192.0.2.1");
    assert_eq!(allowed(60, || limits.miss(scanner, at(0))), 30);
    // A million other addresses, each with a single miss.
    for number in 0..1_000_000_u32 {
        let other = IpAddr::from((0x0a00_0000 + number).to_be_bytes());
        assert!(limits.miss(other, at(0)).is_ok());
    }
    assert!(limits.miss(scanner, at(0)).is_err());
}
