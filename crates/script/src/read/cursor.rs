//! The position of the reader in a line.

use crate::error::Problem;
use crate::lexer::{Kind, Token};

/// The remaining tokens of a line.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    tokens: &'a [Token],
    at: usize,
    /// The column after the last character.
    end: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(tokens: &'a [Token], end: usize) -> Cursor<'a> {
        Cursor { tokens, at: 0, end }
    }

    pub(super) fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }
    pub(super) fn next(&mut self) -> Option<&'a Token> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        Some(token)
    }
    /// The column of the next token.
    pub(super) fn column(&self) -> usize {
        self.peek().map_or(self.end, |token| token.column)
    }
    /// The column of the last token read.
    pub(super) fn column_before(&self) -> usize {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(1, |token| token.column)
    }

    pub(super) fn sees(&self, kind: Kind, text: &str) -> bool {
        self.peek().is_some_and(|token| token.kind == kind && token.text == text)
    }
    pub(super) fn take_sign(&mut self, sign: &str) -> bool {
        let sees = self.sees(Kind::Sign, sign);
        self.at += usize::from(sees);
        sees
    }
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let sees = self.sees(Kind::Word, word);
        self.at += usize::from(sees);
        sees
    }

    /// The error for an unexpected token.
    pub(super) fn expected(&self, what: &str) -> Problem {
        let found = self.peek().map_or("the end of the line".to_owned(), Token::shown);
        Problem::new(self.column(), format!("found {found}; expected {what}"))
    }
    /// Requires this symbol.
    pub(super) fn sign(&mut self, sign: &str) -> Result<(), Problem> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.expected(&format!("{sign:?}"))) }
    }
    /// Requires a token of this kind.
    pub(super) fn of(&mut self, kind: Kind, what: &str) -> Result<&'a Token, Problem> {
        match self.peek() {
            Some(token) if token.kind == kind => {
                self.at += 1;
                Ok(token)
            }
            _ => Err(self.expected(what)),
        }
    }
    /// Requires the end of the line.
    pub(super) fn end(&self) -> Result<(), Problem> {
        if self.peek().is_none() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }
}
