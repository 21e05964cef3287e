//! How a function of a script is called.
//!
//! `Engine::call_fn` makes a new function-resolution cache for every call, so that each getter,
//! operator and helper of a policy is looked up by hash again on every tick: that is most of a
//! decision's cost. The engine's internals allow to keep the cache; what it resolves to cannot
//! change, since neither the engine nor the script does after it was compiled.

use rhai::{AST, Caches, Dynamic, Engine, EvalAltResult, EvalContext, GlobalRuntimeState, Scope};

/// Resolved functions that are kept. A script needs some dozens; one that makes up names
/// (`Fn("f" + n)`) must not grow the cache for ever.
const MAX_RESOLVED: usize = 1_024;

/// What is kept between two calls of one script.
pub(super) struct Runtime {
    global: GlobalRuntimeState,
    caches: Caches,
    scope: Scope<'static>,
}

impl Runtime {
    /// For the functions of `ast` on `engine`.
    pub(super) fn new(engine: &Engine, ast: &AST) -> Self {
        let mut global = engine.new_global_runtime_state();
        global.lib.push(ast.shared_lib().clone());
        Self { global, caches: Caches::new(), scope: Scope::new() }
    }

    /// Calls `name(argument)` with `this` bound. Everything but the resolved functions starts anew.
    pub(super) fn call(
        &mut self,
        engine: &Engine,
        name: &str,
        this: &mut Dynamic,
        argument: &mut Dynamic,
    ) -> Result<Dynamic, Box<EvalAltResult>> {
        self.global.num_operations = 0;
        self.global.level = 0;
        self.global.scope_level = 0;
        self.global.always_search_scope = false;
        self.scope.clear();
        self.caches.rewind_fn_resolution_caches(1);
        let cache = self.caches.fn_resolution_cache_mut();
        if cache.dict.len() > MAX_RESOLVED {
            cache.clear();
        }
        EvalContext::new(engine, &mut self.global, &mut self.caches, &mut self.scope, None)
            .call_fn_raw(name, true, true, &mut [this, argument])
    }
}
