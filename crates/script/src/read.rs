//! Parses text to a [`Script`], or reports the first mistake and its place.

mod cursor;
mod fields;
mod statement;

use crate::error::{Problem, ScriptError};
use crate::syntax::{Action, Script, Statement};
use cursor::Cursor;
use std::collections::BTreeSet;

/// The maximum length of a script in bytes.
pub(crate) const MAX_SCRIPT: usize = 1 << 20;

/// State carried from line to line.
#[derive(Debug, Default)]
struct ReaderState {
    /// The variables that have a value.
    variables: BTreeSet<String>,
}

impl Script {
    /// Parses a script. `origin` names it in errors and reports.
    ///
    /// # Errors
    /// The first mistake. A script is at most 1 MiB long.
    pub fn parse(origin: &str, text: &str) -> Result<Script, ScriptError> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut script = Script {
            origin: origin.to_owned(),
            options: Vec::new(),
            statements: Vec::new(),
            lines: Vec::new(),
        };
        let mut known = ReaderState::default();
        if text.len() > MAX_SCRIPT {
            return Err(at(origin, 0, Problem::new(1, "the script is longer than 1 MiB")));
        }
        for (index, line) in lines.iter().enumerate() {
            read_line(&mut script, &mut known, index + 1, line)
                .map_err(|problem| at(origin, index, problem))?;
        }
        script.lines = lines;
        Ok(script)
    }
}

fn at(origin: &str, index: usize, problem: Problem) -> ScriptError {
    ScriptError { origin: origin.to_owned(), line: index + 1, column: problem.column, problem: problem.text }
}

fn read_line(script: &mut Script, known: &mut ReaderState, line: usize, text: &str) -> Result<(), Problem> {
    let tokens = crate::lexer::tokens(text)?;
    if tokens.is_empty() {
        return Ok(());
    }
    let mut cursor = Cursor::new(&tokens, text.chars().count() + 1);
    if cursor.take_word("option") {
        if let Some(first) = script.statements.first() {
            let problem =
                format!("options come before all statements; the first statement is in line {}", first.line);
            return Err(Problem::new(cursor.column_before(), problem));
        }
        script.options.push(statement::option(&mut cursor, line)?);
    } else if cursor.take_sign("&") {
        let column = cursor.column_before();
        let injected = match script.statements.last().map(|statement| &statement.action) {
            Some(Action::Expect(_)) => false,
            Some(Action::Inject(_)) => true,
            _ => {
                let problem = "& continues the datagram of the line before, which begins with neither < \
                               nor >";
                return Err(Problem::new(column, problem));
            }
        };
        let packet = statement::packet(&mut cursor, known, line, injected)?;
        if let Some(Statement { action: Action::Expect(packets) | Action::Inject(packets), .. }) =
            script.statements.last_mut()
        {
            packets.push(packet);
        }
    } else {
        script.statements.push(statement::statement(&mut cursor, known, line)?);
    }
    cursor.end()
}

#[cfg(test)]
mod tests;
