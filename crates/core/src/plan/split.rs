//! Splits: who gets which variant. The choice follows from the split's key, the link, the visitor's address and the
//! hash of the user agent, and from nothing that is stored, so it is the same on every instance and after restarts.

use siphasher::sip::SipHasher13;

use super::compiled::TargetId;
use super::document::{Split, SplitKey};
use crate::link::LinkId;
use crate::time::Timestamp;

/// A split as redirects go by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CompiledSplit {
    key: [u64; 2],
    /// The sums of the weights up to each variant; those behind the last have that of all.
    sums: [u32; 8],
    /// Where the URLs of the variants begin.
    first: u16,
    /// From then on everybody gets the winner.
    ends_at: i64,
    winner: u8,
    names: Box<[Box<str>]>,
}

impl CompiledSplit {
    pub(super) fn new(split: &Split, first: TargetId) -> Self {
        let mut sum = 0;
        let mut sums = [0; 8];
        let mut variants = split.variants.iter();
        for place in &mut sums {
            sum += variants.next().map_or(0, |variant| u32::from(variant.weight));
            *place = sum;
        }
        let winner = split
            .winner
            .as_ref()
            .and_then(|name| split.variants.iter().position(|variant| variant.name == *name));
        let ends_at = match (winner, split.ends_at) {
            (Some(_), Some(end)) => end.as_ms(),
            (Some(_), None) => i64::MIN,
            (None, _) => i64::MAX,
        };
        Self {
            key: halves(split.key),
            sums,
            first: first.0,
            ends_at,
            winner: winner.and_then(|winner| u8::try_from(winner).ok()).unwrap_or_default(),
            names: split.variants.iter().map(|variant| variant.name.as_str().into()).collect(),
        }
    }

    /// The place of the variant that a visitor gets.
    #[inline]
    pub(super) fn choose(&self, link: LinkId, now: Timestamp, address: u128, agent: u64) -> u8 {
        if now.as_ms() >= self.ends_at {
            return self.winner;
        }
        pick(&self.sums, hash(self.key, link, address, agent))
    }

    #[inline]
    pub(super) fn target(&self, variant: u8) -> TargetId {
        TargetId(self.first.saturating_add(variant.into()))
    }

    #[inline]
    pub(super) fn name(&self, variant: u8) -> &str {
        self.names.get(usize::from(variant)).map_or("", |name| name)
    }

    pub(super) fn is_over(&self, now: Timestamp) -> bool {
        now.as_ms() >= self.ends_at
    }

    pub(super) fn bytes(&self) -> usize {
        let names = self.names.iter().map(|name| name.len() + size_of::<Box<str>>());
        size_of::<Self>() + names.sum::<usize>()
    }
}

fn halves(key: SplitKey) -> [u64; 2] {
    let key = u128::from_le_bytes(key.0);
    let half = |bits: u128| u64::try_from(bits & u128::from(u64::MAX)).unwrap_or_default();
    [half(key), half(key >> 64)]
}

#[inline]
fn hash([first, second]: [u64; 2], link: LinkId, address: u128, agent: u64) -> u64 {
    let mut bytes = [0; 32];
    let (of_link, rest) = bytes.split_at_mut(8);
    let (of_address, of_agent) = rest.split_at_mut(16);
    of_link.copy_from_slice(&link.0.to_le_bytes());
    of_address.copy_from_slice(&address.to_le_bytes());
    of_agent.copy_from_slice(&agent.to_le_bytes());
    SipHasher13::new_with_keys(first, second).hash(&bytes)
}

