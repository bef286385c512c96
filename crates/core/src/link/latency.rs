//! The running mean of redirect latencies (Welford), and how two of them merge (Chan).

/// How many values there were, and their mean in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Latency {
    pub count: u64,
    /// Their mean; 0 before the first.
    pub mean_ms: f64,
}

impl Latency {
    /// Of `count` values that add up to `nanos` nanoseconds.
    #[expect(
        clippy::cast_precision_loss,
        clippy::as_conversions,
        reason = "a mean in milliseconds needs no more than a double holds"
    )]
    pub fn of_sum(count: u64, nanos: u64) -> Self {
        let mean_ms = if count == 0 { 0.0 } else { nanos as f64 / count as f64 / 1e6 };
        Self { count, mean_ms }
    }

    /// Add one value: `mean += (x - mean) / n`.
    pub fn add(&mut self, ms: f64) {
        self.merge(Self { count: 1, mean_ms: ms });
    }

    /// Add all the values behind `other`, as if they had come one by one.
    pub fn merge(&mut self, other: Self) {
        let count = self.count + other.count;
        if count == 0 {
            return;
        }
        #[expect(
            clippy::cast_precision_loss,
            clippy::as_conversions,
            reason = "a share of counts; 2^53 hits are out of reach"
        )]
        let share = other.count as f64 / count as f64;
        self.mean_ms += (other.mean_ms - self.mean_ms) * share;
        self.count = count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn merging_parts_gives_the_mean_of_the_whole(
            left in prop::collection::vec(0.0f64..1e4, 0..50),
            right in prop::collection::vec(0.0f64..1e4, 0..50),
        ) {
            let mean = |values: &[f64]| {
                let mut latency = Latency::default();
                for &ms in values {
                    latency.add(ms);
                }
                latency
            };
            let mut merged = mean(&left);
            merged.merge(mean(&right));
            let whole = mean(&[left, right].concat());
            prop_assert_eq!(merged.count, whole.count);
            prop_assert!((merged.mean_ms - whole.mean_ms).abs() <= 1e-9 * whole.mean_ms.max(1.0));
        }
    }
}
