//! Small agendas for tests.

use super::agenda::{
    Agenda, Better, Compare, From, Judging, Limits, Measure, ModelMeasure, Place, Rig, Subject,
    SubjectKind, Workload, WorkloadKind,
};

/// So many subjects `s0`…, workloads `w0`… and blocks; one measure, `rate`, higher is better, 1 %.
pub(crate) fn agenda(subjects: usize, workloads: usize, blocks: u32) -> Agenda {
    let subject = |n| Subject {
        name: format!("s{n}"),
        kind: SubjectKind::None,
        board: None,
        cpufreq_votes: None,
        period_us: None,
    };
    let traffic = "frames".to_owned();
    let workload = |n| Workload {
        name: format!("w{n}"),
        kind: WorkloadKind::Simulated { traffic: traffic.clone(), duration_ms: Some(100) },
    };
    Agenda {
        name: "test".to_owned(),
        what: "a test".to_owned(),
        seed: 1,
        blocks,
        place: Place::Simulator,
        board: None,
        period_us: 4_000,
        settle_ms: 0,
        max_retries: 2,
        judging: Judging { confidence_pct: 95.0, smallest_effect_pct: 1.0 },
        rig: Rig::default(),
        limits: Limits::default(),
        subjects: (0..subjects).map(subject).collect(),
        workloads: (0..workloads).map(workload).collect(),
        measures: vec![Measure {
            name: "rate".to_owned(),
            unit: "kBps".to_owned(),
            from: From::Model { what: ModelMeasure::ThroughputKbps, domain: None },
            better: Better::Higher,
            primary: true,
            compare: Compare::Ratio { smallest_effect_pct: 1.0 },
        }],
    }
}
