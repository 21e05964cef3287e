//! What a spec is run against.

use crate::board::Board;
use crate::diag::Diagnostic;
use crate::policy::{Policy, PolicySpec};

/// Makes the policy under test, anew for each scenario. The place to put a recorder between: a
/// subject may hand out policies that note which lines ran.
pub trait Subject {
    /// Its name for reports.
    fn name(&self) -> String;

    /// The policy for `board`, with the tunables `set` (name and text) over its defaults, and over
    /// those of `preset` if there is one.
    ///
    /// # Errors
    /// What is wrong with the script or with a value.
    fn make(
        &mut self,
        board: &Board,
        preset: Option<&str>,
        set: &[(String, String)],
    ) -> Result<Box<dyn Policy>, Diagnostic>;
}

impl Subject for PolicySpec {
    fn name(&self) -> String {
        match self {
            Self::Native => crate::policy::NATIVE.to_owned(),
            Self::Script { source, .. } => source.name.clone(),
        }
    }

    /// Its own values come last: they are the operator's, on top of the spec's.
    fn make(
        &mut self,
        board: &Board,
        preset: Option<&str>,
        set: &[(String, String)],
    ) -> Result<Box<dyn Policy>, Diagnostic> {
        let name = self.name();
        if let Some(preset) = preset {
            return Err(Diagnostic::new(name, format!("the policy has no preset called {preset}")));
        }
        let spec = match self {
            Self::Native => {
                if let Some((tunable, _)) = set.first() {
                    let message = format!("the policy has no tunable called {tunable}");
                    return Err(Diagnostic::new(name, message).help("it has no tunables"));
                }
                Self::Native
            }
            Self::Script { source, set: own } => {
                let set = set.iter().chain(own.iter()).cloned().collect();
                Self::Script { source: source.clone(), set }
            }
        };
        spec.build(board).map(|(policy, _)| policy)
    }
}
