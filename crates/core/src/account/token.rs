//! Login tokens: JSON Web Tokens, HS256 only, valid for 24 hours.
//!
//! Invariant: a token is valid only while its `ver` equals the account's token version, which a logout
//! and a change of password increment. The time is an argument: the library's own checks, which would
//! read the clock, are off.

use std::fmt;
use std::time::Duration;

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde::{Deserialize, Serialize};

use crate::account::Email;
use crate::time::Timestamp;

/// How long a token is valid.
pub const LIFE: Duration = Duration::from_hours(24);
/// How far the clocks of instances may differ, in seconds.
const LEEWAY_SECONDS: i64 = 5;
/// A longer token is not parsed.
pub const MOST_BYTES: usize = 4 << 10;
/// The fewest bytes of a secret.
pub const LEAST_SECRET_BYTES: usize = 32;

/// Secrets of at least 32 bytes from well-known examples, which attackers try first.
const KNOWN_SECRETS: [&str; 6] = [
    "0123456789abcdef0123456789abcdef",
    "your-256-bit-secret-your-256-bit-secret",
    "a-string-secret-at-least-256-bits-long",
    "change-me-change-me-change-me-change-me",
    "changemechangemechangemechangeme",
    "secretsecretsecretsecretsecretsecret",
];

/// Whether `secret` may sign tokens: long enough, not well known, not one repeated character.
pub fn is_sound_secret(secret: &str) -> bool {
    let mut characters = secret.chars();
    let first = characters.next();
    secret.len() >= LEAST_SECRET_BYTES
        && !KNOWN_SECRETS.contains(&secret.to_lowercase().as_str())
        && characters.any(|character| Some(character) != first)
}

#[derive(Clone)]
pub struct Tokens {
    sign: EncodingKey,
    check: DecodingKey,
    validation: Validation,
}

/// The claims of a valid token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenClaims {
    pub email: Email,
    /// The account's token version when it was issued.
    pub version: i64,
}

/// A new token and its expiry.
#[derive(Clone)]
pub struct Token {
    pub text: String,
    pub expires_at: Timestamp,
}

/// The claims as encoded in a token. Other types than the declared ones are refused: an `exp` that is
/// a string or a fraction would not be an expiry.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenPayload {
    sub: String,
    iat: i64,
    exp: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nbf: Option<i64>,
    ver: i64,
}

impl Tokens {
    /// Tokens signed with `secret`, which must satisfy [`is_sound_secret`].
    pub fn new(secret: &str) -> Self {
        let mut validation = Validation::new(Algorithm::HS256);
        validation.validate_exp = false;
        validation.validate_nbf = false;
        Self {
            sign: EncodingKey::from_secret(secret.as_bytes()),
            check: DecodingKey::from_secret(secret.as_bytes()),
            validation,
        }
    }

    /// A token for an account that just logged in.
    pub fn issue(&self, email: &Email, version: i64, now: Timestamp) -> Token {
        let iat = now.as_ms().div_euclid(1000);
        let exp = iat + i64::try_from(LIFE.as_secs()).unwrap_or(0);
        let wire = TokenPayload { sub: email.to_string(), iat, exp, nbf: None, ver: version };
        let text = encode(&Header::new(Algorithm::HS256), &wire, &self.sign)
            .expect("numbers and text can be written as JSON, and the key is for this algorithm");
        Token { text, expires_at: Timestamp::from_ms(exp.saturating_mul(1000)) }
    }

