//! Whether visitors were drawn as the weights of a split say: a chi-square test of the counts. A small probability
//! mostly means bots or caches, not chance.

/// The probability of a difference at least as large as this; `None` without clicks, or with one variant that is not
/// paused. Variants that are paused are left out: what they had came before.
pub fn sample_ratio_p(counts: &[u64], weights: &[f64]) -> Option<f64> {
    let drawn: Vec<(f64, f64)> = counts
        .iter()
        .zip(weights)
        .filter(|(_, weight)| **weight > 0.0)
        .map(|(count, weight)| (as_float(*count), *weight))
        .collect();
    let total: f64 = drawn.iter().map(|(count, _)| count).sum();
    let weight: f64 = drawn.iter().map(|(_, weight)| weight).sum();
    if drawn.len() < 2 || total == 0.0 {
        return None;
    }
    let square = |(count, own): &(f64, f64)| {
        let expected = total * own / weight;
        (count - expected).powi(2) / expected
    };
    let chi_square: f64 = drawn.iter().map(square).sum();
    Some(upper_tail(chi_square / 2.0, drawn.len() - 1))
}

/// The upper tail of the chi-square distribution: with an even number of degrees a finite sum, with an odd one the same
/// above the tail of the normal distribution. `half` is half of the value.
fn upper_tail(half: f64, degrees: usize) -> f64 {
    let is_odd = degrees % 2 == 1;
    let mut tail = if is_odd { complementary_error(half.sqrt()) } else { 0.0 };
    let mut at = if is_odd { 0.5 } else { 0.0 };
    let mut term = if is_odd {
        2.0 * (half / std::f64::consts::PI).sqrt() * (-half).exp()
    } else {
        (-half).exp()
    };
    for _ in 0..degrees / 2 {
        tail += term;
        at += 1.0;
        term *= half / at;
    }
    tail.clamp(0.0, 1.0)
}

/// 1 - erf(x) for x ≥ 0, by the approximation of Abramowitz and Stegun 7.1.26; the error is below 1.5e-7.
fn complementary_error(x: f64) -> f64 {
    let t = 1.0 / 0.327_591_1f64.mul_add(x, 1.0);
    let coefficients =
        [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let sum = coefficients.into_iter().fold(0.0, |sum: f64, one| sum.mul_add(t, one));
    sum * t * (-x * x).exp()
}

#[expect(clippy::cast_precision_loss, clippy::as_conversions, reason = "a test is not that exact")]
fn as_float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_that_of_the_tables() {
        // Values of the chi-square distribution for p = 0.05 and p = 0.001.
        for (degrees, five, thousandth) in [
            (1, 3.841_459, 10.827_566),
            (2, 5.991_465, 13.815_511),
            (3, 7.814_728, 16.266_236),
            (4, 9.487_729, 18.466_827),
            (7, 14.067_140, 24.321_886),
        ] {
            assert!((upper_tail(five / 2.0, degrees) - 0.05).abs() < 1e-5, "{degrees}");
            assert!((upper_tail(thousandth / 2.0, degrees) - 0.001).abs() < 1e-5, "{degrees}");
        }
    }

    #[test]
    fn a_fair_draw_is_probable_and_a_biased_one_is_not() {
        assert!(sample_ratio_p(&[800, 200], &[80.0, 20.0]).unwrap() > 0.99);
        assert!(sample_ratio_p(&[810, 190], &[80.0, 20.0]).unwrap() > 0.3);
        assert!(sample_ratio_p(&[600, 400], &[80.0, 20.0]).unwrap() < 0.001);
        assert_eq!(sample_ratio_p(&[0, 0], &[1.0, 1.0]), None);
        assert_eq!(sample_ratio_p(&[5, 9], &[1.0, 0.0]), None, "nothing is drawn");
    }
}
