//! Board files: TOML to checked [`Board`], once, with the line of whatever is wrong.

use super::{
    Board, BusDcvsPath, CpuOpps, DevfreqKnob, DevfreqPath, Domain, IccPath, MAX_UNIT_KB, Monitor,
    OppTable, VoteDevice, WINDOW_TICKS,
};
use crate::bwmon::{CountScale, Layout};
use crate::diag::{Diagnostic, Place};
use crate::units::{Hz, Kbps};
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBoard {
    schema: Spanned<u32>,
    id: Spanned<String>,
    name: String,
    #[serde(default)]
    compatible: Vec<String>,
    source: String,
    #[serde(default)]
    monitor: Vec<RawMonitor>,
    #[serde(default)]
    domain: Vec<RawDomain>,
    #[serde(default)]
    cpu_opp: Vec<RawCpuOpp>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCpuOpp {
    name: String,
    columns: Vec<String>,
    rows: Spanned<Vec<Spanned<Vec<u64>>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMonitor {
    name: Spanned<String>,
    node: Spanned<String>,
    compatible: Vec<String>,
    layout: Layout,
    reg: Spanned<Vec<(u64, u64)>>,
    #[serde(rename = "count_unit_kB")]
    count_unit_kb: Spanned<u32>,
    #[serde(default = "mainline_window")]
    window_us: Spanned<u32>,
    #[serde(default)]
    force_clear: bool,
    irq_spi: Option<u32>,
    #[serde(default)]
    irq_shared: bool,
    #[serde(default)]
    nonposted_mmio: bool,
    doubt: Option<String>,
}

fn mainline_window() -> Spanned<u32> {
    Spanned::new(0..0, 4_000)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDomain {
    name: Spanned<String>,
    monitor: Option<Spanned<String>>,
    path: Option<(String, String)>,
    icc_nodes: Option<(String, String)>,
    icc_tags: Option<(u32, u32)>,
    columns: Spanned<Vec<String>>,
    #[serde(rename = "opp_peak_kBps")]
    rows: Spanned<Vec<Spanned<Vec<Kbps>>>>,
    devfreq: Option<RawDevfreq>,
    icc: Option<Spanned<Vec<IccPath>>>,
    bus_dcvs: Option<Spanned<BusDcvsPath>>,
    vote: Option<RawVoteDevice>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDevfreq {
    device: Spanned<String>,
    freq_hz: Spanned<Vec<Hz>>,
    #[serde(default)]
    through: DevfreqKnob,
}

/// Bytes that every layout needs: the last register of a v5 block ends there.
pub(super) const MIN_REGION: u64 = 0x58;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawVoteDevice {
    device: Spanned<String>,
    paths: Option<Spanned<Vec<String>>>,
}

/// Parses and checks the board file `text`; `file` is its name in errors.
///
/// # Errors
/// The first fault, with its line and what to do.
pub fn parse(file: &str, text: &str) -> Result<Board, Diagnostic> {
    let raw: RawBoard =
        toml::from_str(text).map_err(|error| Diagnostic::from_toml(file, text, &error))?;
    Check { file, text }.board(raw)
}

struct Check<'a> {
    file: &'a str,
    text: &'a str,
}

impl Check<'_> {
    fn fault(&self, span: Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.file, message).at(Place::at_byte(self.text, span.start))
    }

    fn board(&self, raw: RawBoard) -> Result<Board, Diagnostic> {
        if *raw.schema.get_ref() != 1 {
            let message = format!("board schema {} is not known", raw.schema.get_ref());
            return Err(self.fault(raw.schema.span(), message).help("this bwmon reads schema 1"));
        }
        self.plain_name(&raw.id, "board id")?;
        let mut monitors: Vec<Monitor> = Vec::new();
        for monitor in raw.monitor {
            let span = monitor.name.span();
            let monitor = self.monitor(monitor)?;
            if let Some(other) = monitors.iter().find(|other| overlap(&other.reg, &monitor.reg)) {
                let message = format!(
                    "the registers of \"{}\" overlap those of \"{}\"",
                    monitor.name, other.name
                );
                return Err(self.fault(span, message));
            }
            if monitors.iter().any(|other| other.name == monitor.name) {
                return Err(
                    self.fault(span, format!("a second monitor is called \"{}\"", monitor.name))
                );
            }
            monitors.push(monitor);
        }
        let mut domains: Vec<Domain> = Vec::new();
        for domain in raw.domain {
            let span = domain.name.span();
            let domain = self.domain(domain, &monitors)?;
            let device = |d: &Domain| d.devfreq.as_ref().map(|path| path.device.clone());
            if let Some(other) = domains
                .iter()
                .find(|other| device(other).is_some() && device(other) == device(&domain))
            {
                let message = format!(
                    "domains \"{}\" and \"{}\" vote through the same devfreq device",
                    other.name, domain.name
                );
                return Err(self.fault(span, message).help("they would undo each other's votes"));
            }
            if let Some(other) = domains.iter().find(|other| votes_as(other, &domain)) {
                let message = format!(
                    "domains \"{}\" and \"{}\" vote on the same path",
                    other.name, domain.name
                );
                return Err(self.fault(span, message).help("the higher of the two would win"));
            }
            if domains.iter().any(|other| other.name == domain.name) {
                return Err(
                    self.fault(span, format!("a second domain is called \"{}\"", domain.name))
                );
            }
            domains.push(domain);
        }
        if domains.is_empty() {
            return Err(Diagnostic::new(
                self.file,
                "the board has no [[domain]]: nothing to govern",
            )
            .help("add a [[domain]] with name, columns and opp_peak_kBps"));
        }
        let cpu_opps =
            raw.cpu_opp.into_iter().map(|t| self.cpu_opps(t)).collect::<Result<_, _>>()?;
        Ok(Board {
            id: raw.id.into_inner(),
            name: raw.name,
            compatible: raw.compatible,
            source: raw.source,
            monitors,
            domains,
            cpu_opps,
        })
    }

    fn cpu_opps(&self, raw: RawCpuOpp) -> Result<CpuOpps, Diagnostic> {
        let whole = raw.rows.span();
        let spans: Vec<Range<usize>> = raw.rows.get_ref().iter().map(Spanned::span).collect();
        let rows = raw.rows.into_inner().into_iter().map(Spanned::into_inner).collect();
        CpuOpps::new(raw.name, raw.columns, rows).map_err(|(row, message)| {
            self.fault(spans.get(row).cloned().unwrap_or(whole), message)
                .help("each row is [kHz, kBps per column], lowest frequency first")
        })
    }

    fn monitor(&self, raw: RawMonitor) -> Result<Monitor, Diagnostic> {
        self.plain_name(&raw.name, "monitor name")?;
        if !is_file_name(raw.node.get_ref()) {
            return Err(self
                .fault(raw.node.span(), format!("\"{}\" names no node", raw.node.get_ref()))
                .help("the device-tree node without its path, such as pmu@1436400"));
        }
        let address = raw.reg.get_ref().first().map(|(address, _)| *address);
        let named = raw.node.get_ref().split_once('@').map(|(_, hex)| u64::from_str_radix(hex, 16));
        if let Some(address) = address
            && named != Some(Ok(address))
        {
            let message = format!("node \"{}\" is not at reg {address:#x}", raw.node.get_ref());
            return Err(self.fault(raw.node.span(), message).help(format!(
                "a node is called by its address, such as pmu@{address:x}; registers are written \
                 there, so both must agree"
            )));
        }
        let regions = raw.reg.get_ref().len();
        if regions != raw.layout.regions() {
            let message = format!(
                "the layout has {} register region(s), reg lists {regions}",
                raw.layout.regions()
            );
            return Err(self
                .fault(raw.reg.span(), message)
                .help("give [address, size] for each region of the device-tree node"));
        }
        if let Some((address, _)) =
            raw.reg.get_ref().iter().find(|(a, s)| a % 4 != 0 || *s < MIN_REGION)
        {
            let message = format!("region at {address:#x} is not aligned or too small for a block");
            return Err(self.fault(raw.reg.span(), message));
        }
        if !(1..=MAX_UNIT_KB).contains(raw.count_unit_kb.get_ref()) {
            let message = format!("count_unit_kB is {}", raw.count_unit_kb.get_ref());
            return Err(self.fault(raw.count_unit_kb.span(), message).help(
                "64 or 1024 in the mainline driver; \
                 `bwmon boards sdm845 --file` has an example",
            ));
        }
        let window_us = *raw.window_us.get_ref();
        let window_ticks =
            if window_us == 4_000 { WINDOW_TICKS } else { (u64::from(window_us) * 96 / 5) as u32 };
        if window_ticks == 0 || window_ticks >> raw.layout.window_bits() != 0 {
            let message = format!("a window of {window_us} us does not fit the block's timer");
            return Err(self.fault(raw.window_us.span(), message).help("the kernel uses 4000"));
        }
        Ok(Monitor {
            name: raw.name.into_inner(),
            node: raw.node.into_inner(),
            compatible: raw.compatible,
            layout: raw.layout,
            reg: raw.reg.into_inner(),
            scale: CountScale { unit_kb: raw.count_unit_kb.into_inner(), window_ticks },
            force_clear: raw.force_clear,
            irq_spi: raw.irq_spi,
            irq_shared: raw.irq_shared,
            nonposted_mmio: raw.nonposted_mmio,
            doubt: raw.doubt,
        })
    }

    fn domain(&self, raw: RawDomain, monitors: &[Monitor]) -> Result<Domain, Diagnostic> {
        self.plain_name(&raw.name, "domain name")?;
        let monitor = match &raw.monitor {
            None => None,
            Some(name) => Some(self.monitor_index(name, monitors)?),
        };
        let table = self.table(raw.columns, raw.rows)?;
        let devfreq = raw.devfreq.map(|devfreq| self.devfreq(devfreq, table.len())).transpose()?;
        let icc = raw.icc.map(|icc| self.icc(icc, table.columns().len())).transpose()?;
        let icc = icc.unwrap_or_default();
        let bus_dcvs = raw.bus_dcvs.map(|path| self.bus_dcvs(path, table.len())).transpose()?;
        let columns = table.columns().len();
        let vote = raw.vote.map(|vote| self.vote_device(vote, columns)).transpose()?;
        let paths = [devfreq.is_some(), !icc.is_empty(), bus_dcvs.is_some(), vote.is_some()];
        if paths.into_iter().filter(|named| *named).count() > 1 {
            return Err(self
                .fault(raw.name.span(), "the domain has more than one vote path")
                .help("give one of devfreq, icc, bus_dcvs and vote"));
        }
        Ok(Domain {
            name: raw.name.into_inner(),
            monitor,
            path: raw.path,
            icc_nodes: raw.icc_nodes,
            icc_tags: raw.icc_tags,
            table,
            devfreq,
            icc,
            bus_dcvs,
            vote,
        })
    }

    fn monitor_index(
        &self,
        name: &Spanned<String>,
        monitors: &[Monitor],
    ) -> Result<usize, Diagnostic> {
        let wanted = name.get_ref();
        monitors.iter().position(|monitor| monitor.name == *wanted).ok_or_else(|| {
            let known: Vec<&str> = monitors.iter().map(|m| m.name.as_str()).collect();
            self.fault(name.span(), format!("no [[monitor]] is called \"{wanted}\""))
                .help(format!("the monitors of this board are: {}", known.join(", ")))
        })
    }

    fn table(
        &self,
        columns: Spanned<Vec<String>>,
        rows: Spanned<Vec<Spanned<Vec<Kbps>>>>,
    ) -> Result<OppTable, Diagnostic> {
        let whole = rows.span();
        let names = columns.get_ref().join(", ");
        let spans: Vec<Range<usize>> = rows.get_ref().iter().map(Spanned::span).collect();
        let values = rows.into_inner().into_iter().map(Spanned::into_inner).collect();
        OppTable::new(columns.into_inner(), values).map_err(|error| {
            let span = error.row().and_then(|row| spans.get(row).cloned()).unwrap_or(whole);
            self.fault(span, error.to_string()).help(format!(
                "each row is [{names}] in kBps (1000 bytes/s), lowest row first, as opp-peak-kBps"
            ))
        })
    }

    /// Names end up in paths, scripts and metrics, so they are kept plain.
    fn plain_name(&self, name: &Spanned<String>, what: &str) -> Result<(), Diagnostic> {
        let text = name.get_ref();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !text.is_empty() && text.len() <= 32 && text.chars().all(plain) {
            return Ok(());
        }
        Err(self
            .fault(name.span(), format!("\"{text}\" is no {what}"))
            .help("1 to 32 of a-z, A-Z, 0-9, - and _"))
    }
}

/// Whether two domains vote on one path of one device.
fn votes_as(a: &Domain, b: &Domain) -> bool {
    let (Some(a), Some(b)) = (&a.vote, &b.vote) else { return false };
    a.device == b.device && a.paths.iter().any(|path| b.paths.contains(path))
}

/// Whether two monitors' regions touch.
pub(super) fn overlap(a: &[(u64, u64)], b: &[(u64, u64)]) -> bool {
    let touches = |(x, n): &(u64, u64), (y, m): &(u64, u64)| {
        *x < y.saturating_add(*m) && *y < x.saturating_add(*n)
    };
    a.iter().any(|x| b.iter().any(|y| touches(x, y)))
}

/// Whether `name` is one name in a folder: it is joined into sysfs paths.
fn is_file_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\0'])
}

#[path = "parse_votes.rs"]
mod votes;

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