    /// The claims of a token, if its signature is valid and it has not expired.
    pub fn read(&self, token: &str, now: Timestamp) -> Option<TokenClaims> {
        if token.len() > MOST_BYTES {
            return None;
        }
        let wire: TokenPayload = decode(token, &self.check, &self.validation).ok()?.claims;
        let now = now.as_ms().div_euclid(1000);
        let over = wire.exp.saturating_add(LEEWAY_SECONDS) <= now;
        let early = wire.nbf.is_some_and(|nbf| nbf.saturating_sub(LEEWAY_SECONDS) > now);
        let email = Email::parse(&wire.sub).ok().filter(|email| email.as_str() == wire.sub)?;
        (!over && !early).then_some(TokenClaims { email, version: wire.ver })
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokens([hidden])")
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token([hidden] until {})", self.expires_at)
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
    use serde_json::{Value, json};

    use super::*;
    use std::time::Instant;

    const SECRET: &str = "correct horse battery staple forever";
    const NOW: Timestamp = Timestamp::from_ms(1_800_000_000_000);

    fn ada() -> Email {
        Email::parse("ada@example.com").unwrap()
    }

    fn signed(algorithm: Algorithm, claims: &Value, secret: &str) -> String {
        let key = EncodingKey::from_secret(secret.as_bytes());
        encode(&Header::new(algorithm), claims, &key).unwrap()
    }

    fn claims(exp: &Value) -> Value {
        json!({ "sub": "ada@example.com", "iat": 1_800_000_000, "exp": exp, "ver": 1 })
    }

    #[test]
    fn a_token_says_who_signed_in_for_24_hours() {
        let tokens = Tokens::new(SECRET);
        let token = tokens.issue(&ada(), 3, NOW);
        assert_eq!(token.expires_at, NOW.plus(LIFE));
        let read = tokens.read(&token.text, NOW).unwrap();
        assert_eq!(read, TokenClaims { email: ada(), version: 3 });
        let end = |seconds| NOW.plus(LIFE + Duration::from_secs(seconds));
        assert!(tokens.read(&token.text, end(4)).is_some());
        assert_eq!(tokens.read(&token.text, end(5)), None);
        let header = BASE64.decode(token.text.split('.').next().unwrap()).unwrap();
        let header: Value = serde_json::from_slice(&header).unwrap();
        assert_eq!(header["alg"], "HS256");
    }

    /// Signed with the right secret and wrong all the same.
    fn wrong_claims() -> Vec<Value> {
        let later = json!(1_800_000_100);
        let exps = [
            json!(1_799_999_000),
            json!(0),
            json!(-1),
            json!("1800000100"),
            json!(1_800_000_100.5),
            json!(1.8e9),
            json!([1_800_000_100]),
            json!({}),
            json!(null),
            json!(true),
            json!(u64::MAX),
            json!(1e300),
        ];
        let others = [
            json!({ "sub": "ada@example.com", "iat": 1_800_000_000, "ver": 1 }),
            json!({ "sub": "ada@example.com", "iat": 1_800_000_000, "exp": later }),
            json!({ "iat": 1_800_000_000, "exp": later, "ver": 1 }),
            json!({ "sub": "Ada@Example.com", "iat": 1, "exp": later, "ver": 1 }),
            json!({ "sub": 1, "iat": 1, "exp": later, "ver": 1 }),
            json!({ "sub": "", "iat": 1, "exp": later, "ver": 1 }),
            json!({ "sub": "ada@example.com", "iat": 1, "exp": later, "ver": "1" }),
            json!({ "sub": "ada@example.com", "iat": 1, "exp": later, "ver": 1, "admin": true }),
            json!({ "sub": "ada@example.com", "iat": 1, "exp": later, "ver": 1,
                    "nbf": 1_800_000_050 }),
            json!({ "sub": "ada@example.com", "iat": 1, "exp": later, "ver": 1, "aud": "other" }),
        ];
        exps.iter().map(claims).chain(others).collect()
    }

    /// A good token with other headers, shortened, or with a letter changed.
    fn damaged(good: &str) -> Vec<String> {
        let part = |text: &str| BASE64.encode(text);
        let body = part(&claims(&json!(1_800_000_100)).to_string());
        let headers = [
            r#"{"alg":"none"}"#,
            r#"{"alg":"None"}"#,
            r#"{"alg":"RS256"}"#,
            r#"{"alg":"ES256"}"#,
            r#"{"alg":"hs256"}"#,
            r#"{"typ":"JWT"}"#,
            r#"{"alg":null}"#,
            r#"{"alg":"HS256"}"#,
            r#"{"alg":"HS256","kid":"../../dev/null"}"#,
            "[]",
            "",
        ];
        let mut bad = Vec::new();
        for header in headers.map(part) {
            bad.push(format!("{header}.{body}."));
            bad.push(format!("{header}.{body}"));
            bad.push(format!("{header}.{body}.{}", part("signature")));
        }
        let signature = good.rfind('.').unwrap() + 1;
        let ends = [signature, signature + 1, good.len() - 1, 10];
        bad.extend(ends.map(|end| good[..end].to_owned()));
        for at in [signature, signature + 20, signature - 5, 5] {
            let mut flipped = good.as_bytes().to_vec();
            flipped[at] = if flipped[at] == b'A' { b'B' } else { b'A' };
            bad.push(String::from_utf8(flipped).unwrap());
        }
        bad
    }

    #[test]
    fn no_forged_expired_or_damaged_token_is_read() {
        let tokens = Tokens::new(SECRET);
        let good = tokens.issue(&ada(), 1, NOW).text;
        let right = claims(&json!(1_800_000_100));
        let mut bad = vec![
            signed(Algorithm::HS384, &right, SECRET),
            signed(Algorithm::HS512, &right, SECRET),
            signed(Algorithm::HS256, &right, "another secret of enough many bytes"),
            String::new(),
            ".".to_owned(),
            "..".to_owned(),
            "a.b.c".to_owned(),
            "x".repeat(1 << 20),
            format!("{good}."),
            format!(".{good}"),
            format!("{good}.x"),
            format!(" {good}"),
            good.replace('.', ".."),
        ];
        let wrong = wrong_claims();
        bad.extend(wrong.iter().map(|claims| signed(Algorithm::HS256, claims, SECRET)));
        bad.extend(damaged(&good));
        assert!(bad.len() >= 60, "{}", bad.len());
        #[expect(clippy::disallowed_methods, reason = "the test measures how long a refusal takes")]
        let start = Instant::now();
        for token in &bad {
            assert_eq!(tokens.read(token, NOW), None, "{}", &token[..token.len().min(200)]);
        }
        let each = start.elapsed() / u32::try_from(bad.len()).unwrap();
        assert!(each < Duration::from_millis(5), "{each:?} each");
    }

    // threats: C2
    #[test]
    fn a_secret_is_long_and_in_no_list() {
        assert!(is_sound_secret(SECRET));
        for bad in ["", "short", &SECRET[..31], KNOWN_SECRETS[0], &"x".repeat(64)] {
            assert!(!is_sound_secret(bad), "{bad}");
        }
        let known = KNOWN_SECRETS[4].to_uppercase();
        assert!(!is_sound_secret(&known));
    }

    // threats: H12
    #[test]
    fn nothing_printed_shows_a_token_or_the_secret() {
        let tokens = Tokens::new(SECRET);
        let token = tokens.issue(&ada(), 1, NOW);
        assert!(!format!("{token:?} {tokens:?}").contains(&token.text));
        assert!(!format!("{tokens:?}").contains("correct"));
    }
}
