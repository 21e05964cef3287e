//! The traces of a bundle: recorded readings on which its policies decide without a fault.

use super::{Bundle, Checked, Ready, Role, fault};
use crate::diag::Diagnostic;
use crate::journal::{Header, JournalError, Reader};
use crate::replay::compare;

pub(super) fn check(
    bundle: &Bundle,
    ready: &[Ready],
    checked: &mut Checked,
) -> Result<(), Diagnostic> {
    for file in bundle.of(Role::Trace) {
        let text = bundle.text(&file.path).map_err(|why| fault(bundle, why))?;
        let (_, header) = open(&file.path, text)?;
        let mut for_it: Vec<&Ready> =
            ready.iter().filter(|ready| ready.board.id == header.board.id).collect();
        // Recorded under a product of the bundle: it is that one's.
        if let Some(recorded) = &header.product
            && let Some(own) = for_it.iter().find(|r| r.product.name.value == recorded.name)
        {
            for_it = vec![own];
        }
        if for_it.is_empty() {
            let message = format!(
                "the trace {} is of the board {}, which no product of the bundle is for",
                file.path, header.board.id
            );
            return Err(fault(bundle, message).help("leave it out, or add the product"));
        }
        for Ready { product, plan, .. } in for_it {
            checked.trace_ticks += decides(&file.path, text, &product.name.value, plan)?;
        }
    }
    Ok(())
}

fn open<'t>(file: &str, text: &'t str) -> Result<(Reader<&'t [u8]>, Header), Diagnostic> {
    Reader::open(file, text.as_bytes()).map_err(|error| broken(file, error))
}

fn broken(file: &str, error: JournalError) -> Diagnostic {
    match error {
        JournalError::Broken(fault) => fault,
        other => Diagnostic::new(file, other.to_string()),
    }
}

/// How many ticks of the trace the product's policy decided.
fn decides(
    file: &str,
    text: &str,
    product: &str,
    plan: &crate::policy::PolicySpec,
) -> Result<u64, Diagnostic> {
    let (reader, header) = open(file, text)?;
    let (policy, _) = plan.clone().build(&header.board)?;
    let compared = compare(reader, &header, policy).map_err(|error| broken(file, error))?;
    if let Some(first) = &compared.tally.first_fault {
        let message = format!(
            "on the trace {file} the policy of the product {product} faults {} time(s); the first: \
             {first}",
            compared.tally.faults
        );
        return Err(Diagnostic::new(file, message).help(
            "`bwmon replay --policy P JOURNAL` walks it again; \
                   `bwmon policy explain` shows the tick",
        ));
    }
    let ticks = compared.rows.iter().map(|row| row.ticks).max().unwrap_or(0);
    if ticks == 0 {
        return Err(Diagnostic::new(file, format!("the trace {file} has no entries"))
            .help("a trace on which nothing is decided shows nothing"));
    }
    Ok(ticks)
}
