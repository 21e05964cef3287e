//! Several comparisons judged together.

/// Holm's correction (1979): p-values adjusted so that the risk of any false alarm among all of them
/// stays at the level they are compared with. The smallest of m is multiplied by m, the next by m - 1
/// and so on; none falls below a smaller one's, none exceeds 1. In the order of the input. A p that is
/// not a number counts as 1.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let m = p.len();
    let mut sorted: Vec<(usize, f64)> =
        p.iter().map(|p| if p.is_nan() { 1.0 } else { *p }).enumerate().collect();
    sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut running = 0.0_f64;
    let mut adjusted: Vec<(usize, f64)> = Vec::with_capacity(m);
    for (done, (index, p)) in sorted.into_iter().enumerate() {
        let left = (m - done) as f64;
        running = running.max((p * left).min(1.0));
        adjusted.push((index, running));
    }
    adjusted.sort_by_key(|(index, _)| *index);
    adjusted.into_iter().map(|(_, p)| p).collect()
}

#[cfg(test)]
#[path = "family_tests.rs"]
mod tests;
