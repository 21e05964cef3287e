//! A model of the vendor's bw_hwmon governor, written from its description (decision per window or
//! wake; history, zones, over-request, hysteresis, decay), for the tests of the script.

use crate::units::{Kbps, Khz};

/// Bytes of a MB there.
pub(super) const MIB: u128 = 1 << 20;

/// The tunables, in the vendor's units.
#[derive(Clone, Debug)]
pub(super) struct Tunables {
    pub(super) window_ms: u64,
    pub(super) io_percent: u64,
    pub(super) guard_band: u64,
    pub(super) decay_rate: u64,
    pub(super) up_scale: u64,
    pub(super) up_thres: u64,
    pub(super) down_thres: u64,
    pub(super) down_count: u64,
    pub(super) hist_memory: u64,
    pub(super) trigger_count: u64,
    pub(super) hyst_length: u64,
    pub(super) idle_length: u64,
    pub(super) idle: u64,
    pub(super) tolerance: u64,
    pub(super) zones: Vec<u64>,
    pub(super) low_power: Option<(u64, u64)>,
}

impl Default for Tunables {
    fn default() -> Self {
        Self {
            window_ms: 50,
            io_percent: 16,
            guard_band: 100,
            decay_rate: 90,
            up_scale: 0,
            up_thres: 10,
            down_thres: 0,
            down_count: 3,
            hist_memory: 0,
            trigger_count: 3,
            hyst_length: 0,
            idle_length: 0,
            idle: 400,
            tolerance: 75,
            zones: Vec::new(),
            low_power: None,
        }
    }
}

impl Tunables {
    pub(super) fn set(&self) -> Vec<(String, String)> {
        let zones: Vec<String> = self.zones.iter().map(u64::to_string).collect();
        let (io, khz) = self.low_power.unwrap_or((0, 0));
        [
            ("window_ms", self.window_ms),
            ("io_percent", self.io_percent),
            ("guard_band_MiBps", self.guard_band),
            ("decay_rate", self.decay_rate),
            ("up_scale", self.up_scale),
            ("up_thres", self.up_thres),
            ("down_thres", self.down_thres),
            ("down_count", self.down_count),
            ("hist_memory", self.hist_memory),
            ("hyst_trigger_count", self.trigger_count),
            ("hyst_length", self.hyst_length),
            ("idle_length", self.idle_length),
            ("idle_MiBps", self.idle),
            ("peak_tol_pct", self.tolerance),
            ("low_power_io_percent", io),
            ("low_power_max_kHz", khz),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_string()))
        .chain([("zones_MiBps".to_owned(), zones.join(","))])
        .collect()
    }
}

/// A value that is remembered for some windows.
#[derive(Default)]
struct Remembered {
    value: u64,
    windows: u64,
}

/// The governor. All bandwidths are MiB/s, of which the hardware reports whole ones, rounded up.
pub(super) struct Model {
    tunables: Tunables,
    since_decision_us: u64,
    largest_sample: u64,
    low_samples: u64,
    wake_above: u64,
    wake_below: u64,
    last_request: u64,
    last_vote: u64,
    history: Remembered,
    /// The peak that the hysteresis is about, with its trigger window.
    recurring: Remembered,
    recurrences: u64,
    armed_windows: u64,
    idle_windows: u64,
}

#[derive(Debug, PartialEq)]
pub(super) enum Wanted {
    Nothing,
    Vote { demand: u64, up: u64, down: u64 },
}

impl Model {
    pub(super) fn new(tunables: Tunables) -> Self {
        Self {
            tunables,
            since_decision_us: 0,
            largest_sample: 0,
            low_samples: 0,
            wake_above: 0,
            wake_below: 0,
            last_request: 0,
            last_vote: 0,
            history: Remembered::default(),
            recurring: Remembered::default(),
            recurrences: 0,
            armed_windows: 0,
            idle_windows: 0,
        }
    }

