//! The rules of a link on its pages: as sentences, in an editor that works without scripts, and tried out.

mod controls;
mod draft;
mod draft_steps;
pub(in crate::web) mod editor;
mod outcome;
#[cfg(test)]
mod round_trip;
mod sentence;
pub(in crate::web) mod simulator;
mod test_kinds;

pub(super) use draft::variants;
pub(super) use sentence::{RuleTarget, Sentence, address, destinations};
