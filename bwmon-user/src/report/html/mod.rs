//! One page.
use crate::experiment::Judged;
/// Bandwidth and votes of one domain over one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {}
/// x
#[derive(Clone, Debug, PartialEq)]
pub struct TracePoint {}
/// x
pub fn html(_: &Judged, _: &[Trace]) -> String {
    String::new()
}
