//! Waiting for a condition, never for a time.

use anyhow::{Result, bail};
use std::time::{Duration, Instant};

/// How long to leave the processor to others between two looks at a condition.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// Looks until `look` finds something; an error that names `what` once `limit` has passed.
pub(crate) fn until<T>(
    what: &str,
    limit: Duration,
    mut look: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    let start = Instant::now();
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        if start.elapsed() > limit {
            bail!("waited {:.1} s in vain for {what}", limit.as_secs_f64());
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}
