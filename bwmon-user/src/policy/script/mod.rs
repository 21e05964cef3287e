//! Policies as Rhai scripts: compiled once, called with `decide(obs)` per domain and tick.

mod check;
mod declared;
mod error;
mod event;
mod head;
mod limits;
pub mod lint;
mod observation;
mod params;
mod presets;
mod readings;
mod runtime;
mod slots;
mod state;
pub mod trace;
mod uses;
mod vocabulary;
pub mod words;

pub use check::{CheckFault, CheckReport, check, check_fault};
pub use declared::{Declared, outline};
pub use error::Source;
pub use head::Head;
pub use limits::{
    Budget, MAX_ARRAY, MAX_CALL_LEVELS, MAX_FUNCTIONS, MAX_MAP, MAX_OPERATIONS, MAX_SOURCE,
    MAX_STRING, MAX_VARIABLES,
};
pub use params::{Param, Value};
pub use presets::{Preset, preset};
pub use readings::Readings;
pub use slots::MAX_SLOTS;
pub use uses::uses;

use super::{FaultKind, Policy, PolicyEvent, PolicyFault, Proposal};
use crate::board::Board;
use crate::diag::Diagnostic;
use crate::journal::PolicyRecord;
use crate::observe::Observation;
use observation::{Obs, Shared};
use rhai::{AST, Dynamic, Engine, Module, Stmt};
use runtime::Runtime;
use sha2::{Digest, Sha256};
use state::State;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use vocabulary::Info;

/// The functions that the agent calls, with their number of arguments.
const ENTRY_POINTS: [(&str, usize); 3] = [("init", 1), ("decide", 1), ("on_event", 1)];

/// A compiled script with its state, one per domain. Not `Send`: it lives where it is called.
pub struct ScriptPolicy {
    source: Source,
    digest: String,
    engine: Engine,
    ast: AST,
    budget: Budget,
    runtime: RefCell<Runtime>,
    shared: Rc<Shared>,
    states: Vec<State>,
    params: Vec<Param>,
    presets: Vec<Preset>,
    values: BTreeMap<String, Value>,
}

impl ScriptPolicy {
    /// Compiles `source` for `board`, with `set` over the defaults of its tunables, and runs `init`
    /// for every domain.
    ///
    /// # Errors
    /// The first fault, with its place in the script.
    pub fn new(
        source: Source,
        board: &Board,
        set: &[(String, String)],
    ) -> Result<Self, Diagnostic> {
        let text = source.clone();
        Self::made(source, &text, board, set, Budget::default(), |_| {})
    }

    /// The same with another text to run in the place of `source`'s, and an engine that `prepare`
    /// has seen: a watched script.
    fn made(
        source: Source,
        text: &Source,
        board: &Board,
        set: &[(String, String)],
        budget: Budget,
        prepare: impl FnOnce(&mut Engine),
    ) -> Result<Self, Diagnostic> {
        if source.text.len() > MAX_SOURCE {
            return Err(source.fault(format!("the script is larger than {MAX_SOURCE} bytes")));
        }
        let shared = Shared::new(board);
        let mut engine = limits::limited_engine(&budget);
        vocabulary::register(&mut engine, &shared);
        prepare(&mut engine);
        let params = params::declared(&source)?;
        let presets = presets::declared(&source, &params)?;
        let values = params::values(&source, &params, set)?;
        engine.register_static_module("cfg", params::module(&values).into());
        let ast = compile(&mut engine, text)?;
        let runtime = RefCell::new(Runtime::new(&engine, &ast));
        let states = Vec::new();
        let digest = digest(&source.text);
        let mut policy = Self {
            source,
            digest,
            engine,
            ast,
            budget,
            runtime,
            shared,
            states,
            params,
            presets,
            values,
        };
        for domain in 0..board.domains.len() {
            let state = policy.init(domain).map_err(|fault| *fault.diagnostic)?;
            policy.states.push(state);
        }
        Ok(policy)
    }

    /// The tunables that the script declares.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// The presets that the script declares.
    pub fn presets(&self) -> &[Preset] {
        &self.presets
    }

