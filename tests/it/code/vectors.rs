//! The vectors of the contract, run through the library.
//!
//! Invariant: every vector is run, none is filtered out by its id.

use kurz_core::code::counter::{CounterError, Scramble, Scrambler};
use kurz_core::code::{UrlError, WorkspaceId, canonicalise, deterministic};
use kurz_core::link::{Latency, Month};
use kurz_core::time::Timestamp;
use serde_json::Value;

/// The vectors under `key`, never none.
pub(super) fn vectors(key: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../../vectors/vectors.json"))
        .expect("the vectors are JSON");
    let list = all.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    assert!(!list.is_empty(), "no vectors under {key}");
    list
}

pub(super) fn text<'a>(vector: &'a Value, key: &str) -> &'a str {
    vector.get(key).and_then(Value::as_str).expect("the vector has this text")
}

pub(super) fn number<T: TryFrom<u64>>(vector: &Value, key: &str) -> T {
    let number = vector.get(key).and_then(Value::as_u64).expect("the vector has this number");
    T::try_from(number).ok().expect("the number is in range")
}

pub(super) fn decimal(vector: &Value, key: &str) -> u128 {
    text(vector, key).parse().expect("the vector has a decimal number")
}

#[test]
fn every_canonical_vector_has_its_form_and_the_form_is_its_own() {
    for vector in vectors("canonical") {
        let form = canonicalise(text(&vector, "input")).unwrap();
        assert_eq!(form.as_str(), text(&vector, "canonical"), "{vector}");
        assert_eq!(canonicalise(form.as_str()), Ok(form), "{vector}");
    }
}

#[test]
fn every_rejected_vector_is_refused_with_a_code_that_fits_its_note() {
    for vector in vectors("rejected") {
        // A missing input is for the edges to refuse: the library is only ever given text.
        let Some(input) = vector["input"].as_str() else {
            assert_eq!(vector["id"], "rej-005");
            continue;
        };
        let error = canonicalise(input).unwrap_err();
        let fitting: &[UrlError] = match vector["note"].as_str().unwrap() {
            "TC8 empty string" => &[UrlError::Empty],
            "TC8 scheme" | "scheme" => &[UrlError::SchemeNotAllowed],
            "no scheme" | "relative" | "one slash" | "bad scheme" | "missing colon" => {
                &[UrlError::SchemeMissing]
            }
            "empty host" => &[UrlError::HostEmpty],
            "userinfo" | "userinfo disguise" => &[UrlError::UserinfoNotAllowed],
            "backslash in authority" => &[UrlError::Backslash, UrlError::UserinfoNotAllowed],
            "port range" | "port not a number" => &[UrlError::PortInvalid],
            "line feed inside" | "tab inside" | "DEL inside" => &[UrlError::ControlCharacters],
            "space in host"
            | "forbidden host character"
            | "unclosed IPv6"
            | "short IPv6"
            | "bad IPv4" => &[UrlError::HostInvalid],
            note => panic!("say which refusal fits {note:?}"),
        };
        assert!(fitting.contains(&error), "{vector}: {}", error.code());
    }
}

#[test]
fn every_deterministic_vector_has_its_hash_and_code() {
    for vector in vectors("deterministic") {
        let form = canonicalise(text(&vector, "url")).unwrap();
        let (workspace, attempt) = (text(&vector, "workspace"), number(&vector, "salt"));
        assert_eq!(form.as_str(), text(&vector, "canonical"), "{vector}");
        let hash = deterministic::hash(&form, workspace, attempt);
        let hex: Vec<String> = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex.concat(), text(&vector, "sha256"), "{vector}");
        let code = deterministic::code_in(&form, workspace, attempt);
        assert_eq!(code.as_str(), text(&vector, "code"), "{vector}");
        let workspace = WorkspaceId::parse(workspace).unwrap();
        assert_eq!(deterministic::code(&form, &workspace, attempt), code, "{vector}");
    }
}

#[test]
fn every_derive_vector_has_its_digits() {
    for vector in vectors("derive") {
        let number = u128::from_str_radix(text(&vector, "hash16_hex"), 16).unwrap();
        let code = deterministic::derive(number.to_be_bytes(), self::number(&vector, "length"));
        assert_eq!(code, text(&vector, "code"), "{vector}");
    }
}

#[test]
fn every_salt_chain_has_its_codes_attempt_by_attempt() {
    for vector in vectors("salt_chain") {
        let form = canonicalise(text(&vector, "url")).unwrap();
        let codes = vector["codes"].as_array().unwrap();
        assert!(codes.len() >= usize::try_from(deterministic::ATTEMPTS).unwrap());
        for (attempt, code) in (0..).zip(codes) {
            let made = deterministic::code_in(&form, text(&vector, "workspace"), attempt);
            assert_eq!(Some(made.as_str()), code.as_str(), "{vector} attempt {attempt}");
        }
    }
}

pub(super) fn affine(vector: &Value) -> Result<Scrambler, CounterError> {
    let (mult, length) = (decimal(vector, "mult"), number(vector, "length"));
    Scrambler::new(Scramble::Affine, text(vector, "salt"), mult, length)
}

#[test]
fn every_counter_vector_has_its_code() {
    for vector in vectors("counter") {
        let code = affine(&vector).unwrap().code(decimal(&vector, "counter"));
        assert_eq!(code.as_str(), text(&vector, "code"), "{vector}");
    }
}

#[test]
fn every_rejected_counter_vector_is_refused_for_its_reason() {
    for vector in vectors("counter_rejected") {
        let expected = match text(&vector, "reason") {
            "empty salt" => CounterError::SaltEmpty,
            _ => CounterError::MultNotCoprime,
        };
        assert_eq!(affine(&vector).err(), Some(expected), "{vector}");
    }
}

#[test]
fn every_welford_vector_has_its_means() {
    for vector in vectors("welford") {
        let tolerance = vector["relative_tolerance"].as_f64().unwrap();
        let mut latency = Latency::default();
        let values = vector["latencies_ms"].as_array().unwrap();
        for (value, mean) in values.iter().zip(vector["means"].as_array().unwrap()) {
            latency.add(value.as_f64().unwrap());
            let mean = mean.as_f64().unwrap();
            let off = (latency.mean_ms - mean).abs();
            assert!(off <= tolerance * mean.abs(), "{vector}: {latency:?}");
        }
        assert_eq!(latency.count, number::<u64>(&vector, "count"), "{vector}");
    }
}

#[test]
fn every_month_vector_has_its_name_and_its_seconds() {
    for vector in vectors("month_ttl") {
        let at = Timestamp::from_ms(vector["epoch_ms"].as_i64().unwrap());
        assert_eq!(Timestamp::parse_rfc3339(text(&vector, "utc")), Some(at), "{vector}");
        assert_eq!(Month::of(at).to_string(), text(&vector, "month"), "{vector}");
        assert_eq!(Some(Month::seconds_left(at)), vector["ttl_seconds"].as_i64(), "{vector}");
    }
}
