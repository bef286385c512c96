//! `kurz counter-code`: the code that a counter becomes under a salt, offline. It hands out no
//! counters, and reads no setting of a server.
//!
//! Invariant: an argument and a line of stdin get the same answer. Numbers may come as decimal text
//! of up to 128 bits, since JSON numbers lose digits in many programs.

use serde_json::Value;

use super::error::{CliError, InputError};
use super::lines;
use kurz_core::code::counter::{CounterError, DEFAULT_MULT, LENGTH, Scramble, Scrambler};

const EXAMPLES: &str = r#"Examples:
  kurz counter-code 123 --salt unit_test_salt
  kurz counter-code 123 --salt unit_test_salt --scramble feistel
  echo '{"counter":"123","salt":"unit_test_salt"}' | kurz counter-code --stdin

With --stdin each line is an object with "counter", "salt", and optionally "mult", "length" and
"scramble"; the numbers may be decimal text, and other fields are ignored. Each line out is
{"ok":"code"} or {"error":"code"}.

Other users of this machine can see a salt on the command line: pass a real one with --stdin."#;

/// Print the code of a counter, without a server.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The counter: a whole number, 0 or more.
    #[arg(
        value_name = "N",
        required_unless_present = "stdin",
        requires = "salt",
        allow_negative_numbers = true
    )]
    counter: Option<String>,
    /// The salt; not empty.
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    salt: Option<String>,
    /// The multiplier: odd and not a multiple of 31.
    #[arg(long, value_name = "M", default_value_t = DEFAULT_MULT, allow_negative_numbers = true)]
    mult: u128,
    /// Length of the code in characters.
    #[arg(long, value_name = "L", default_value_t = LENGTH)]
    length: u8,
    /// How the counter is scrambled.
    #[arg(long, value_parser = ["affine", "feistel"], default_value = "affine")]
    scramble: String,
    /// Read one JSON object per line from stdin instead.
    #[arg(long, conflicts_with_all = ["counter", "salt", "mult", "length", "scramble"])]
    stdin: bool,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let (Some(counter), Some(salt)) = (&args.counter, &args.salt) else {
        return lines::answer_stdin(answer);
    };
    let counter = decimal(counter).ok_or_else(counter_invalid)?;
    let scramble = args.scramble.parse().map_err(InputError::from)?;
    let scrambler =
        Scrambler::new(scramble, salt, args.mult, args.length).map_err(InputError::from)?;
    lines::print_line(scrambler.code(counter).as_str())
}

fn answer(line: Value) -> Result<String, InputError> {
    let mut fields = lines::object(line)?;
    let mut take = |name| fields.remove(name).unwrap_or_default();
    let counter = number(&take("counter")).ok_or_else(counter_invalid)?;
    let salt = take("salt");
    let salt = salt.as_str().ok_or_else(|| {
        InputError::new("counter-salt-not-text", "The salt is not text: write a JSON string.")
    })?;
    let mult = match take("mult") {
        Value::Null => DEFAULT_MULT,
        value => number(&value).ok_or_else(mult_invalid)?,
    };
    let length = match take("length") {
        Value::Null => LENGTH,
        value => number(&value)
            .and_then(|length| u8::try_from(length).ok())
            .ok_or(CounterError::LengthOutOfBounds)?,
    };
    let scramble = match take("scramble") {
        Value::Null => Scramble::default(),
        value => value.as_str().ok_or(CounterError::Scramble)?.parse()?,
    };
    Ok(Scrambler::new(scramble, salt, mult, length)?.code(counter).to_string())
}

/// A whole number as decimal text or as a JSON number.
fn number(value: &Value) -> Option<u128> {
    match value {
        Value::String(text) => decimal(text),
        _ => value.as_u64().map(u128::from),
    }
}

/// Digits alone: `parse` would take a plus sign as well.
fn decimal(text: &str) -> Option<u128> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn counter_invalid() -> InputError {
    InputError::new(
        "counter-invalid",
        "The counter is not a whole number from 0: write its digits.",
    )
}

fn mult_invalid() -> InputError {
    InputError::new(
        "counter-mult-invalid",
        "The multiplier is not a whole number: write its digits.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_is_answered_with_its_code_or_the_reason() {
        let line = |field: &str, value: Value| {
            let mut line = json!({"counter": "123", "salt": "unit_test_salt"});
            line[field] = value;
            line
        };
        let table = [
            (line("id", json!(1)), Ok("0ilAMe2")),
            (line("counter", json!(123)), Ok("0ilAMe2")),
            (line("mult", json!(1_315_423_911)), Ok("0ilAMe2")),
            (line("mult", json!("1315423911")), Ok("0ilAMe2")),
            (line("mult", json!(null)), Ok("0ilAMe2")),
            (line("length", json!("7")), Ok("0ilAMe2")),
            (line("scramble", json!("affine")), Ok("0ilAMe2")),
            (line("counter", json!("-1")), Err("counter-invalid")),
            (line("counter", json!(-1)), Err("counter-invalid")),
            (line("counter", json!("")), Err("counter-invalid")),
            (line("counter", json!(1.5)), Err("counter-invalid")),
            (line("counter", json!(null)), Err("counter-invalid")),
            (line("salt", json!(null)), Err("counter-salt-not-text")),
            (line("salt", json!("")), Err("counter-salt-empty")),
            (line("mult", json!("x")), Err("counter-mult-invalid")),
            (line("mult", json!("62")), Err("counter-mult-not-coprime")),
            (line("length", json!(0)), Err("counter-length-out-of-bounds")),
            (line("length", json!(300)), Err("counter-length-out-of-bounds")),
            (line("scramble", json!("xor")), Err("counter-scramble-unknown")),
            (line("scramble", json!(1)), Err("counter-scramble-unknown")),
            (json!("123"), Err("line-not-object")),
        ];
        for (line, expected) in table {
            let answer = answer(line.clone()).map_err(|refusal| refusal.code);
            assert_eq!(answer.as_deref(), expected.as_ref().copied(), "{line}");
        }
    }
}
