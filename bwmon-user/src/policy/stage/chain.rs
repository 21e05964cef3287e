//! A rule in one line: `chain:peak | headroom(80) | hold_down(24)`. The stages are the helpers of
//! scripts, without a script around them: no allocation, nothing that can hang.

use super::{Ewma, HoldDown, PeakHold, Slew, Window, headroom};
use crate::board::Board;
use crate::diag::did_you_mean;
use crate::observe::Observation;
use crate::policy::{Ask, Policy, PolicyFault, Proposal};
use crate::units::{Kbps, Nanos};

/// What the name of a chain begins with.
pub const PREFIX: &str = "chain:";

/// The stages: name, names of the arguments, what they do with the value.
pub const STAGES: &[(&str, &[&str], &str)] = &[
    ("peak", &[], "the busiest window; every chain begins with it"),
    ("others", &[], "at least the highest vote of the path's other consumers, where it is known"),
    ("ewma", &["pct"], "exponential average, pct the weight of the new value"),
    ("ewma_up", &["pct"], "the same, but rises at once"),
    ("peak_hold", &["ms"], "the largest of the last ms milliseconds"),
    ("hold_down", &["ms"], "rises at once, falls after ms milliseconds below"),
    ("average", &["n"], "mean of the last n values"),
    ("percentile", &["n", "pct"], "percentile of the last n values"),
    ("slew", &["up_per_ms", "down_per_ms"], "bounded slope in kBps per millisecond; 0 is no bound"),
    ("headroom", &["pct"], "so much that the value uses pct percent of it"),
    ("at_least", &["kBps"], "no less than this"),
    ("at_most", &["kBps"], "no more than this"),
];

/// A chain that is not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ChainError(String);

#[derive(Clone, Debug)]
enum Stage {
    Others,
    Ewma(Ewma, i64),
    EwmaUp(Ewma, i64),
    PeakHold(PeakHold, i64),
    HoldDown(HoldDown, i64),
    Average(Window, usize),
    Percentile(Window, usize, i64),
    Slew(Slew, i64, i64),
    Headroom(i64),
    AtLeast(i64),
    AtMost(i64),
}

/// A chain of stages for every domain of a board.
#[derive(Clone, Debug)]
pub struct Chain {
    text: String,
    fresh: Vec<Stage>,
    domains: Vec<Vec<Stage>>,
}

impl Chain {
    /// The chain `text` (without or with its prefix) for `board`.
    ///
    /// # Errors
    /// The stage that is not understood, and what would be.
    pub fn new(text: &str, board: &Board) -> Result<Self, ChainError> {
        let stages = parse(text.strip_prefix(PREFIX).unwrap_or(text))?;
        let domains = board.domains.iter().map(|_| stages.clone()).collect();
        Ok(Self { text: text.to_owned(), fresh: stages, domains })
    }
}

impl Policy for Chain {
    fn name(&self) -> &str {
        &self.text
    }

    fn decide(&mut self, all: &[Observation], domain: usize) -> Result<Proposal, PolicyFault> {
        let (Some(obs), Some(stages)) = (all.get(domain), self.domains.get_mut(domain)) else {
            return Ok(Proposal::new(Ask::Hold, "no such domain"));
        };
        let Some(measured) = obs.measured else {
            return Ok(Proposal::new(Ask::Hold, "no reading"));
        };
        let peak = super::tame(i64::try_from(measured.peak_kbps.0).unwrap_or(i64::MAX));
        let demand = stages.iter_mut().fold(peak, |value, stage| stage.step(value, obs, obs.now));
        let demand = Kbps(u64::try_from(demand).unwrap_or(0));
        Ok(Proposal::new(Ask::Demand(demand), "chain"))
    }

    fn reset(&mut self, domain: usize) {
        if let Some(stages) = self.domains.get_mut(domain) {
            stages.clone_from(&self.fresh);
        }
    }
}

impl Stage {
    fn step(&mut self, x: i64, obs: &Observation, now: Nanos) -> i64 {
        match self {
            Self::Others => {
                let others = obs.others_kbps.map(|k| i64::try_from(k.0).unwrap_or(i64::MAX));
                others.map_or(x, |others| x.max(others))
            }
            Self::Ewma(ewma, pct) => ewma.step(x, *pct),
            Self::EwmaUp(ewma, pct) => ewma.step_up(x, *pct),
            Self::PeakHold(peak, ms) => peak.step(now, x, *ms),
            Self::HoldDown(hold, ms) => hold.step(now, x, *ms),
            Self::Average(window, n) => {
                window.push(x, *n);
                window.average()
            }
            Self::Percentile(window, n, pct) => {
                window.push(x, *n);
                window.percentile(*pct)
            }
            Self::Slew(slew, up, down) => slew.step(now, x, *up, *down),
            // Checked when it was parsed; a value beyond what fits asks for the highest level.
            Self::Headroom(pct) => headroom(x, *pct).unwrap_or(x),
            Self::AtLeast(low) => x.max(*low),
            Self::AtMost(high) => x.min(*high),
        }
    }
}

fn parse(text: &str) -> Result<Vec<Stage>, ChainError> {
    let mut parts = text.split('|').map(str::trim);
    match parts.next() {
        Some("peak") => {}
        first => {
            return Err(ChainError(format!(
                "a chain begins with `peak`, not with `{}`: chain:peak | headroom(80)",
                first.unwrap_or("")
            )));
        }
    }
    parts.map(stage).collect()
}

