use super::*;
use crate::board::builtin;
use crate::sim::builtin_workload;

const MS4: u64 = 4_000_000;

fn plant(workload: &str, votes: CpufreqVotes) -> Plant {
    let board = builtin("sdm845").unwrap().unwrap();
    let workload = builtin_workload(workload).unwrap();
    Plant::new(&board, &board, workload, votes, Calibration::seed().unwrap())
}

fn run(plant: &mut Plant, steps: u64) {
    for n in 0..steps {
        plant.step(Nanos(n * MS4), Nanos((n + 1) * MS4));
    }
}

fn moved(levels: &[usize], votes: CpufreqVotes) -> f64 {
    let mut plant = plant("stream", votes);
    for (domain, level) in levels.iter().enumerate() {
        plant.set_level(domain, Level(*level));
    }
    run(&mut plant, 250);
    plant.useful_kb() / 1_048.576
}

#[test]
fn a_stream_reaches_the_seeds_two_columns() {
    // 65536 kB W/seq: 17711 MiB/s with cpufreq's votes, 4846 without.
    let (top, bottom) = (moved(&[], CpufreqVotes::All), moved(&[], CpufreqVotes::None));
    assert!((top / 17_711.0 - 1.0).abs() < 0.01, "{top}");
    assert!((bottom / 4_846.0 - 1.0).abs() < 0.01, "{bottom}");
}

#[test]
fn each_clock_alone_helps_less_than_both() {
    let bottom = moved(&[0, 0, 0], CpufreqVotes::None);
    let ddr = moved(&[4, 4, 0], CpufreqVotes::None);
    let l3 = moved(&[0, 0, 13], CpufreqVotes::None);
    let both = moved(&[4, 4, 13], CpufreqVotes::None);
    // At its lowest the memory already carries all that the seed saw it carry there.
    assert!(bottom < ddr && 0.999 * bottom < l3 && ddr < both && l3 < both);
}

#[test]
fn the_vote_integral_is_level_times_time() {
    let mut plant = plant("idle", CpufreqVotes::None);
    plant.set_level(1, Level(1));
    run(&mut plant, 500);
    // 1804000 kBps for 2 s, in force for the 10 % of two times 960 ms in which the CPUs are powered
    // and for two wake-ups of 40 ms: 0.272 s.
    assert_eq!(plant.totals()[1].vote_integral(), 490_688);
    assert_eq!(plant.totals()[1].mean_vote(), Kbps(1_804_000));
    assert_eq!(plant.totals()[2].mean(), None);
}

#[test]
fn a_poll_wakes_the_cpus_and_so_costs_votes_in_force() {
    let integral = |polled: bool| {
        let mut plant = plant("idle", CpufreqVotes::None);
        for n in 0..250 {
            if polled {
                plant.polled();
            }
            plant.step(Nanos(n * MS4), Nanos((n + 1) * MS4));
        }
        plant.totals()[1].vote_integral()
    };
    // 240 polls while asleep, 100 us each at 800000 kBps: 19200 kBps-seconds more.
    assert_eq!(integral(true) - integral(false), 19_200);
}

#[test]
fn dma_is_seen_by_the_memorys_monitor_alone() {
    let mut plant = plant("dma", CpufreqVotes::None);
    plant.set_level(1, Level(4));
    run(&mut plant, 250);
    // The change at the start costs 110 us of a second.
    let moved = plant.totals()[1].mean().unwrap();
    assert!((3_499_000..=3_500_000).contains(&moved.0), "{moved}");
    let cpu = plant.totals()[0].mean().unwrap();
    assert!(cpu < Kbps(100_000), "background only: {cpu}");
}

#[test]
fn a_change_costs_its_settling_and_its_stall() {
    let rate = |change: bool| {
        let mut plant = plant("stream", CpufreqVotes::None);
        plant.set_level(1, Level(4));
        plant.step(Nanos(0), Nanos(MS4));
        let before = plant.useful_kb();
        if change {
            plant.set_level(2, Level(13));
            plant.step(Nanos(MS4), Nanos(2 * MS4));
        }
        plant.step(Nanos(2 * MS4), Nanos(3 * MS4));
        (before, plant.useful_kb())
    };
    let (before, after) = rate(true);
    // The tick of the change lies between the old rate and the new one.
    let steady = after - before;
    assert!(steady > before && steady < 2.0 * 17_711.0 * 1_048.576 * 0.004, "{steady}");
}
