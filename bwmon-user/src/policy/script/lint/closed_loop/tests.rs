use super::*;
use crate::board::builtin;
use crate::policy::script::Source;
use std::time::Instant;

fn board(id: &str) -> Arc<Board> {
    Arc::new(builtin(id).unwrap().unwrap())
}

fn spec(text: &str) -> PolicySpec {
    let source = Source { name: "p.rhai".into(), text: text.into() };
    PolicySpec::Script { source, set: Vec::new() }
}

fn found(text: &str) -> Vec<Finding> {
    closed_loop(&spec(text), &board("sdm845-seed"), true)
}
