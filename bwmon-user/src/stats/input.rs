//! What is refused before anything is computed.

/// The most values of one sample where all pairs of values are formed: 2048 make two to four million
/// of them.
pub const MOST_VALUES: usize = 2048;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StatsError {
    /// A value is not a number, or infinite.
    #[error(
        "value {index} is {value}: only finite numbers can be compared; repeat that run or leave it out"
    )]
    NotFinite {
        /// Its place in the input, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// Too few values for any statement.
    #[error("{got} values where at least {need} are needed: measure more")]
    TooFew {
        /// The fewest.
        need: usize,
        /// What was given.
        got: usize,
    },
    /// Too many values to form all pairs of them.
    #[error("{got} values where at most {most} are taken: compare the medians of groups of runs")]
    TooMany {
        /// The most.
        most: usize,
        /// What was given.
        got: usize,
    },
    /// A setting is outside of its range.
    #[error("{what} is {value}: it has to be {range}")]
    OutOfRange {
        /// The setting.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
}

/// Refuses values that are not finite.
pub(super) fn finite(values: &[f64]) -> Result<(), StatsError> {
    match values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
        Some((index, value)) => Err(StatsError::NotFinite { index, value: *value }),
        None => Ok(()),
    }
}

/// Refuses a sample outside of `need..=MOST_VALUES`, and values that are not finite.
pub(super) fn sample(values: &[f64], need: usize) -> Result<(), StatsError> {
    let got = values.len();
    if got < need {
        return Err(StatsError::TooFew { need, got });
    }
    if got > MOST_VALUES {
        return Err(StatsError::TooMany { most: MOST_VALUES, got });
    }
    finite(values)
}

/// Refuses a probability that is not strictly between 0 and 1.
pub(super) fn open_unit(what: &'static str, value: f64) -> Result<(), StatsError> {
    if value > 0.0 && value < 1.0 {
        Ok(())
    } else {
        Err(StatsError::OutOfRange { what, value, range: "between 0 and 1, both excluded" })
    }
}
