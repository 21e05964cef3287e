//! A board as a board file: the text that [`super::parse()`] reads back to the same board.

use super::{Board, CpuOpps, DevfreqKnob, Domain, IccPath, Level, Monitor, WINDOW_TICKS};
use std::fmt::Write;

/// The board file of `board`, written like the shipped ones. `head` is a comment at its top, one
/// line each.
pub fn to_toml(board: &Board, head: &[String]) -> String {
    let mut text = String::new();
    for line in head {
        let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        put(&mut text, format_args!("# {line}"));
    }
    put(&mut text, format_args!("schema = 1"));
    put(&mut text, format_args!("id = {}", quoted(&board.id)));
    put(&mut text, format_args!("name = {}", quoted(&board.name)));
    if !board.compatible.is_empty() {
        put(&mut text, format_args!("compatible = {}", list(&board.compatible)));
    }
    put(&mut text, format_args!("source = {}", quoted(&board.source)));
    for own in &board.monitors {
        monitor(&mut text, own);
    }
    for own in &board.domains {
        domain(&mut text, board, own);
    }
    for own in &board.cpu_opps {
        cpu_opps(&mut text, own);
    }
    text
}

/// Writing to a string cannot fail.
fn put(text: &mut String, line: std::fmt::Arguments<'_>) {
    let _ = writeln!(text, "{line}");
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(", "))
}

/// A number with its digits in groups of three, as TOML allows.
fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    text
}

fn numbers(values: impl Iterator<Item = u64>) -> String {
    let values: Vec<String> = values.map(number).collect();
    format!("[{}]", values.join(", "))
}

fn monitor(text: &mut String, monitor: &Monitor) {
    put(text, format_args!("\n[[monitor]]"));
    put(text, format_args!("name = {}", quoted(&monitor.name)));
    put(text, format_args!("node = {}", quoted(&monitor.node)));
    put(text, format_args!("compatible = {}", list(&monitor.compatible)));
    put(text, format_args!("layout = {}", quoted(monitor.layout.name())));
    let regions: Vec<String> =
        monitor.reg.iter().map(|(address, size)| format!("[{address:#010x}, {size:#x}]")).collect();
    put(text, format_args!("reg = [{}]", regions.join(", ")));
    put(text, format_args!("count_unit_kB = {}", monitor.scale.unit_kb));
    if monitor.scale.window_ticks != WINDOW_TICKS {
        // 19.2 ticks are a microsecond; rounded up, it is read back to the same ticks.
        let us = (u64::from(monitor.scale.window_ticks) * 5).div_ceil(96);
        put(text, format_args!("window_us = {us}"));
    }
    if let Some(doubt) = &monitor.doubt {
        put(text, format_args!("doubt = {}", quoted(doubt)));
    }
    if monitor.force_clear {
        put(text, format_args!("force_clear = true"));
    }
    if let Some(spi) = monitor.irq_spi {
        put(text, format_args!("irq_spi = {spi}"));
    }
    if monitor.irq_shared {
        put(text, format_args!("irq_shared = true"));
    }
    if monitor.nonposted_mmio {
        put(text, format_args!("nonposted_mmio = true"));
    }
}

