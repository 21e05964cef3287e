//! The order of an experiment: complete blocks in random order, drawn from the agenda's seed.

use super::agenda::Agenda;
use crate::random::Draw;

/// A block: every subject once under one workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its number under this workload, from 0.
    pub block: u32,
    /// The workload's place in the agenda.
    pub workload: usize,
    /// The subjects' places in the agenda, in the order in which they run.
    pub order: Vec<usize>,
}

/// All blocks of `agenda` in the order in which they run: round by round, so that a drift touches all
/// workloads alike, and each round's workloads in random order. What one block looks like does not
/// depend on the others, so that a shard can draw its own.
pub fn plan(agenda: &Agenda) -> Vec<Block> {
    let mut blocks = Vec::new();
    for block in 0..agenda.blocks {
        let mut workloads: Vec<usize> = (0..agenda.workloads.len()).collect();
        Draw::new(&[agenda.seed, 1, u64::from(block)]).shuffle(&mut workloads);
        for workload in workloads {
            let mut order: Vec<usize> = (0..agenda.subjects.len()).collect();
            let key = [agenda.seed, 2, u64::from(block), workload as u64];
            Draw::new(&key).shuffle(&mut order);
            blocks.push(Block { block, workload, order });
        }
    }
    blocks
}

/// One part of a plan: the `index`th of `count`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1.
    pub index: usize,
    /// Of how many.
    pub count: usize,
}

impl Shard {
    /// The whole.
    pub const WHOLE: Self = Self { index: 1, count: 1 };

    /// Whether block number `at` of the plan is in it.
    pub fn has(self, at: usize) -> bool {
        at % self.count == self.index - 1
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    /// `2/10`: the second of ten.
    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(i, n)| i.parse().ok().zip(n.parse().ok()));
        match parts {
            Some((index, count)) if index >= 1 && index <= count => Ok(Self { index, count }),
            _ => Err("write i/n, from 1/n to n/n".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::testing::agenda;

    #[test]
    fn every_block_is_complete_and_every_workload_has_its_blocks() {
        let agenda = agenda(3, 2, 20);
        let plan = plan(&agenda);
        assert_eq!(plan.len(), 2 * 20);
        for block in &plan {
            let mut order = block.order.clone();
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2]);
        }
        for workload in 0..2 {
            assert_eq!(plan.iter().filter(|block| block.workload == workload).count(), 20);
        }
    }

    #[test]
    fn the_order_is_random_and_the_same_for_the_same_seed() {
        let one = plan(&agenda(2, 1, 200));
        let first = one.iter().filter(|block| block.order == [0, 1]).count();
        // 100 of 200 expected, standard deviation 7.
        assert!((70..=130).contains(&first), "{first}");
        assert_eq!(one, plan(&agenda(2, 1, 200)));
        let mut other = agenda(2, 1, 200);
        other.seed += 1;
        assert_ne!(one, plan(&other));
    }

    #[test]
    fn shards_are_parts_that_make_the_whole() {
        let whole: Vec<usize> = (0..37).collect();
        let mut parts: Vec<usize> = (1..=5)
            .flat_map(|index| {
                whole.iter().copied().filter(move |at| Shard { index, count: 5 }.has(*at))
            })
            .collect();
        parts.sort_unstable();
        assert_eq!(parts, whole);
        assert_eq!("2/10".parse(), Ok(Shard { index: 2, count: 10 }));
        assert!(
            ["0/2", "3/2", "1", "a/b", "1/0"].iter().all(|text| text.parse::<Shard>().is_err())
        );
    }
}
