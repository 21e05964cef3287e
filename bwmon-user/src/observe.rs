//! From two neighbouring samples to what they say about each domain.

use crate::board::{Board, Level};
use crate::sample::{Reading, Sample};
use crate::units::{Kbps, Khz, Nanos};
use serde::Serialize;

/// What a monitor's reading says about the path that it measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Measured {
    /// The busiest window: what it may have carried, at most (count + 1 units). Comparable with a
    /// level's kBps in the way in which the kernel compares them.
    #[serde(rename = "peak_kBps")]
    pub peak_kbps: Kbps,
    /// The mean over the reading; known only when it is one window long.
    #[serde(rename = "mean_kBps")]
    pub mean_kbps: Option<Kbps>,
    /// Whole windows in the reading, at least 1.
    pub windows: u32,
    /// The count register was full: the true bandwidth is at least this.
    pub saturated: bool,
    /// The hardware asked for attention (the kernel's interrupt): its zone counts are done.
    pub interrupt: bool,
    /// Change of the peak since the reading before; `None` for the first.
    #[serde(rename = "trend_kBps")]
    pub trend_kbps: Option<i64>,
}

/// Everything a policy may know about one domain at one tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Observation {
    /// Time since the sample before.
    pub dt_us: u64,
    /// When the sample was taken.
    pub now: Nanos,
    /// The monitor's word; `None` when it has none this tick.
    pub measured: Option<Measured>,
    /// The level in force by our vote, as it was read back; `None` before the first.
    pub level: Option<Level>,
    /// The lowest and the highest level that the limits allow.
    pub min_level: Level,
    /// See `min_level`.
    pub max_level: Level,
    /// The highest peak vote of other consumers.
    #[serde(rename = "others_kBps")]
    pub others_kbps: Option<Kbps>,
    /// What the kernel's governor chose (in shadow).
    #[serde(rename = "kernel_kBps")]
    pub kernel_kbps: Option<Kbps>,
    /// The highest CPU frequency.
    #[serde(rename = "cpu_max_kHz")]
    pub cpu_max_khz: Option<Khz>,
    /// Time since our level last changed; `None` before the first change.
    pub since_change_us: Option<u64>,
    /// Probe events lost since the start.
    pub lost_events: Option<u64>,
}

/// What the governor knows about a domain besides the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The level in force by our vote.
    pub level: Option<Level>,
    /// When it last changed.
    pub changed_at: Option<Nanos>,
    /// The lowest level that the limits allow.
    pub min_level: Level,
    /// The highest level that the limits allow.
    pub max_level: Level,
}

/// Turns samples into observations; remembers one reading per domain.
#[derive(Debug)]
pub struct Observer {
    previous_peak: Vec<Option<Kbps>>,
    kernel: Vec<Option<Kbps>>,
    observations: Vec<Observation>,
}

impl Observer {
    /// An observer for `board`.
    pub fn new(board: &Board) -> Self {
        let domains = board.domains.len();
        Self {
            previous_peak: vec![None; domains],
            kernel: vec![None; domains],
            observations: Vec::with_capacity(domains),
        }
    }

    /// What `sample` says, one observation per domain in the board's order. `standings` has as
    /// many entries as the board has domains.
    pub fn observe(
        &mut self,
        board: &Board,
        sample: &Sample,
        standings: impl Iterator<Item = Standing>,
    ) -> &[Observation] {
        self.observations.clear();
        let now = sample.window.end_ns;
        let memory = self.previous_peak.iter_mut().zip(&mut self.kernel);
        for ((index, domain), (standing, (previous, kernel))) in
            board.domains.iter().enumerate().zip(standings.zip(memory))
        {
            let reading = domain.monitor.and_then(|monitor| sample.monitors.get(monitor));
            let monitor = board.monitor_of(domain);
            let mut measured = monitor.zip(reading).and_then(|(m, r)| measured(m, r));
            if let Some(measured) = &mut measured {
                measured.trend_kbps = previous.map(|p| measured.peak_kbps.0 as i64 - p.0 as i64);
                *previous = Some(measured.peak_kbps);
            }
            if let Some(Reading::Kernel { up_kbps, .. }) = reading {
                // The driver programs its target + 1 as the threshold for going up.
                *kernel = Some(Kbps(up_kbps.0.saturating_sub(1)));
            }
            self.observations.push(Observation {
                dt_us: now.since(sample.window.start_ns).as_us(),
                now,
                measured,
                level: standing.level,
                min_level: standing.min_level,
                max_level: standing.max_level,
                others_kbps: sample.probes.others_kbps.get(index).copied().flatten(),
                kernel_kbps: *kernel,
                cpu_max_khz: sample.probes.cpu_max_khz,
                since_change_us: standing.changed_at.map(|at| now.since(at).as_us()),
                lost_events: sample.probes.lost_events,
            });
        }
        &self.observations
    }

