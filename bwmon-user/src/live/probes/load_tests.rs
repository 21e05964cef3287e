use super::*;
use aya::sys::SyscallError;

fn verdict(errno: i32, log: &str) -> ProbeError {
    rejected(Kind::IccSetBw, "load the probe", io::Error::from_raw_os_error(errno), log)
}

const EPERM: i32 = 1;
const EACCES: i32 = 13;
const EINVAL: i32 = 22;

#[test]
fn a_refusal_names_the_capability() {
    let error = verdict(EPERM, "");
    assert!(matches!(error, ProbeError::Permission { .. }));
    assert!(error.to_string().contains("CAP_BPF"), "{error}");
    let error = program_error(
        Kind::IccSetBw,
        "attach to a:b",
        ProgramError::SyscallError(SyscallError {
            call: "perf_event_open_trace_point",
            io_error: io::Error::from_raw_os_error(EACCES),
        }),
    );
    assert_eq!(
        error.to_string(),
        "no permission to attach to a:b: run as root, or grant CAP_BPF and CAP_PERFMON"
    );
}

#[test]
fn a_rejection_shows_the_log_s_end() {
    let log: String = (0..40).map(|n| format!("line {n}\n")).collect();
    let error = verdict(EACCES, &log).to_string();
    assert!(error.contains("`icc_set_bw`") && error.ends_with("line 39"), "{error}");
    assert!(error.contains("line 28") && !error.contains("line 27"), "{error}");
}

#[test]
fn lockdown_is_told_from_a_rejection() {
    let says = "program of this type cannot use helper bpf_probe_read_kernel#113";
    assert!(matches!(verdict(EINVAL, says), ProbeError::Lockdown));
    assert!(matches!(verdict(EINVAL, "R1 invalid"), ProbeError::Verifier { .. }));
}

#[test]
fn the_absent_say_what_is_lost() {
    for kind in Kind::ALL {
        let event = StandIn { group: kind.group(), event: kind.event(), fields: &[] };
        let gone = missing(kind, event, "why".into());
        assert!(!gone.lost.is_empty() && gone.why.starts_with("why"));
    }
}