    /// The tunables' values in use.
    pub fn values(&self) -> &BTreeMap<String, Value> {
        &self.values
    }

    /// The state of `domain`.
    fn state_of(&self, domain: usize) -> Option<&Dynamic> {
        self.states.get(domain).map(|state| &state.value)
    }

    /// Operations that the last call used.
    pub fn operations(&self) -> u64 {
        self.budget.used()
    }

    /// The policy as a journal records it.
    pub fn record(&self) -> PolicyRecord {
        PolicyRecord {
            name: self.source.name.clone(),
            digest: self.digest.clone(),
            source: self.source.text.clone(),
            params: self.values.iter().map(|(name, value)| (name.clone(), value.json())).collect(),
            policies: Vec::new(),
        }
    }

    fn init(&mut self, domain: usize) -> Result<State, PolicyFault> {
        if !self.ast.iter_functions().any(|function| function.name == "init") {
            return Ok(State::none());
        }
        self.shared.current.set(domain);
        let info = Info(Obs { shared: self.shared.clone(), domain });
        let mut this = Dynamic::UNIT;
        let map = self.call("init", info, &mut this)?;
        State::new(map).map_err(|message| {
            PolicyFault::new(
                FaultKind::State,
                self.source
                    .fault(message)
                    .help("init(info) returns the state as a map: #{ count: 0, last_kBps: 0 }"),
            )
        })
    }

    fn call(
        &self,
        name: &str,
        argument: impl rhai::Variant + Clone,
        this: &mut Dynamic,
    ) -> Result<Dynamic, PolicyFault> {
        self.budget.restart();
        let mut runtime = self.runtime.borrow_mut();
        let mut argument = Dynamic::from(argument);
        // A panic in a host function must not cross into the loop; the state is reset after it.
        let answer = catch_unwind(AssertUnwindSafe(|| {
            runtime.call(&self.engine, name, this, &mut argument)
        }));
        if answer.is_err() {
            *runtime = Runtime::new(&self.engine, &self.ast);
        }
        match answer {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(self.source.run_error(&error, name)),
            Err(_) => Err(PolicyFault::new(
                FaultKind::Panic,
                self.source.fault(format!("a host function panicked in {name}()")),
            )),
        }
    }

    fn ask(&mut self, domain: usize) -> Result<Proposal, PolicyFault> {
        let Some(mut state) = self.states.get_mut(domain).map(std::mem::take) else {
            return Err(PolicyFault::new(FaultKind::Error, self.source.fault("no such domain")));
        };
        let obs = Obs { shared: self.shared.clone(), domain };
        let answer = self.call("decide", obs, &mut state.value);
        let checked = match answer {
            Ok(value) => self.checked(value, &state),
            Err(fault) => Err(fault),
        };
        if checked.is_err() {
            state.reset();
            self.shared.forget(domain);
        }
        if let Some(place) = self.states.get_mut(domain) {
            *place = state;
        }
        checked
    }

    fn checked(&self, value: Dynamic, state: &State) -> Result<Proposal, PolicyFault> {
        let proposal = match value.try_cast_result::<Proposal>() {
            Ok(proposal) => proposal,
            Err(value) => return Err(self.no_proposal(value.type_name())),
        };
        self.state_checked(state, "decide")?;
        Ok(proposal)
    }

    fn state_checked(&self, state: &State, called: &str) -> Result<(), PolicyFault> {
        state.check().map_err(|message| {
            let mut fault = self
                .source
                .fault(message)
                .help("the keys and types of the state are those of the map that init() returns");
            fault.place = self.source.place_of(called);
            PolicyFault::new(FaultKind::State, fault)
        })
    }

    fn no_proposal(&self, kind: &str) -> PolicyFault {
        let said = said(kind);
        let mut fault = self.source.fault(format!("decide() answered {said}, not a proposal"));
        fault.place = self.source.place_of("decide");
        PolicyFault::new(
            FaultKind::WrongType,
            fault.help(
                "every way out of decide() ends in demand_kBps(n), opp(i), opp_max(), opp_min() \
                 or hold()",
            ),
        )
    }
}

