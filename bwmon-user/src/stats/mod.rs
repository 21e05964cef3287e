//! What an experiment says, and how sure that is: comparison of runs by ranks. Run times and
//! bandwidths have long tails and no known distribution, so nothing here assumes one: estimates are
//! medians, intervals are order statistics, p-values are exact for the sizes that experiments have.
//! Pure arithmetic; a number that is not finite is an error, never a silent result.

mod cut;
mod drift;
mod family;
mod input;
mod normal;
mod outliers;
mod paired;
mod ranks;
mod signed_rank;
mod summary;
mod unpaired;
mod verdict;

pub use cut::Cut;
pub use drift::{Drift, drift};
pub use family::holm;
pub use input::{MOST_VALUES, StatsError};
pub use outliers::{THRESHOLD, outliers};
pub use paired::{Paired, paired};
pub use signed_rank::{MOST_EXACT, SignedRank, critical, signed_rank};
pub use summary::{Quartiles, geometric_mean, median, quartiles};
pub use unpaired::{Unpaired, unpaired};
pub use verdict::{Question, Verdict, verdict};

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod rig_tests;
