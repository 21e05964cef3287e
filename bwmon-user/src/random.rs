//! Numbers drawn from seeds, the same on every machine and in every version.
//!
//! The order of an experiment, its sweeps, a rig's noise and a scenario's bursts can be drawn again from what was
//! recorded, by any shard for itself; crates for random numbers promise that for some of their
//! generators only, and not for what they draw with them.

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
#[derive(Clone, Debug)]
pub struct Draw {
    state: u64,
}

/// What the state grows by: an odd number near 2^64 over the golden ratio.
pub const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The bits of `z` mixed: SplitMix64's output for the state `z`.
pub fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Draw {
    /// A generator of its own for each list of numbers.
    pub fn new(of: &[u64]) -> Self {
        let mut draw = Self { state: of.len() as u64 };
        for number in of {
            draw.state = draw.next_u64() ^ number;
        }
        draw.next_u64();
        draw
    }

    /// 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mixed(self.state)
    }

    /// Evenly below `n` (0 for 0), by the widening product (Lemire 2019), whose unevenness is below
    /// n / 2^64.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Evenly between two whole numbers, both among them.
    pub fn between(&mut self, from: i64, to: i64) -> i64 {
        let span = to.wrapping_sub(from).unsigned_abs();
        match span.checked_add(1) {
            Some(n) => from.wrapping_add(self.below(n) as i64),
            None => self.next_u64() as i64,
        }
    }

    /// In [0, 1), with 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A standard normal value (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Shuffles `items` (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_splitmix64() {
        // The first outputs for the seed 1234567, as published with Vigna's splitmix64.c.
        let mut draw = Draw { state: 1_234_567 };
        let seen: Vec<u64> = (0..3).map(|_| draw.next_u64()).collect();
        assert_eq!(
            seen,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn every_order_of_three_comes_about_as_often() {
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..6_000 {
            let mut items = [0, 1, 2];
            Draw::new(&[seed]).shuffle(&mut items);
            *counts.entry(items).or_insert(0) += 1;
        }
        // 1000 each expected, standard deviation sqrt(6000 * 1/6 * 5/6) = 29.
        assert!(
            counts.len() == 6 && counts.values().all(|n| (850..=1150).contains(n)),
            "{counts:?}"
        );
    }

    #[test]
    fn normal_values_have_mean_0_and_deviation_1() {
        let mut draw = Draw::new(&[7]);
        let values: Vec<f64> = (0..20_000).map(|_| draw.normal()).collect();
        let mean = values.iter().sum::<f64>() / 20_000.0;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 20_000.0;
        // Standard errors: 0.007 and 0.01.
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }

    #[test]
    fn numbers_between_reach_both_ends_and_no_further() {
        let mut draw = Draw::new(&[1]);
        let seen: std::collections::BTreeSet<i64> = (0..200).map(|_| draw.between(-1, 1)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [-1, 0, 1]);
        assert!((0..100).all(|_| draw.between(i64::MIN, i64::MAX) != 0));
    }
}