/// The first variant whose sum exceeds the hash, scaled to the sum of all. Scaled and not the rest of a division, so
/// that a visitor stays on a side whatever the weights add up to.
#[inline]
fn pick(sums: &[u32; 8], hash: u64) -> u8 {
    let total = sums.last().copied().unwrap_or_default();
    let point = u64::try_from((u128::from(hash) * u128::from(total)) >> 64).unwrap_or_default();
    let before = sums.iter().filter(|sum| u64::from(**sum) <= point).count();
    u8::try_from(before).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::document::Variant;

    fn split(weights: &[u16], key: u8) -> CompiledSplit {
        let variants = weights.iter().enumerate().map(|(at, weight)| Variant {
            name: format!("v{at}"),
            weight: *weight,
            to: String::new(),
        });
        let key = SplitKey([key; 16]);
        let split = Split { variants: variants.collect(), key, ..Split::default() };
        CompiledSplit::new(&split, TargetId(3))
    }

    const NOW: Timestamp = Timestamp::from_ms(1_000);
    const LINK: LinkId = LinkId(7);
    const VISITORS: u32 = 100_000;

    fn sides(split: &CompiledSplit) -> Vec<u8> {
        (0..VISITORS).map(|visitor| split.choose(LINK, NOW, visitor.into(), 5)).collect()
    }

    #[test]
    fn visitors_fall_on_the_sides_as_the_weights_say() {
        for weights in [&[80, 20][..], &[1, 1], &[10_000, 1, 5_000], &[1, 0, 2, 0, 3, 4, 5, 6]] {
            let sides = sides(&split(weights, 9));
            let total: f64 = weights.iter().map(|weight| f64::from(*weight)).sum();
            for (at, weight) in weights.iter().enumerate() {
                let share = f64::from(*weight) / total;
                let count = sides.iter().filter(|side| usize::from(**side) == at).count();
                let count = f64::from(u32::try_from(count).unwrap());
                let visitors = f64::from(VISITORS);
                let deviation = (visitors * share * (1.0 - share)).sqrt();
                assert!(
                    (count - visitors * share).abs() <= 3.0 * deviation,
                    "{weights:?} {at} {count}"
                );
            }
        }
    }

    #[test]
    fn a_visitor_stays_on_a_side_on_every_instance_until_the_key_changes() {
        let first = sides(&split(&[50, 50], 1));
        assert_eq!(
            sides(&split(&[50, 50], 1)),
            first,
            "another instance, or the same after a restart"
        );
        assert_eq!(sides(&split(&[1, 1], 1)), first, "the same shares");
        let fresh = sides(&split(&[50, 50], 2));
        let moved = first.iter().zip(&fresh).filter(|(one, other)| one != other).count();
        assert!((49_000..51_000).contains(&moved), "drawn again: {moved}");
    }

    #[test]
    fn other_weights_move_no_more_visitors_than_they_must() {
        let moved = |from: &[u16], to: &[u16]| {
            let (before, after) = (sides(&split(from, 1)), sides(&split(to, 1)));
            before.iter().zip(&after).filter(|(one, other)| one != other).count()
        };
        // A tenth, and three standard deviations.
        assert!((9_700..10_300).contains(&moved(&[80, 20], &[70, 30])));
        // From four fifths to two thirds, though the weights add up to something else.
        assert!((12_900..13_800).contains(&moved(&[80, 20], &[80, 40])));
        // A paused variant's visitors go to the others, and nobody else moves.
        let before = sides(&split(&[1, 1], 1));
        let after = sides(&split(&[1, 0], 1));
        assert!(after.iter().all(|side| *side == 0) && before.contains(&1));
    }

    #[test]
    fn links_and_agents_are_drawn_apart_and_an_ended_split_has_a_winner() {
        let mut compiled = split(&[1, 1], 1);
        let of_link = |link| compiled.choose(LinkId(link), NOW, 1, 5);
        assert!(
            (0..50).map(of_link).any(|side| side == 0)
                && (0..50).map(of_link).any(|side| side == 1)
        );
        let of_agent = |agent| compiled.choose(LINK, NOW, 1, agent);
        assert!(
            (0..50).map(of_agent).any(|side| side == 0)
                && (0..50).map(of_agent).any(|side| side == 1)
        );
        compiled.ends_at = NOW.as_ms();
        compiled.winner = 1;
        assert!(sides(&compiled).iter().all(|side| *side == 1));
        let before = Timestamp::from_ms(NOW.as_ms() - 1);
        assert!((0..50).any(|visitor| compiled.choose(LINK, before, visitor, 5) == 0));
        assert_eq!(compiled.target(1), TargetId(4));
        assert_eq!((compiled.name(1), compiled.name(9)), ("v1", ""));
    }
}