fn domain(text: &mut String, board: &Board, domain: &Domain) {
    put(text, format_args!("\n[[domain]]"));
    put(text, format_args!("name = {}", quoted(&domain.name)));
    if let Some(monitor) = board.monitor_of(domain) {
        put(text, format_args!("monitor = {}", quoted(&monitor.name)));
    }
    if let Some((src, dst)) = &domain.path {
        put(text, format_args!("path = [{}, {}]", quoted(src), quoted(dst)));
    }
    if let Some((src, dst)) = &domain.icc_nodes {
        put(text, format_args!("icc_nodes = [{}, {}]", quoted(src), quoted(dst)));
    }
    if let Some((src, dst)) = domain.icc_tags {
        put(text, format_args!("icc_tags = [{src}, {dst}]"));
    }
    put(text, format_args!("columns = {}", list(domain.table.columns())));
    put(text, format_args!("opp_peak_kBps = ["));
    for level in 0..domain.table.len() {
        let row = domain.table.row(Level(level));
        put(text, format_args!("  {},", numbers(row.iter().map(|kbps| kbps.0))));
    }
    put(text, format_args!("]"));
    if let Some(path) = &domain.devfreq {
        let device = quoted(&path.device);
        let through = match path.through {
            DevfreqKnob::Userspace => "",
            DevfreqKnob::Limits => "through = \"limits\", ",
        };
        put(text, format_args!("devfreq = {{ device = {device}, {through}freq_hz = ["));
        for hz in &path.freq_hz {
            put(text, format_args!("  {},", number(hz.0)));
        }
        put(text, format_args!("] }}"));
    }
    if !domain.icc.is_empty() {
        put(text, format_args!("icc = ["));
        for IccPath { src, dst, tag } in &domain.icc {
            let (src, dst) = (quoted(src), quoted(dst));
            put(text, format_args!("  {{ src = {src}, dst = {dst}, tag = {tag} }},"));
        }
        put(text, format_args!("]"));
    }
    if let Some(path) = &domain.bus_dcvs {
        let freqs = numbers(path.freq_khz.iter().map(|khz| khz.0));
        put(text, format_args!("bus_dcvs = {{ hw = {}, freq_kHz = {freqs} }}", quoted(&path.hw)));
    }
    if let Some(vote) = &domain.vote {
        let (device, paths) = (quoted(&vote.device), list(&vote.paths));
        put(text, format_args!("vote = {{ device = {device}, paths = {paths} }}"));
    }
}

fn cpu_opps(text: &mut String, opps: &CpuOpps) {
    put(text, format_args!("\n[[cpu_opp]]"));
    put(text, format_args!("name = {}", quoted(&opps.name)));
    put(text, format_args!("columns = {}", list(&opps.columns)));
    put(text, format_args!("# [kHz, peak kBps per column]"));
    put(text, format_args!("rows = ["));
    for row in &opps.rows {
        let values = std::iter::once(row.khz.0).chain(row.kbps.iter().map(|kbps| kbps.0));
        put(text, format_args!("  {},", numbers(values)));
    }
    put(text, format_args!("]"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{BusDcvsPath, DevfreqPath, builtin, builtin_ids, parse};
    use crate::units::{Hz, Khz};

    #[test]
    fn every_built_in_board_is_read_back_from_what_is_written() {
        for id in builtin_ids() {
            let board = builtin(id).unwrap().unwrap();
            let text = to_toml(&board, &["a test".into()]);
            assert_eq!(parse("written", &text), Ok(board), "{text}");
        }
    }

    #[test]
    fn what_the_shipped_boards_do_not_have_is_written_too() {
        let mut board = builtin("sdm845").unwrap().unwrap();
        board.name = "a \"quoted\" name\nwith \\ and \u{1b}".into();
        board.monitors[0].nonposted_mmio = true;
        board.compatible.clear();
        let freq_hz = (1..=5).map(|n| Hz(n * 1_000_000)).collect();
        let device = "1.noc".into();
        let through = DevfreqKnob::Limits;
        board.domains[0].devfreq = Some(DevfreqPath { device, freq_hz, through });
        let icc = IccPath { src: "llcc_mc".into(), dst: "ebi".into(), tag: 7 };
        board.domains[1].icc = vec![icc];
        let freq_khz = (1..=14).map(|n| Khz(n * 100_000)).collect();
        board.domains[2].bus_dcvs = Some(BusDcvsPath { hw: "L3".into(), freq_khz });
        // A millisecond, and the shortest and some odd window that a file can name.
        for us in [1_000, 1, 3_999] {
            board.monitors[0].scale.window_ticks = us * 96 / 5;
            assert_eq!(parse("written", &to_toml(&board, &[])), Ok(board.clone()));
        }
    }

    #[test]
    fn a_comment_cannot_break_out_of_its_line() {
        let board = builtin("sdm845").unwrap().unwrap();
        let text = to_toml(&board, &["x\nschema = 9".into()]);
        assert_eq!(parse("written", &text), Ok(board));
    }
}