    pub(super) fn tick(&mut self, dt_us: u64, sample: Option<Kbps>, cpu: Option<Khz>) -> Wanted {
        self.since_decision_us += dt_us;
        let Some(sample) = sample else { return Wanted::Nothing };
        let sample = (u128::from(sample.0) * 1_000).div_ceil(MIB) as u64;
        self.largest_sample = self.largest_sample.max(sample);
        let rises = sample > self.wake_above;
        let low = sample < self.wake_below && !rises;
        if !rises {
            self.low_samples = if low { self.low_samples + 1 } else { 0 };
        }
        let sinks = low && self.low_samples >= self.tunables.down_count;
        if rises || sinks || self.since_decision_us >= self.tunables.window_ms * 1_000 {
            self.since_decision_us = 0;
            self.low_samples = 0;
            let measured = std::mem::take(&mut self.largest_sample);
            return self.decide(measured, rises, cpu);
        }
        Wanted::Nothing
    }

    fn decide(&mut self, measured: u64, woken_up: bool, cpu: Option<Khz>) -> Wanted {
        let t = self.tunables.clone();
        let io_percent = match (t.low_power, cpu) {
            (Some((io, most)), Some(khz)) if io > 0 && khz.0 <= most => io,
            _ => t.io_percent,
        };
        self.remember(measured);
        let mut request = measured;
        if woken_up {
            let rise = measured - self.last_request;
            request = measured + rise * t.up_scale / 100;
            if request > self.history.value && measured < self.history.value {
                request = self.history.value;
            }
            let scaled = measured * 100 / io_percent;
            if let Some(zone) = t.zones.iter().find(|zone| **zone >= scaled) {
                request = request.min((zone * io_percent / 100).max(measured));
            }
        }
        if t.hyst_length > 0 && self.holds(measured) {
            request = request.max(self.recurring.value);
        }
        let quiet = measured < 500;
        self.wake_above =
            (if quiet { request.max(500) } else { request }) * (100 + t.up_thres) / 100;
        self.wake_below = if quiet { 0 } else { measured * t.down_thres / 100 };
        self.last_request = request;
        let wish = request + t.guard_band;
        self.last_vote = match wish < self.last_vote {
            true => (wish * t.decay_rate + self.last_vote * (100 - t.decay_rate)) / 100,
            false => wish,
        };
        let kbps = |mib: u64| (u128::from(mib) * MIB / 1_000) as u64;
        Wanted::Vote {
            demand: kbps(self.last_vote * 100 / io_percent),
            up: kbps(self.wake_above),
            down: kbps(self.wake_below),
        }
    }

    fn remember(&mut self, measured: u64) {
        let t = &self.tunables;
        let history = &mut self.history;
        let expired = history.windows == 0;
        if expired || measured >= history.value {
            *history = Remembered { value: measured, windows: t.hist_memory };
        } else if measured * 100 >= history.value * t.tolerance {
            history.windows = t.hist_memory;
        } else {
            history.windows -= 1;
        }
    }

    /// Whether the hysteresis holds the request up in this window.
    fn holds(&mut self, measured: u64) -> bool {
        let t = &self.tunables;
        if measured > 500 {
            if measured > self.recurring.value {
                self.recurring = Remembered { value: measured, windows: t.hyst_length };
                self.recurrences = 0;
            }
            if measured * 100 >= self.recurring.value * t.tolerance {
                self.recurrences += 1;
                if self.armed_windows > 0 || self.recurrences >= t.trigger_count {
                    self.armed_windows = t.hyst_length;
                }
            }
        }
        self.recurring.windows = self.recurring.windows.saturating_sub(1);
        self.armed_windows = self.armed_windows.saturating_sub(1);
        if self.armed_windows == 0 {
            if self.recurring.windows == 0 {
                self.recurring.value = 0;
                self.recurrences = 0;
            }
            return false;
        }
        if measured > t.idle {
            self.idle_windows = t.idle_length;
            return true;
        }
        let holds = self.idle_windows > 0;
        self.idle_windows = self.idle_windows.saturating_sub(1);
        holds
    }
}
