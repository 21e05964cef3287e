use super::*;
use proptest::prelude::*;

/// A format text as tracefs writes it, around these field lines.
fn text(name: &str, fields: &[(&str, u32, u32, u32)]) -> String {
    let mut all = vec![
        ("unsigned short common_type", 0, 2, 0),
        ("unsigned char common_flags", 2, 1, 0),
        ("unsigned char common_preempt_count", 3, 1, 0),
        ("int common_pid", 4, 4, 1),
    ];
    all.extend_from_slice(fields);
    let mut text = format!("name: {name}\nID: 565\nformat:\n");
    for (at, (what, offset, size, signed)) in all.into_iter().enumerate() {
        if at == 4 {
            text.push('\n');
        }
        text += &format!("\tfield:{what};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n");
    }
    text + "\nprint fmt: \"field:none of these; %s\", __get_str(dev)\n"
}

/// The six events, as their trace headers declare them on a 64-bit kernel.
fn kernel_text(kind: Kind) -> String {
    let dl = |n| format!("__data_loc char[] {n}");
    let (path, dev, node, dev_name, name) =
        (dl("path_name"), dl("dev"), dl("node_name"), dl("dev_name"), dl("name"));
    match kind {
        Kind::IccSetBw => text(
            "icc_set_bw",
            &[
                (&path, 8, 4, 0),
                (&dev, 12, 4, 0),
                (&node, 16, 4, 0),
                ("u32 avg_bw", 20, 4, 0),
                ("u32 peak_bw", 24, 4, 0),
                ("u32 node_avg_bw", 28, 4, 0),
                ("u32 node_peak_bw", 32, 4, 0),
            ],
        ),
        Kind::IccSetBwEnd => {
            text("icc_set_bw_end", &[(&path, 8, 4, 0), (&dev, 12, 4, 0), ("int ret", 16, 4, 1)])
        }
        Kind::DevfreqFrequency => text(
            "devfreq_frequency",
            &[
                (&dev_name, 8, 4, 0),
                ("unsigned long freq", 16, 8, 0),
                ("unsigned long prev_freq", 24, 8, 0),
                ("unsigned long busy_time", 32, 8, 0),
                ("unsigned long total_time", 40, 8, 0),
            ],
        ),
        Kind::DevfreqMonitor => text(
            "devfreq_monitor",
            &[
                ("unsigned long freq", 8, 8, 0),
                ("unsigned long busy_time", 16, 8, 0),
                ("unsigned long total_time", 24, 8, 0),
                ("unsigned int polling_ms", 32, 4, 0),
                (&dev_name, 36, 4, 0),
            ],
        ),
        Kind::BwmonUpdate => text(
            "qcom_bwmon_update",
            &[
                (&name, 8, 4, 0),
                ("unsigned int meas_kbps", 12, 4, 0),
                ("unsigned int up_kbps", 16, 4, 0),
                ("unsigned int down_kbps", 20, 4, 0),
            ],
        ),
        Kind::CpuFrequency => {
            text("cpu_frequency", &[("u32 state", 8, 4, 0), ("u32 cpu_id", 12, 4, 0)])
        }
    }
}

fn row(kind: Kind, text: &str) -> Result<[u32; MAX_FIELDS], LayoutError> {
    offsets_row(kind, &parse(text).unwrap(), |name| name)
}

#[test]
fn the_six_events_are_understood() {
    let rows = Kind::ALL.map(|kind| row(kind, &kernel_text(kind)).unwrap());
    assert_eq!(
        rows,
        [
            [8, 12, 16, 20, 24, 28, 32],
            [8, 12, 16, 0, 0, 0, 0],
            [8, 16, 24, 0, 0, 0, 0],
            [36, 8, 16, 24, 32, 0, 0],
            [8, 12, 16, 20, 0, 0, 0],
            [8, 12, 0, 0, 0, 0, 0],
        ]
    );
}

#[test]
fn declarations_are_taken_apart() {
    let parsed = parse(&text(
        "x",
        &[("char comm[16]", 8, 16, 0), ("void *work", 24, 8, 0), ("__rel_loc char[] s", 32, 4, 0)],
    ))
    .unwrap();
    let seen: Vec<_> =
        parsed.fields.iter().skip(4).map(|f| (f.name.as_str(), f.location)).collect();
    let wanted = [("comm", Location::Array), ("work", Location::Plain), ("s", Location::RelLoc)];
    assert_eq!(seen, wanted);
    assert_eq!(parsed.fields.len(), 7, "the print format's text is no field");
    assert!(parsed.fields[3].signed && !parsed.fields[3].is_data_loc());
}

#[test]
fn another_layout_is_refused_by_name() {
    let missing = text("cpu_frequency", &[("u32 state", 8, 4, 0)]);
    assert_eq!(row(Kind::CpuFrequency, &missing), Err(LayoutError::Missing("cpu_id".into())));
    // A 32-bit kernel's unsigned long.
    let narrow = text(
        "devfreq_frequency",
        &[
            ("__data_loc char[] dev_name", 8, 4, 0),
            ("unsigned long freq", 12, 4, 0),
            ("unsigned long prev_freq", 16, 4, 0),
        ],
    );
    let error = row(Kind::DevfreqFrequency, &narrow).unwrap_err();
    assert!(error.to_string().contains("`freq` has 4 bytes as Plain"), "{error}");
    let inline = text("qcom_bwmon_update", &[("char name[4]", 8, 4, 0)]);
    assert!(matches!(
        row(Kind::BwmonUpdate, &inline),
        Err(LayoutError::OtherType { location: Location::Array, .. })
    ));
}

#[test]
fn nonsense_is_an_error_with_its_line() {
    let hostile = [
        ("", 0),
        ("name: x\n", 1),
        ("\tfield:u32 a;\toffset:x;\tsize:4;\tsigned:0;", 1),
        ("\n\tfield:u32 a;\toffset:-8;\tsize:4;\tsigned:0;", 2),
        ("\tfield:u32 a;\toffset:8;\tsize:99999999999;\tsigned:0;", 1),
        ("\tfield:u32 a;\toffset:4294967295;\tsize:4;\tsigned:0;", 1),
        ("\tfield:u32 a;\toffset:65532;\tsize:8;\tsigned:0;", 1),
        ("\tfield:u32 a;\toffset:8;\tsize:4;", 1),
        ("\tfield:u32 a", 1),
        ("\tfield:nameless;\toffset:8;\tsize:4;\tsigned:0;", 1),
        ("\tfield:int [];\toffset:8;\tsize:4;\tsigned:0;", 1),
        ("\tfield:;;;;", 1),
    ];
    for (text, line) in hostile {
        assert_eq!(parse(text).unwrap_err().line, line, "{text:?}");
    }
}

proptest! {
    #[test]
    fn any_text_is_answered(text in "(\\PC|\n|\t|;|field:|offset:|size:|signed:|[0-9]){0,200}") {
        let _ = parse(&text);
    }
}
