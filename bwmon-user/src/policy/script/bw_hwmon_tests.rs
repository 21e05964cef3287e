//! `policies/bw_hwmon.rhai` against a model of its own, written from the description of the vendor's
//! governor, and against series worked out by hand.

use super::bw_hwmon_model::{MIB, Model, Tunables, Wanted};
use super::*;
use crate::board::{Level, builtin};
use crate::observe::Measured;
use crate::policy::Ask;
use crate::policy::testing::observation;
use crate::units::{Kbps, Khz, Nanos};
use proptest::prelude::*;

const SCRIPT: &str = include_str!("../../../../policies/bw_hwmon.rhai");

/// Script and model side by side.
struct Pair {
    script: ScriptPolicy,
    model: Model,
    now: Nanos,
}

impl Pair {
    fn new(tunables: Tunables) -> Self {
        let source = Source { name: "bw_hwmon".into(), text: SCRIPT.into() };
        let board = builtin("sdm845-seed").unwrap().unwrap();
        let script = ScriptPolicy::new(source, &board, &tunables.set())
            .unwrap_or_else(|fault| panic!("{fault}"));
        Self { script, model: Model::new(tunables), now: Nanos(0) }
    }

    /// What both want, which is the same.
    fn tick(&mut self, dt_us: u64, sample: Option<u64>, cpu: Option<u64>) -> Wanted {
        self.now = self.now.plus(Nanos(dt_us * Nanos::PER_US));
        let (sample, cpu) = (sample.map(Kbps), cpu.map(Khz));
        let measured = sample.map(|peak_kbps| Measured {
            peak_kbps,
            mean_kbps: None,
            windows: 1,
            saturated: false,
            interrupt: false,
            trend_kbps: None,
        });
        let obs = Observation {
            dt_us,
            now: self.now,
            measured,
            level: Some(Level(3)),
            cpu_max_khz: cpu,
            max_level: Level(7),
            ..observation()
        };
        let said = self.script.decide(&[obs], 0).unwrap_or_else(|fault| panic!("{fault}"));
        let said = match (said.ask, said.wake_kbps) {
            (Ask::Hold, None) => Wanted::Nothing,
            (Ask::Demand(demand), Some((up, down))) => {
                Wanted::Vote { demand: demand.0, up: up.0, down: down.0 }
            }
            other => panic!("{other:?}"),
        };
        let expected = self.model.tick(dt_us, sample, cpu);
        assert_eq!(said, expected);
        said
    }

    /// The demand in MiB/s after a window of samples of `mib` each.
    fn window(&mut self, mib: u64) -> u64 {
        let kbps = (u128::from(mib) * MIB / 1_000) as u64;
        for _ in 0..13 {
            if let Wanted::Vote { demand, .. } = self.tick(4_000, Some(kbps), None) {
                return (u128::from(demand) * 1_000).div_ceil(MIB) as u64;
            }
        }
        panic!("13 samples of 4 ms are a window of 50 ms");
    }
}

/// Everything at once: the request is the measurement, the demand the request.
fn plain() -> Tunables {
    Tunables { io_percent: 100, guard_band: 0, decay_rate: 100, ..Tunables::default() }
}

#[test]
fn the_first_sample_wakes_and_a_steady_one_waits_for_the_window() {
    let mut pair = Pair::new(plain());
    // 1000 MiB/s are 1048576 kBps; up at 110 % of it, never down.
    let wanted = pair.tick(4_000, Some(1_048_576), None);
    assert_eq!(wanted, Wanted::Vote { demand: 1_048_576, up: 1_153_433, down: 0 });
    // 12 ticks of 4 ms are 48 ms; the 13th is past 50 ms.
    for _ in 0..12 {
        assert_eq!(pair.tick(4_000, Some(1_048_576), None), Wanted::Nothing);
    }
    assert_ne!(pair.tick(4_000, Some(1_048_576), None), Wanted::Nothing);
}

