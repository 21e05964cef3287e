//! What names in an agenda stand for: files, and what ships in the binary.

use crate::board::Board;
use crate::cli::common::{self, PolicyArgs};
use crate::cli::sim;
use crate::lab::Sources;
use crate::policy::PolicySpec;
use crate::sim::Workload;
use std::collections::BTreeMap;

/// As `bwmon sim` takes them.
pub(super) struct Files;

impl Sources for Files {
    fn policy(
        &self,
        name: &str,
        preset: Option<&str>,
        set: &BTreeMap<String, String>,
    ) -> anyhow::Result<PolicySpec> {
        let args = PolicyArgs {
            policy: name.to_owned(),
            preset: preset.map(str::to_owned),
            set: set.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        };
        args.spec()
    }

    fn board(&self, name: &str) -> anyhow::Result<Board> {
        common::board(name)
    }

    fn traffic(&self, name: &str) -> anyhow::Result<Workload> {
        sim::traffic(name)
    }
}