fn stage(text: &str) -> Result<Stage, ChainError> {
    let (name, arguments) = match text.split_once('(') {
        None => (text, ""),
        Some((name, rest)) => {
            let inner = rest.strip_suffix(')');
            (name, inner.ok_or_else(|| ChainError(format!("`{text}` does not end in `)`")))?)
        }
    };
    let name = name.trim();
    let Some((_, wanted, _)) = STAGES.iter().skip(1).find(|(known, ..)| *known == name) else {
        let names = || STAGES.iter().skip(1).map(|(known, ..)| *known);
        return Err(ChainError(match did_you_mean(name, names()) {
            Some(near) => format!("there is no stage `{name}`; did you mean `{near}`?"),
            None => format!(
                "there is no stage `{name}`; there are {}",
                names().collect::<Vec<_>>().join(", ")
            ),
        }));
    };
    let given: Vec<&str> =
        arguments.split(',').map(str::trim).filter(|text| !text.is_empty()).collect();
    if given.len() != wanted.len() {
        return Err(ChainError(format!(
            "`{text}` has {} arguments; write {name}({})",
            given.len(),
            wanted.join(", ")
        )));
    }
    let number = |index: usize| -> Result<i64, ChainError> {
        let (text, name) = (given.get(index).copied(), wanted.get(index).copied());
        let (text, name) = (text.unwrap_or(""), name.unwrap_or(""));
        let (low, high) = match name {
            "pct" => (1, 100),
            "n" => (1, super::MOST_VALUES as i64),
            _ => (0, super::LARGEST),
        };
        let value = text.replace('_', "").parse::<i64>().ok();
        value.filter(|value| (low..=high).contains(value)).ok_or_else(|| {
            ChainError(format!("`{text}` is no {name}: a whole number from {low} to {high}"))
        })
    };
    Ok(match name {
        "others" => Stage::Others,
        "ewma" => Stage::Ewma(Ewma::default(), number(0)?),
        "ewma_up" => Stage::EwmaUp(Ewma::default(), number(0)?),
        "peak_hold" => Stage::PeakHold(PeakHold::default(), number(0)?),
        "hold_down" => Stage::HoldDown(HoldDown::default(), number(0)?),
        "average" => Stage::Average(Window::default(), number(0)? as usize),
        "percentile" => Stage::Percentile(Window::default(), number(0)? as usize, number(1)?),
        "slew" => Stage::Slew(Slew::default(), number(0)?, number(1)?),
        "headroom" => Stage::Headroom(number(0)?),
        "at_least" => Stage::AtLeast(number(0)?),
        _ => Stage::AtMost(number(0)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;
    use crate::observe::Measured;
    use crate::policy::testing::observation;
    use proptest::prelude::*;

    fn chain(text: &str) -> Result<Chain, String> {
        Chain::new(text, &builtin("sdm845-seed").unwrap().unwrap()).map_err(|e| e.to_string())
    }

    fn seen(peak: u64, now_ms: u64) -> Vec<Observation> {
        let measured = Measured {
            peak_kbps: Kbps(peak),
            mean_kbps: None,
            windows: 1,
            saturated: false,
            interrupt: false,
            trend_kbps: None,
        };
        let now = Nanos(now_ms * Nanos::PER_MS);
        vec![Observation { measured: Some(measured), now, ..observation() }]
    }

    fn demand(chain: &mut Chain, peak: u64, now_ms: u64) -> u64 {
        match chain.decide(&seen(peak, now_ms), 0).unwrap().ask {
            Ask::Demand(kbps) => kbps.0,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn stages_are_walked_from_left_to_right() {
        let mut chain = chain("chain:peak | headroom(80) | hold_down(8)").unwrap();
        // 800000 * 100 / 80 = 1000000, held while less is seen for less than 8 ms.
        assert_eq!(demand(&mut chain, 800_000, 0), 1_000_000);
        assert_eq!(demand(&mut chain, 80_000, 4), 1_000_000);
        assert_eq!(demand(&mut chain, 80_000, 12), 100_000);
        chain.reset(0);
        assert_eq!(demand(&mut chain, 40_000, 16), 50_000);
        assert_eq!(chain.decide(&[observation()], 0).unwrap().ask, Ask::Hold);
    }

    #[test]
    fn every_stage_that_is_documented_is_understood() {
        for (name, arguments, _) in &STAGES[1..] {
            let arguments = vec!["50"; arguments.len()].join(", ");
            let text = format!("chain:peak | {name}({arguments})");
            let mut chain = chain(&text).unwrap();
            assert!(demand(&mut chain, 30, 0) >= 30, "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_named_with_a_way_out() {
        for (text, said) in [
            ("chain:", "begins with `peak`"),
            ("chain:headroom(80)", "begins with `peak`"),
            ("chain:peak | headrom(80)", "did you mean `headroom`?"),
            ("chain:peak | xyzzy", "there are others"),
            ("chain:peak | headroom", "write headroom(pct)"),
            ("chain:peak | headroom(0)", "from 1 to 100"),
            ("chain:peak | headroom(80", "does not end in"),
            ("chain:peak | average(65)", "from 1 to 64"),
            ("chain:peak | slew(1)", "write slew(up_per_ms, down_per_ms)"),
        ] {
            let error = chain(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_chain_or_an_error(text in "\\PC{0,80}") {
            let _ = chain(&format!("chain:peak | {text}"));
        }

        #[test]
        fn any_chain_takes_any_peak(peaks in prop::collection::vec(any::<u64>(), 1..40)) {
            let mut chain = chain(
                "chain:peak | ewma_up(20) | peak_hold(9) | percentile(9, 80) | slew(0, 9) | headroom(70)",
            ).unwrap();
            for (n, peak) in peaks.into_iter().enumerate() {
                demand(&mut chain, peak, n as u64);
            }
        }
    }
}