    /// The observations of the last tick.
    pub fn last(&self) -> &[Observation] {
        &self.observations
    }
}

fn measured(monitor: &crate::board::Monitor, reading: &Reading) -> Option<Measured> {
    match reading {
        Reading::Polled { zone_max, elapsed_ns } => {
            let window = monitor.scale.window().0.max(1);
            let windows = u32::try_from(elapsed_ns.0 / window).unwrap_or(u32::MAX).max(1);
            let peak_kbps = monitor.scale.kbps(zone_max.peak());
            Some(Measured {
                peak_kbps,
                mean_kbps: (windows == 1).then_some(peak_kbps),
                windows,
                saturated: zone_max.saturated(),
                interrupt: false,
                trend_kbps: None,
            })
        }
        Reading::Interrupt { zone, max, .. } => Some(Measured {
            peak_kbps: monitor.scale.kbps(*max),
            mean_kbps: None,
            // How many windows in its zone make the block interrupt.
            windows: if *zone == 3 { 1 } else { crate::bwmon::ZONE1_WINDOWS },
            saturated: *max >= crate::bwmon::COUNT_MAX,
            interrupt: true,
            trend_kbps: None,
        }),
        Reading::Kernel { meas_kbps, .. } => Some(Measured {
            peak_kbps: *meas_kbps,
            mean_kbps: None,
            windows: 1,
            saturated: *meas_kbps >= monitor.scale.kbps(crate::bwmon::COUNT_MAX),
            interrupt: true,
            trend_kbps: None,
        }),
        Reading::Missing(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;
    use crate::bwmon::ZoneMaxima;
    use crate::sample::{Missing, ProbeFacts, Window};

    fn sample(cpu: Reading) -> Sample {
        Sample {
            tick: 1,
            window: Window { start_ns: Nanos(4_000_000), end_ns: Nanos(8_000_000) },
            monitors: vec![cpu, Reading::Missing(Missing::NotStarted)],
            probes: ProbeFacts::default(),
        }
    }

    fn look(observer: &mut Observer, cpu: Reading) -> Vec<Observation> {
        let board = builtin("sdm845").unwrap().unwrap();
        let standing =
            Standing { level: None, changed_at: None, min_level: Level(0), max_level: Level(4) };
        observer.observe(&board, &sample(cpu), std::iter::repeat(standing)).to_vec()
    }

    fn polled(count: u16, elapsed_ms: u64) -> Reading {
        Reading::Polled {
            zone_max: ZoneMaxima([0, count, 0, 0]),
            elapsed_ns: Nanos(elapsed_ms * Nanos::PER_MS),
        }
    }

    #[test]
    fn one_window_gives_peak_and_mean_and_two_give_only_the_peak() {
        let board = builtin("sdm845").unwrap().unwrap();
        let mut observer = Observer::new(&board);
        // (99 + 1) * 64 kB * 250 windows/s = 1600000 kBps.
        let one = look(&mut observer, polled(99, 4))[0].measured.unwrap();
        assert_eq!((one.peak_kbps, one.mean_kbps), (Kbps(1_600_000), Some(Kbps(1_600_000))));
        let two = look(&mut observer, polled(199, 8))[0].measured.unwrap();
        assert_eq!((two.windows, two.mean_kbps), (2, None));
        assert_eq!(two.trend_kbps, Some(1_600_000));
    }

    #[test]
    fn a_missing_reading_is_unknown_and_so_is_a_domain_without_monitor() {
        let board = builtin("sdm845").unwrap().unwrap();
        let seen = look(&mut Observer::new(&board), Reading::Missing(Missing::NoWholeWindow));
        assert!(seen.iter().all(|o| o.measured.is_none()));
        assert_eq!(seen.len(), 3);
    }

    #[test]
    fn a_kernel_update_says_what_the_kernel_chose() {
        let board = builtin("sdm845").unwrap().unwrap();
        let mut observer = Observer::new(&board);
        let update = Reading::Kernel {
            meas_kbps: Kbps(3_216_000),
            up_kbps: Kbps(4_068_001),
            down_kbps: Kbps(3_072_000),
            updates: 1,
        };
        assert_eq!(look(&mut observer, update)[0].kernel_kbps, Some(Kbps(4_068_000)));
        // It stays chosen while nothing new is said.
        let later = look(&mut observer, Reading::Missing(Missing::NoUpdate));
        assert_eq!(later[0].kernel_kbps, Some(Kbps(4_068_000)));
    }
}
