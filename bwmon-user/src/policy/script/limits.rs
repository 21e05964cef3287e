//! The engine that runs policies: one function, used by the agent and by every tool, so that a
//! policy cannot pass in one and fail in the other.

use rhai::packages::{
    ArithmeticPackage, BasicArrayPackage, BasicIteratorPackage, BasicMapPackage, BasicMathPackage,
    BasicStringPackage, LogicPackage, Package,
};
use rhai::{Dynamic, Engine, OptimizationLevel};
use std::cell::Cell;
use std::rc::Rc;

/// Operations that one call may use. A realistic policy takes about 50; one operation may copy a
/// whole array, so that many more could cost a tick.
pub const MAX_OPERATIONS: u64 = 5_000;
/// Depth of calls; a level costs up to 12 KiB of stack in release and 130 KiB in debug builds.
pub const MAX_CALL_LEVELS: usize = 8;
/// Bytes of a string.
pub const MAX_STRING: usize = 256;
/// Entries of an array.
pub const MAX_ARRAY: usize = 64;
/// Entries of a map.
pub const MAX_MAP: usize = 32;
/// Variables alive at one time.
pub const MAX_VARIABLES: usize = 64;
/// Functions of a script.
pub const MAX_FUNCTIONS: usize = 32;
/// Bytes of a script.
pub const MAX_SOURCE: usize = 64 * 1024;

/// Counts operations over a whole call. The engine's own counter starts anew in every callback of a
/// native function (`array.reduce(|…| …)`), so a script could run for minutes within its limit;
/// this one sees those too. It counts, it reads no clock: a replay stops at the same operation.
#[derive(Clone, Debug)]
pub struct Budget {
    used: Rc<Cell<u64>>,
    most: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self::of(MAX_OPERATIONS)
    }
}

impl Budget {
    /// A budget of `most` operations a call.
    pub(super) fn of(most: u64) -> Self {
        Self { used: Rc::default(), most }
    }

    /// Starts a call.
    pub fn restart(&self) {
        self.used.set(0);
    }

    /// Takes back what the marks of a watched script have used.
    pub(super) fn give_back(&self, operations: u64) {
        self.used.set(self.used.get().saturating_sub(operations));
    }

    /// Operations used since then.
    pub fn used(&self) -> u64 {
        self.used.get()
    }
}

/// A bare engine with the limits: no file, clock, `sleep`, `eval`, `import`, or output.
pub(super) fn limited_engine(budget: &Budget) -> Engine {
    let mut engine = Engine::new_raw();
    ArithmeticPackage::new().register_into_engine(&mut engine);
    LogicPackage::new().register_into_engine(&mut engine);
    BasicMathPackage::new().register_into_engine(&mut engine);
    BasicIteratorPackage::new().register_into_engine(&mut engine);
    BasicStringPackage::new().register_into_engine(&mut engine);
    BasicArrayPackage::new().register_into_engine(&mut engine);
    BasicMapPackage::new().register_into_engine(&mut engine);
    engine
        .set_max_operations(budget.most)
        .set_max_call_levels(MAX_CALL_LEVELS)
        .set_max_expr_depths(64, 32)
        .set_max_string_size(MAX_STRING)
        .set_max_array_size(MAX_ARRAY)
        .set_max_map_size(MAX_MAP)
        .set_max_variables(MAX_VARIABLES)
        .set_max_functions(MAX_FUNCTIONS)
        .set_max_modules(0)
        .set_strict_variables(true)
        .set_fail_on_invalid_map_property(true)
        // Full would call our functions at compile time and freeze what they answer.
        .set_optimization_level(OptimizationLevel::Simple);
    engine.set_max_strings_interned(64);
    // Functions by name and their currying go with `eval`: nothing that is called is made up.
    for symbol in ["eval", "import", "export", "print", "debug", "Fn", "call", "curry"] {
        engine.disable_symbol(symbol);
    }
    engine.on_print(|_| {}).on_debug(|_, _, _| {});
    let (used, most) = (budget.used.clone(), budget.most);
    engine.on_progress(move |_| {
        let count = used.get() + 1;
        used.set(count);
        (count > most).then(|| Dynamic::from("operations"))
    });
    engine
}
