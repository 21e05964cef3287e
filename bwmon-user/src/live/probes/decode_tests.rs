use super::*;
use proptest::prelude::*;

fn header(kind: Kind) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend((kind as u32).to_ne_bytes());
    bytes.extend(3u32.to_ne_bytes());
    bytes.extend(123_456_789u64.to_ne_bytes());
    bytes.extend(4_242u32.to_ne_bytes());
    bytes.extend(0u32.to_ne_bytes());
    // What lies behind the NUL is stale.
    bytes.extend(b"sh\0ale rubbish!!");
    bytes
}

/// A name as the probes leave it: what lies behind its length is stale.
fn name(text: &str, flags: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend((text.len() as u32).to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend(text.as_bytes());
    bytes.resize(8 + NAME_BYTES, b'~');
    bytes
}

fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_ne_bytes()).collect()
}

#[test]
fn a_vote_is_read_back() {
    let bytes = [
        header(Kind::IccSetBw),
        words(&[1, 4_068_000, 2, u32::MAX]),
        name("acm_l3-qns_llcc", 0),
        name("1436400.pmu", 0),
        name("qns_gnoc_memnoc", 0),
    ]
    .concat();
    let record = decode(&bytes).unwrap();
    assert_eq!((record.t_ns, record.cpu), (Nanos(123_456_789), 3));
    assert_eq!(record.by, Some(Writer { pid: 4_242, comm: "sh".into() }));
    let wanted = ProbeEvent::IccSetBw {
        path: "acm_l3-qns_llcc".into(),
        dev: "1436400.pmu".into(),
        node: "qns_gnoc_memnoc".into(),
        avg_kbps: Kbps(1),
        peak_kbps: Kbps(4_068_000),
        node_avg_kbps: Kbps(2),
        node_peak_kbps: Kbps(u64::from(u32::MAX)),
    };
    assert_eq!(record.event, wanted);
}

#[test]
fn a_failed_vote_keeps_its_sign_and_names_say_what_they_are() {
    let long = "n".repeat(NAME_BYTES - 1);
    let bytes = [
        header(Kind::IccSetBwEnd),
        words(&[(-22i32).cast_unsigned(), 0]),
        name(&long, Name::TRUNCATED),
        name("", Name::UNREADABLE),
    ]
    .concat();
    let ProbeEvent::IccSetBwEnd { path, dev, ret } = decode(&bytes).unwrap().event else {
        panic!("another event");
    };
    assert_eq!(ret, -22);
    assert_eq!(path, format!("{long}{CUT_MARK}"));
    assert_eq!(dev, UNREADABLE);
}

#[test]
fn every_kind_has_its_size() {
    for kind in Kind::ALL {
        let mut bytes = header(kind);
        bytes.resize(size(kind), 0);
        let record = decode(&bytes).unwrap();
        assert_eq!(
            record.event.tracepoint(),
            format!("{}:{}", kind.group(), kind.event()),
            "the agent's name of an event is the kernel's"
        );
        bytes.push(0);
        let got = size(kind) + 1;
        assert_eq!(decode(&bytes), Err(DecodeError::Size { wanted: size(kind), got }));
    }
}

#[test]
fn the_idle_task_is_nobody_and_a_name_may_be_any_bytes() {
    let mut bytes = [header(Kind::CpuFrequency), words(&[1, 2])].concat();
    bytes[24..40].fill(0xff);
    let by = decode(&bytes).unwrap().by.unwrap();
    assert_eq!(by.comm.chars().count(), 16);
    bytes[16..20].fill(0);
    assert_eq!(decode(&bytes).unwrap().by, None);
}

#[test]
fn foreign_bytes_are_errors() {
    assert_eq!(decode(&[]), Err(DecodeError::Size { wanted: 40, got: 0 }));
    assert_eq!(decode(&words(&[99; 10])), Err(DecodeError::Kind(99)));
    let mut bytes = [header(Kind::BwmonUpdate), words(&[1, 2, 3, 0]), name("m", 0)].concat();
    let at = offset_of!(BwmonUpdate, name);
    bytes[at..at + 4].copy_from_slice(&49u32.to_ne_bytes());
    assert_eq!(decode(&bytes), Err(DecodeError::NameLength(49)));
}

proptest! {
    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        let _ = decode(&bytes);
    }

    #[test]
    fn any_bytes_under_a_true_header_are_answered(
        row in 0..Kind::COUNT,
        tail in prop::collection::vec(any::<u8>(), 208..209),
    ) {
        let kind = Kind::ALL[row];
        let mut bytes = header(kind);
        bytes.extend(&tail[..size(kind) - bytes.len()]);
        let answer = decode(&bytes);
        prop_assert!(matches!(answer, Ok(_) | Err(DecodeError::NameLength(_))), "{answer:?}");
    }

    #[test]
    fn numbers_and_names_survive(
        numbers in prop::array::uniform3(any::<u32>()),
        text in "[a-z0-9_.@:-]{0,47}",
    ) {
        let [meas, up, down] = numbers;
        let bytes =
            [header(Kind::BwmonUpdate), words(&[meas, up, down, 0]), name(&text, 0)].concat();
        let kbps = |n: u32| Kbps(u64::from(n));
        let wanted = ProbeEvent::BwmonUpdate {
            name: text, meas_kbps: kbps(meas), up_kbps: kbps(up), down_kbps: kbps(down),
        };
        prop_assert_eq!(decode(&bytes).unwrap().event, wanted);
    }
}