impl Policy for ScriptPolicy {
    fn name(&self) -> &str {
        &self.source.name
    }

    fn decide(&mut self, all: &[Observation], domain: usize) -> Result<Proposal, PolicyFault> {
        self.shared.set(all, domain);
        self.ask(domain)
    }

    fn reset(&mut self, domain: usize) {
        if let Some(state) = self.states.get_mut(domain) {
            state.reset();
        }
        self.shared.forget(domain);
    }

    fn event(&mut self, domain: usize, event: &PolicyEvent) -> Result<(), PolicyFault> {
        if !self.ast.iter_functions().any(|function| function.name == "on_event") {
            return Ok(());
        }
        let Some(mut state) = self.states.get_mut(domain).map(std::mem::take) else {
            return Ok(());
        };
        self.shared.current.set(domain);
        let event = event::Event(Rc::new(event.clone()));
        let answer = self.call("on_event", event, &mut state.value);
        let checked = answer.and_then(|_| self.state_checked(&state, "on_event"));
        if checked.is_err() {
            state.reset();
            self.shared.forget(domain);
        }
        if let Some(place) = self.states.get_mut(domain) {
            *place = state;
        }
        checked
    }

    fn state(&self, domain: usize) -> Option<serde_json::Value> {
        self.state_of(domain).filter(|state| !state.is_unit()).map(event::plain)
    }

    fn digest(&self) -> &str {
        &self.digest
    }
}

/// The first 16 digits of the SHA-256 of `text`.
pub fn digest(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn said(kind: &str) -> &str {
    match kind {
        "()" => "nothing",
        "i64" => "a whole number",
        "f64" => "a number",
        "map" => "a map",
        "string" => "a text",
        other => other,
    }
}

fn compile(engine: &mut Engine, source: &Source) -> Result<AST, Diagnostic> {
    let ast = engine.compile(&source.text).map_err(|error| source.parse_error(&error))?;
    if let Some(statement) = ast.statements().iter().find(|s| is_computed_const(s)) {
        let fault = source
            .fault("a constant outside of a function is a plain value")
            .help("compute it in init(info) or decide(obs)");
        return Err(source.at(fault, statement.position()));
    }
    if let Some(statement) = ast.statements().iter().find(|s| !is_const(s)) {
        let fault = source
            .fault("a statement outside of a function would never run")
            .help("put it into decide(obs) or init(info); only `const` may stand outside");
        return Err(source.at(fault, statement.position()));
    }
    check_entry_points(&ast, source)?;
    let mut constants = Module::new();
    for (name, _, value) in ast.iter_literal_variables(true, false) {
        constants.set_var(name, value);
    }
    // Scripts write `global::NAME`; the top level is never run, so the engine has no such module.
    engine.register_static_module("global", constants.into());
    Ok(ast)
}

fn is_const(statement: &Stmt) -> bool {
    match statement {
        Stmt::Var(_, options, _) => options.intersects(rhai::ASTFlags::CONSTANT),
        Stmt::Noop(_) => true,
        _ => false,
    }
}

/// The top level is never run, so a constant that has to be computed would have no value.
fn is_computed_const(statement: &Stmt) -> bool {
    match statement {
        Stmt::Var(parts, options, _) => {
            options.intersects(rhai::ASTFlags::CONSTANT) && !parts.1.is_constant()
        }
        _ => false,
    }
}

fn check_entry_points(ast: &AST, source: &Source) -> Result<(), Diagnostic> {
    for (name, arguments) in ENTRY_POINTS {
        let mut functions = ast.iter_functions().filter(|function| function.name == name);
        let Some(function) = functions.next() else {
            if name != "decide" {
                continue;
            }
            return Err(source
                .fault("the policy has no function decide(obs)")
                .help("write: fn decide(obs) { hold() }"));
        };
        if function.params.len() != arguments {
            return Err(source.fault(format!(
                "{name}() takes {} arguments, it is called with {arguments}",
                function.params.len()
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod bw_hwmon_model;
#[cfg(test)]
mod bw_hwmon_tests;
#[cfg(test)]
mod tests;
