use super::*;
use crate::board::builtin;

/// A field of a message, read by another hand than the writer's.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Number(u64),
    Bytes(Vec<u8>),
}

fn varint(bytes: &[u8], at: &mut usize) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return value;
        }
    }
}

fn fields(bytes: &[u8]) -> Vec<(u64, Value)> {
    let (mut at, mut found) = (0, Vec::new());
    while at < bytes.len() {
        let key = varint(bytes, &mut at);
        let value = match key & 7 {
            0 => Value::Number(varint(bytes, &mut at)),
            2 => {
                let length = varint(bytes, &mut at) as usize;
                at += length;
                Value::Bytes(bytes[at - length..at].to_vec())
            }
            other => panic!("wire type {other}"),
        };
        found.push((key >> 3, value));
    }
    assert_eq!(at, bytes.len());
    found
}

fn number(message: &[(u64, Value)], field: u64) -> Option<u64> {
    message.iter().find_map(|(f, value)| match value {
        Value::Number(n) if *f == field => Some(*n),
        _ => None,
    })
}

fn inner(message: &[(u64, Value)], field: u64) -> Option<Vec<(u64, Value)>> {
    message.iter().find_map(|(f, value)| match value {
        Value::Bytes(bytes) if *f == field => Some(fields(bytes)),
        _ => None,
    })
}

fn text(message: &[(u64, Value)], field: u64) -> Option<String> {
    message.iter().find_map(|(f, value)| match value {
        Value::Bytes(bytes) if *f == field => String::from_utf8(bytes.clone()).ok(),
        _ => None,
    })
}

fn line(end: u64, peak: &str, level: u64) -> Story {
    Story::parse(&format!(
        r#"{{"sample":{{"tick":0,"window":{{"start_ns":0,"end_ns":{end}}},"monitors":[],
        "probes":{{"others_kBps":[null],"cpu_max_kHz":300000,"lost_events":0}}}},
        "domains":[{{"name":"ddr","peak_kBps":{peak},"by":"policy","why":"up",
        "decision":{{"level":{level},"reason":"policy"}},"applied":{{"clamped":{{"found":5}}}}}}]}}"#
    ))
    .unwrap()
}

#[test]
fn a_trace_is_read_back_with_its_clock_its_tracks_and_its_values() {
    let board = builtin("sdm845-seed").unwrap().unwrap();
    let mut export = PerfettoExport::new(&board);
    let mut bytes = export.tick(&line(4_000_000, "1500000", 1));
    bytes.extend(export.tick(&line(8_000_000, "null", 1)));
    let packets: Vec<_> = fields(&bytes)
        .into_iter()
        .map(|(field, value)| match value {
            Value::Bytes(bytes) if field == 1 => fields(&bytes),
            other => panic!("{other:?}"),
        })
        .collect();
    // Every packet has a time of CLOCK_MONOTONIC (3), and they do not go back.
    let times: Vec<u64> = packets.iter().map(|packet| number(packet, 8).unwrap()).collect();
    assert!(times.is_sorted() && packets.iter().all(|packet| number(packet, 58) == Some(3)));
    // The snapshot makes it the trace's clock.
    let snapshot = inner(&packets[0], 6).unwrap();
    assert_eq!(number(&snapshot, 2), Some(3));
    let tracks: Vec<(u64, String)> = packets
        .iter()
        .filter_map(|packet| inner(packet, 60))
        .map(|track| (number(&track, 1).unwrap(), text(&track, 2).unwrap()))
        .collect();
    let names: Vec<&str> = tracks.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(
        names,
        ["bwmon", "cpu_max_kHz", "ddr peak_kBps", "ddr vote_kBps", "ddr others_kBps", "ddr levels"]
    );
    let events: Vec<(String, Option<u64>, Option<String>)> = packets
        .iter()
        .filter_map(|packet| inner(packet, 11))
        .map(|event| {
            let uuid = number(&event, 11).unwrap();
            let name = tracks.iter().find(|(known, _)| *known == uuid).unwrap().1.clone();
            (name, number(&event, 30), text(&event, 23))
        })
        .collect();
    let counter = |name: &str, value| (name.to_owned(), Some(value), None);
    // Level 1 of the seed's table is 1804000. The unknown peak of the second tick is not there, nor
    // the votes of others, nor a change of a level that stays.
    let expected = [
        counter("ddr peak_kBps", 1_500_000),
        counter("ddr vote_kBps", 1_804_000),
        ("ddr levels".to_owned(), None, Some("level 1: up (clamped)".to_owned())),
        counter("cpu_max_kHz", 300_000),
        counter("ddr vote_kBps", 1_804_000),
        counter("cpu_max_kHz", 300_000),
    ];
    assert_eq!(events, expected);
}
