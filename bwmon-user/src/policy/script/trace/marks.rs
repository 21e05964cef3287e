//! Where statements begin, and the text with a mark before each of them.

use super::MARKER;
use rhai::{AST, ASTNode, Position};
use std::collections::BTreeMap;

/// A text with marks.
pub(super) struct Marked {
    pub(super) text: String,
    pub(super) marks: Vec<Mark>,
}

/// One mark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// Its line, from 1.
    pub(super) line: usize,
    /// The statement's text: its first line, as far as the next mark on it.
    pub(super) text: String,
    /// Where a function begins: the names of its parameters.
    pub(super) begins: Option<Vec<String>>,
}

/// Marks every statement of `ast`, whose text is `text`, that stands where another statement could
/// stand before it: after `{`, `}` or `;`. So an `else if`, an `if` as a value, the body of an
/// anonymous function without braces and the like get none; they are part of the statement around
/// them.
pub(super) fn mark(ast: &AST, text: &str) -> Marked {
    let code = code_only(text);
    let mut starts: Vec<usize> = Vec::new();
    ast.walk(&mut |path| {
        if let Some(ASTNode::Stmt(statement)) = path.last()
            && let Some(position) = first_position(statement)
            && let Some(start) = place(text, position)
            && let Some(start) = boundary(&code, start)
        {
            starts.push(start);
        }
        true
    });
    starts.sort_unstable();
    starts.dedup();
    let begins = begins(ast, text, &starts);
    let (mut marked, mut marks): (String, Vec<Mark>) = (String::new(), Vec::new());
    let (mut line, mut next) = (1, starts.iter().peekable());
    // Braces that the last mark's statement has opened; `None` where its text has ended.
    let mut open: Option<usize> = None;
    for (at, letter) in text.chars().enumerate() {
        if next.next_if(|start| **start == at).is_some() {
            marked.push_str(&format!("{MARKER} {}; ", marks.len()));
            let begins = begins.get(&at).cloned();
            marks.push(Mark { line, text: String::new(), begins });
            open = Some(0);
        }
        open = match (letter, code.get(at)) {
            ('\n', _) => None,
            (_, Some('{')) => open.map(|open| open + 1),
            // One that it has not opened is that of the block around it.
            (_, Some('}')) => open.and_then(|open| open.checked_sub(1)),
            _ => open,
        };
        if let (Some(_), Some(mark)) = (open, marks.last_mut()) {
            mark.text.push(letter);
        }
        line += usize::from(letter == '\n');
        marked.push(letter);
    }
    for mark in &mut marks {
        mark.text.truncate(mark.text.trim_end().len());
    }
    Marked { text: marked, marks }
}

/// By the first mark of each function: its parameters.
fn begins(ast: &AST, text: &str, starts: &[usize]) -> BTreeMap<usize, Vec<String>> {
    let begin = |function: &rhai::ScriptFuncDef| {
        let (from, to) = (function.body.start_position(), function.body.end_position());
        let (from, to) = (place(text, from)?, place(text, to)?);
        let first = starts.iter().find(|start| (from..=to).contains(*start))?;
        Some((*first, function.params.iter().map(|name| name.to_string()).collect()))
    };
    ast.iter_fn_def().filter_map(|function| begin(function)).collect()
}

/// The first position of a statement or of anything in it: that of an assignment is its operator's.
fn first_position(statement: &rhai::Stmt) -> Option<Position> {
    let mut first: Option<Position> = None;
    statement.walk(&mut Vec::new(), &mut |path| {
        let position = match path.last() {
            Some(ASTNode::Stmt(statement)) => statement.position(),
            Some(ASTNode::Expr(expression)) => expression.start_position(),
            _ => Position::NONE,
        };
        let sooner = |found: Position| {
            (position.line(), position.position()) < (found.line(), found.position())
        };
        if !position.is_none() && first.is_none_or(sooner) {
            first = Some(position);
        }
        true
    });
    first
}

/// The number of the character at `position`.
fn place(text: &str, position: Position) -> Option<usize> {
    let (line, column) = (position.line()?, position.position()?);
    let before: usize = text.split_inclusive('\n').take(line - 1).map(|l| l.chars().count()).sum();
    Some(before + column.checked_sub(1)?)
}

/// Where the statement that goes on at `start` begins, if that is a place for a mark.
fn boundary(code: &[char], start: usize) -> Option<usize> {
    let mut start = start;
    loop {
        let before = code.get(..start)?.iter().rposition(|c| !c.is_whitespace())?;
        match code.get(before)? {
            // `(a + b).abs()` begins with what the tree does not keep.
            '(' => start = before,
            '{' | '}' | ';' => return Some(start),
            _ => return None,
        }
    }
}

/// The characters of `text`, with comments blank and texts (and what is inside of them) filled with
/// a letter: braces in there are none.
fn code_only(text: &str) -> Vec<char> {
    let letters: Vec<char> = text.chars().collect();
    let mut code = letters.clone();
    let mut fill = |from: usize, to: usize, with: char| {
        for slot in code.iter_mut().take(to).skip(from) {
            if *slot != '\n' {
                *slot = with;
            }
        }
    };
    let at = |place: usize| letters.get(place).copied().unwrap_or('\0');
    let mut place = 0;
    while place < letters.len() {
        let from = place;
        match (at(place), at(place + 1)) {
            ('/', '/') => {
                while place < letters.len() && at(place) != '\n' {
                    place += 1;
                }
                fill(from, place, ' ');
            }
            ('/', '*') => {
                let mut depth = 0;
                while place < letters.len() {
                    match (at(place), at(place + 1)) {
                        ('/', '*') => (depth, place) = (depth + 1, place + 2),
                        ('*', '/') => (depth, place) = (depth - 1, place + 2),
                        _ => place += 1,
                    }
                    if depth == 0 {
                        break;
                    }
                }
                fill(from, place, ' ');
            }
            (quote @ ('"' | '`' | '\''), _) => {
                place += 1;
                // Between backticks a backslash is a letter like any other.
                while place < letters.len() && at(place) != quote {
                    place += if at(place) == '\\' && quote != '`' { 2 } else { 1 };
                }
                place += 1;
                fill(from, place, 'x');
            }
            _ => place += 1,
        }
    }
    code
}
