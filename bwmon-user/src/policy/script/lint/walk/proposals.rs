//! What functions answer: every way out of `decide` has to end in a proposal.

use super::Walker;
use crate::policy::script::lint::codes::Code;
use crate::policy::script::lint::flow::Value;
use crate::policy::script::lint::types::Kinds;
use rhai::{Expr, Position};

/// How a way out of a function ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// In a value.
    Value,
    /// In nothing: an empty block, a `let`, a bare `return`.
    Empty,
    /// An `if` without `else`, as last statement.
    NoElse,
    /// A `switch` without `_`, as last statement.
    NoDefault,
    /// A loop, as last statement.
    Loop,
    /// After an error was caught.
    Caught,
}

impl Ending {
    fn help(self) -> &'static str {
        match self {
            Self::Value | Self::Empty => {
                "end in demand_kBps(n), opp(i), opp_max(), opp_min() or hold()"
            }
            Self::NoElse => "write an `else`, or a proposal after the `if`",
            Self::NoDefault => "write a case `_`, or a proposal after the `switch`",
            Self::Loop => "write a proposal after the loop",
            Self::Caught => "write `return hold();` into the `catch`: its last value is lost",
        }
    }
}

impl Walker<'_> {
    /// Notes one way out of the current function.
    pub(super) fn answers(&mut self, value: Value, at: Position, how: Ending) {
        if !self.flow.reachable {
            return;
        }
        self.check_proposal(&value, at, how);
        self.answer = Some(match self.answer.take() {
            Some(before) => before.join(value),
            None => value,
        });
    }

    fn check_proposal(&mut self, value: &Value, at: Position, how: Ending) {
        if !self.summaries.get(self.current).is_some_and(|summary| summary.proposes) {
            return;
        }
        let wrong = value.kinds.without(Kinds::PROPOSAL);
        if value.kinds == Kinds::ANY || wrong.is_none() {
            self.must_propose(value);
            return;
        }
        if value.kinds.meets(Kinds::PROPOSAL) && value.from.is_some() {
            // Reported inside of the function that answers so.
            self.must_propose(value);
            return;
        }
        let name = self.script.functions.get(self.current).map_or("", |f| f.name.as_str());
        let whose = if name == "decide" {
            "decide()".to_owned()
        } else {
            format!("{name}(), whose answer is that of decide(),")
        };
        let message = match how {
            Ending::Value => format!("{whose} ends here in {}, not a proposal", wrong.said()),
            Ending::Empty => format!("{whose} ends here in nothing, not a proposal"),
            Ending::NoElse => {
                format!("{whose} ends without a proposal where this condition is false")
            }
            Ending::NoDefault => format!("{whose} ends without a proposal where no case fits"),
            Ending::Loop => format!("{whose} ends without a proposal after this loop"),
            Ending::Caught => format!("{whose} ends without a proposal after an error"),
        };
        self.report.add(Code::NoProposal, at, message, how.help());
    }

    /// The answer of a function of the script becomes the answer of `decide`.
    pub(super) fn must_propose(&mut self, value: &Value) {
        if self.settled {
            return;
        }
        if let Some(summary) = value.from.and_then(|index| self.summaries.get_mut(index)) {
            summary.proposes = true;
        }
    }

    /// A value that nothing takes.
    pub(super) fn dropped(&mut self, value: &Value, expression: &Expr) {
        let called = matches!(expression, Expr::FnCall(..) | Expr::Dot(..));
        if called && value.kinds.is_only(Kinds::PROPOSAL) {
            self.report.add(
                Code::LostProposal,
                expression.start_position(),
                "this proposal is thrown away: the function goes on after it",
                "write `return` before it",
            );
        }
    }
}