#[test]
fn falling_is_exponential_and_rising_is_not() {
    let mut pair = Pair::new(Tunables { decay_rate: 50, ..plain() });
    assert_eq!(pair.window(2_000), 2_000);
    // Half of the way to 1000 in each window: 1500, 1250, 1125.
    assert_eq!([1_000, 1_000, 1_000].map(|mib| pair.window(mib)), [1_500, 1_250, 1_125]);
    assert_eq!(pair.window(2_000), 2_000);
}

#[test]
fn the_share_of_a_level_and_the_guard_band_come_on_top() {
    let mut pair = Pair::new(Tunables { io_percent: 50, guard_band: 100, ..plain() });
    // (1000 + 100) * 100 / 50.
    assert_eq!(pair.window(1_000), 2_200);
}

#[test]
fn a_rise_is_asked_for_on_top_and_the_zone_caps_it() {
    let zones = vec![1_500, 4_000];
    let mut pair = Pair::new(Tunables { up_scale: 250, zones: zones.clone(), ..plain() });
    // From 0: 500 + 500 * 2.5 = 1750, capped to the first zone.
    assert_eq!(pair.window(500), 1_500);
    // The request was 1500; 1700 is above 110 % of it: 1700 + 200 * 2.5 = 2200, below zone 4000.
    assert_eq!(pair.window(1_700), 2_200);
    // Beyond all zones nothing caps: 5000 + (5000 - 2200) * 2.5 = 12000.
    assert_eq!(pair.window(5_000), 12_000);
}

#[test]
fn an_over_request_stops_at_the_peak_that_is_remembered() {
    let mut pair = Pair::new(Tunables { up_scale: 250, hist_memory: 20, ..plain() });
    pair.window(3_000);
    pair.window(500);
    // 2000 + (2000 - 500) * 2.5 = 5750 is above the peak of 3000, and 2000 is below it.
    assert_eq!(pair.window(2_000), 3_000);
}

#[test]
fn a_peak_at_the_edge_of_the_tolerance_keeps_the_larger_one_in_memory() {
    let mut pair = Pair::new(Tunables { up_scale: 250, hist_memory: 2, ..plain() });
    // 3000 are 75 % of 4000: three of them would outlast two windows of memory.
    for mib in [4_000, 3_000, 3_000, 3_000, 500] {
        pair.window(mib);
    }
    // 2000 + 1500 * 2.5 = 5750, capped to 4000.
    assert_eq!(pair.window(2_000), 4_000);
}

#[test]
fn traffic_that_fills_a_zone_is_capped_to_it() {
    let mut pair = Pair::new(Tunables { up_scale: 250, zones: vec![500, 4_000], ..plain() });
    // 500 + 500 * 2.5 = 1750; the zone that carries 500 is 500.
    assert_eq!(pair.window(500), 500);
}

#[test]
fn three_like_peaks_arm_the_hysteresis_until_they_stay_away() {
    let mut pair = Pair::new(Tunables { hyst_length: 4, idle: 600, ..plain() });
    // 2000, 1900 and 1800 are within 75 % of the first: the third one arms, 4 windows from it on.
    assert_eq!([2_000, 1_900].map(|mib| pair.window(mib)), [2_000, 1_900]);
    assert_eq!(pair.window(1_800), 2_000);
    assert_eq!(pair.window(700), 2_000);
    // Idle traffic is let go, although armed.
    assert_eq!(pair.window(300), 300);
    // The peak of 1800 armed 4 windows, counted down in each: 3, 2, 1, 0.
    assert_eq!(pair.window(700), 700);
}

#[test]
fn idle_windows_are_held_as_well_if_asked_for() {
    let tunables = Tunables { hyst_length: 9, idle: 600, idle_length: 1, ..plain() };
    let mut pair = Pair::new(tunables);
    for mib in [2_000, 2_000, 2_000] {
        pair.window(mib);
    }
    assert_eq!([300, 300].map(|mib| pair.window(mib)), [2_000, 300]);
}

