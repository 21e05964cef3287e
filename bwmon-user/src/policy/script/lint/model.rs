//! A script taken apart: its functions, constants, tunables and the text's own facts.

use super::tokens::Tokens;
use crate::policy::script::Param;
use rhai::{AST, ASTNode, Engine, ImmutableString, Position, Stmt};

/// A function of the script.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: ImmutableString,
    pub(super) parameters: Vec<ImmutableString>,
    pub(super) body: Vec<Stmt>,
    /// Where its body begins and ends.
    pub(super) start: Position,
    pub(super) end: Position,
    /// Its body is not known: methods of one name for several types cannot be told apart.
    pub(super) opaque: bool,
}

impl Function {
    /// `|x| x + 1`: it has no name, and sees neither variables nor state.
    pub(super) fn is_anonymous(&self) -> bool {
        self.name.starts_with("anon$")
    }

    /// Called by the agent.
    pub(super) fn is_entry(&self) -> bool {
        matches!(self.name.as_str(), "decide" | "init" | "on_event") && self.parameters.len() == 1
    }

    pub(super) fn is(&self, name: &str, parameters: usize) -> bool {
        self.name == name && self.parameters.len() == parameters
    }
}

/// A script.
#[derive(Debug)]
pub(super) struct Script {
    /// In the order of the text.
    pub(super) functions: Vec<Function>,
    /// `const` statements outside of functions.
    pub(super) constants: Vec<Stmt>,
    pub(super) tunables: Vec<Param>,
    pub(super) tokens: Tokens,
}

impl Script {
    pub(super) fn of(engine: &Engine, ast: &AST, text: &str, tunables: Vec<Param>) -> Self {
        let mut functions: Vec<Function> = ast
            .iter_fn_def()
            .map(|def| Function {
                name: def.name.clone(),
                parameters: def.params.iter().cloned().collect(),
                body: body(ast, &def.name, def.params.len()),
                start: def.body.start_position(),
                end: def.body.end_position(),
                opaque: false,
            })
            .collect();
        functions.sort_by_key(|function| (function.start, function.name.clone()));
        let names: Vec<_> =
            functions.iter().map(|f| (f.name.clone(), f.parameters.len())).collect();
        for function in &mut functions {
            let same = names.iter().filter(|(name, count)| function.is(name, *count)).count();
            function.opaque = same > 1;
        }
        let tokens = Tokens::of(engine, text);
        Self { functions, constants: ast.statements().to_vec(), tunables, tokens }
    }

    /// The function that `name` with that many arguments calls.
    pub(super) fn function(&self, name: &str, arguments: usize) -> Option<usize> {
        self.functions.iter().position(|function| function.is(name, arguments))
    }

    /// Whether a function is called so, whatever it takes.
    pub(super) fn has_function(&self, name: &str) -> bool {
        self.functions.iter().any(|function| function.name == name)
    }

    /// Where function `index` is named.
    pub(super) fn place_of(&self, index: usize) -> Position {
        self.functions.get(index).map_or(Position::NONE, |function| {
            let head = self.tokens.head(&function.name, function.parameters.len());
            head.map_or(function.start, |head| head.at)
        })
    }
}

/// The statements of one function. The engine has no other way to a body than to walk a script that
/// has no other function.
fn body(ast: &AST, name: &str, parameters: usize) -> Vec<Stmt> {
    let mut only = ast.clone();
    only.clear_statements();
    only.retain_functions(|_, _, other, count| other == name && count == parameters);
    let mut body = Vec::new();
    only.walk(&mut |path| {
        if let [ASTNode::Stmt(statement)] = path {
            body.push((*statement).clone());
        }
        true
    });
    body
}
