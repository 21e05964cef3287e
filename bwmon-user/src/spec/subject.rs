//! What a spec is run against.

use crate::board::Board;
use crate::diag::Diagnostic;
use crate::policy::{self, Policy, PolicySpec};

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
        self.title().to_owned()
    }

    /// Its own values come last: they are the operator's, on top of the spec's.
    fn make(
        &mut self,
        board: &Board,
        preset: Option<&str>,
        set: &[(String, String)],
    ) -> Result<Box<dyn Policy>, Diagnostic> {
        let spec = match self {
            Self::Script { source, set: own } => {
                let mut all = match preset {
                    Some(name) => policy::script::preset(source, name)?,
                    None => Vec::new(),
                };
                all.extend(set.iter().chain(own.iter()).cloned());
                Self::Script { source: source.clone(), set: all }
            }
            Self::Native | Self::Chain(_) | Self::PerDomain(_) => {
                let name = self.name();
                if let Some(preset) = preset {
                    let message = format!("the policy has no preset called {preset}");
                    return Err(Diagnostic::new(name, message).help("only scripts have presets"));
                }
                if let Some((tunable, _)) = set.first() {
                    let message = format!("the policy has no tunable called {tunable}");
                    return Err(Diagnostic::new(name, message).help("only scripts have tunables"));
                }
                self.clone()
            }
        };
        spec.build(board).map(|(policy, _)| policy)
    }
}