#[test]
fn slow_cpus_have_their_own_share() {
    let mut pair = Pair::new(Tunables { low_power: Some((25, 900_000)), ..plain() });
    let demand = |wanted: Wanted| match wanted {
        Wanted::Vote { demand, .. } => demand,
        Wanted::Nothing => panic!("the first sample wakes"),
    };
    // 100 MiB/s at a share of 25 % are 400 MiB/s.
    let slow = demand(pair.tick(4_000, Some(104_857), Some(900_000)));
    assert_eq!(slow, 419_430);
}

/// Any number of `range`, and often one of `round`: where comparisons are equal.
fn often<const N: usize>(
    round: [u64; N],
    range: std::ops::RangeInclusive<u64>,
) -> impl Strategy<Value = u64> {
    prop_oneof![prop::sample::select(round.to_vec()), range]
}

fn tunables() -> impl Strategy<Value = Tunables> {
    let window = often([8, 12, 20, 40], 8..=120);
    let io = || often([1, 50, 100], 1..=400);
    let first = (window, io(), 0u64..=2_000, 0u64..=100, 0u64..=500, 1u64..=100);
    let second = (0u64..=90, 0u64..=6, 0u64..=9, 0u64..=5, 0u64..=9, 0u64..=4, 0u64..=20);
    let zone = prop_oneof![(1u64..200).prop_map(|n| n * 100), 1u64..20_000];
    let third = (
        often([50, 75], 1..=100),
        prop::collection::vec(zone, 0..9),
        prop::option::of((io(), 500_000u64..2_000_000)),
    );
    (first, second, third).prop_map(|(a, b, c)| {
        let mut zones = c.1;
        zones.sort_unstable();
        Tunables {
            window_ms: a.0,
            io_percent: a.1,
            guard_band: a.2,
            decay_rate: a.3,
            up_scale: a.4,
            up_thres: a.5,
            down_thres: b.0,
            down_count: b.1,
            hist_memory: b.2,
            trigger_count: b.3,
            hyst_length: b.4,
            idle_length: b.5,
            idle: b.6 * 100,
            tolerance: c.0,
            zones,
            low_power: c.2,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn script_and_model_want_the_same_on_any_traffic(
        tunables in tunables(),
        traffic in prop::collection::vec(
            (
                0usize..9,
                0u64..25_000_000,
                often([4_000], 100..=20_000),
                prop::option::of(300_000u64..3_000_000),
            ),
            1..150,
        ),
    ) {
        let mut pair = Pair::new(tunables);
        let mut level = 0;
        for (kind, kbps, dt_us, cpu) in traffic {
            // Traffic that stays, jumps, trickles, or is not known.
            let sample = match kind {
                0 => None,
                1 => Some(kbps),
                2 => Some(kbps / 50),
                // Hundreds of whole MiB/s, and one kBps beyond: where comparisons are equal.
                3 => Some((u128::from(kbps % 25 * 100) * MIB / 1_000) as u64),
                4 => Some((u128::from(kbps % 25 * 100) * MIB).div_ceil(1_000) as u64 + 1),
                _ => Some(level),
            };
            level = sample.unwrap_or(level);
            pair.tick(dt_us, sample, cpu);
        }
    }
}

#[test]
fn a_sample_is_rounded_up_to_whole_mebibytes() {
    let mut pair = Pair::new(plain());
    // 1 kBps more than 1000 MiB/s counts as 1001.
    let wanted = pair.tick(4_000, Some(1_048_577), None);
    assert!(matches!(wanted, Wanted::Vote { demand: 1_049_624, .. }), "{wanted:?}");
}

fn shipped() -> ScriptPolicy {
    let source = Source { name: "bw_hwmon".into(), text: SCRIPT.into() };
    ScriptPolicy::new(source, &builtin("sdm845").unwrap().unwrap(), &[]).unwrap()
}

#[test]
fn defaults_and_ranges_are_the_vendors() {
    let policy = shipped();
    let described = Tunables::default().set();
    assert_eq!(policy.params().len(), described.len());
    for (name, value) in described {
        let param = policy.params().iter().find(|param| param.name == name).unwrap();
        let default = param.default.to_string();
        assert_eq!(default.trim_matches(['[', ']']), value, "{name}");
    }
    // window_ms and those of the 6.6 driver.
    let range = |name: &str| {
        let param = policy.params().iter().find(|param| param.name == name).unwrap();
        param.range.unwrap()
    };
    for (name, low, high) in [
        ("window_ms", 8.0, 1_000.0),
        ("io_percent", 1.0, 400.0),
        ("guard_band_MiBps", 0.0, 2_000.0),
        ("decay_rate", 0.0, 100.0),
        ("up_scale", 0.0, 500.0),
        ("up_thres", 1.0, 100.0),
        ("idle_MiBps", 0.0, 2_000.0),
    ] {
        assert_eq!(range(name), (low, high), "{name}");
    }
    for name in ["down_thres", "down_count", "hist_memory", "hyst_length", "idle_length"] {
        assert_eq!(range(name), (0.0, 90.0), "{name}");
    }
}

#[test]
fn every_preset_has_what_all_init_scripts_set_and_works() {
    let policy = shipped();
    let board = builtin("sdm845").unwrap().unwrap();
    assert_eq!(policy.presets().len(), 14);
    for preset in policy.presets() {
        let source = Source { name: "bw_hwmon".into(), text: SCRIPT.into() };
        ScriptPolicy::new(source, &board, &preset.set).unwrap();
        let value = |name: &str| {
            let found = preset.set.iter().find(|(set, _)| set == name);
            found.map(|(_, value)| value.as_str())
        };
        for (name, set) in [
            ("guard_band_MiBps", "0"),
            ("up_scale", "250"),
            ("hist_memory", "20"),
            ("idle_MiBps", "1600"),
        ] {
            assert_eq!(value(name), Some(set), "{}", preset.name);
        }
        // Peaks are held for ten windows, or let go of as soon as they fall by a fifth.
        let fall = (value("hyst_length"), value("down_thres"));
        assert!(
            [(Some("10"), None), (Some("10"), Some("30")), (Some("0"), Some("80"))].contains(&fall),
            "{}: {fall:?}",
            preset.name,
        );
        let zones = value("zones_MiBps").unwrap().split(',');
        let zones: Vec<u64> = zones.map(|zone| zone.parse().unwrap()).collect();
        assert!(zones.len() >= 4 && zones.is_sorted_by(|a, b| a < b), "{}", preset.name);
    }
}

#[test]
fn samples_wake_just_below_the_wake_level_and_not_at_it() {
    let tunables = Tunables { down_thres: 30, window_ms: 1_000, down_count: 1, ..plain() };
    let mut pair = Pair::new(tunables);
    let first = pair.tick(4_000, Some(1_048_576), None);
    // 30 % of 1000 MiB/s are 300, 314572.8 kBps.
    assert_eq!(first, Wanted::Vote { demand: 1_048_576, up: 1_153_433, down: 314_572 });
    // 314572 kBps are 299.9993 MiB/s, rounded up 300; 299 MiB/s are 313524.2 kBps, so that 313525 are
    // 300 too and 313524 are 299.
    assert_eq!(pair.tick(4_000, Some(314_572), None), Wanted::Nothing);
    assert_eq!(pair.tick(4_000, Some(313_525), None), Wanted::Nothing);
    assert_ne!(pair.tick(4_000, Some(313_524), None), Wanted::Nothing);
}

#[test]
fn a_larger_peak_starts_the_count_anew_and_any_further_one_arms_what_is_armed() {
    let mut pair = Pair::new(Tunables { hyst_length: 3, idle: 600, ..plain() });
    for mib in [2_000, 2_000, 2_000] {
        assert_eq!(pair.window(mib), 2_000);
    }
    // 3000 is the first of its kind; the hysteresis is armed still, and armed anew by it.
    assert_eq!(pair.window(3_000), 3_000);
    // Armed for 3 windows, counted down in each, its own among them: 2, 1, 0.
    assert_eq!([700, 700, 700].map(|mib| pair.window(mib)), [3_000, 700, 700]);
}
