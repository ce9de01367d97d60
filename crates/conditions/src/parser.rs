//! From words to a tree.

use std::ops::Range;

use crate::dialect::Dialect;
use crate::error::{ConditionError, codes};
use crate::lexer::{Token, TokenKind, tokens};
use crate::tree::{Comparison, Expr, ExprKind};

/// Bytes of a condition. The longest known has some four hundred.
const BYTES_MAX: usize = 16 * 1024;

/// Parentheses and `not` inside each other.
const DEPTH_MAX: usize = 64;

/// A tree, and where a `not` before a comparison takes less than it seems to.
pub(crate) struct Parsed {
    pub(crate) root: Expr,
    pub(crate) narrow_nots: Vec<Range<usize>>,
}

pub(crate) fn parse(text: &str, dialect: Dialect) -> Result<Parsed, ConditionError> {
    if text.len() > BYTES_MAX {
        let message = format!("a condition has at most {BYTES_MAX} bytes, this has {}", text.len());
        return Err(ConditionError::new(codes::LIMIT, 0..0, message));
    }
    let tokens = tokens(text, dialect)?;
    if tokens.is_empty() {
        return Err(
            ConditionError::syntax(0..0, "the condition is empty").with_help("leave it out, or write `true`")
        );
    }
    let mut parser =
        Parser { tokens: tokens.into_iter().peekable(), end: text.len(), depth: 0, narrow_nots: Vec::new() };
    let root = parser.or()?;
    match parser.tokens.next() {
        None => Ok(Parsed { root, narrow_nots: parser.narrow_nots }),
        Some(token) => Err(unexpected(&token)),
    }
}

struct Parser {
    tokens: std::iter::Peekable<std::vec::IntoIter<Token>>,
    /// Where the text ends.
    end: usize,
    depth: usize,
    narrow_nots: Vec<Range<usize>>,
}

impl Parser {
    fn or(&mut self) -> Result<Expr, ConditionError> {
        self.chain(&TokenKind::Or, Self::and, ExprKind::Or)
    }

    fn and(&mut self) -> Result<Expr, ConditionError> {
        self.chain(&TokenKind::And, Self::equality, ExprKind::And)
    }

    fn chain(
        &mut self,
        operator: &TokenKind,
        operand: fn(&mut Self) -> Result<Expr, ConditionError>,
        make: fn(Vec<Expr>) -> ExprKind,
    ) -> Result<Expr, ConditionError> {
        let first = operand(self)?;
        if !self.is_next(operator) {
            return Ok(first);
        }
        let start = first.span.start;
        let (mut operands, mut end) = (vec![first], start);
        while self.is_next(operator) {
            self.tokens.next();
            let next = operand(self)?;
            end = next.span.end;
            operands.push(next);
        }
        Ok(Expr { kind: make(operands), span: start..end })
    }

    fn equality(&mut self) -> Result<Expr, ConditionError> {
        self.comparison(&[Comparison::Equal, Comparison::Unequal], Self::membership)
    }

    fn membership(&mut self) -> Result<Expr, ConditionError> {
        self.comparison(&[Comparison::In], Self::negation)
    }

    fn comparison(
        &mut self,
        operators: &[Comparison],
        operand: fn(&mut Self) -> Result<Expr, ConditionError>,
    ) -> Result<Expr, ConditionError> {
        let starts_with_not = self.is_next(&TokenKind::Not);
        let first = operand(self)?;
        let (start, mut rest) = (first.span.clone(), Vec::new());
        let mut end = start.end;
        while let Some(operator) = self.next_comparison(operators) {
            let next = operand(self)?;
            end = next.span.end;
            rest.push((operator, next));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        if starts_with_not && matches!(first.kind, ExprKind::Not(_)) {
            self.narrow_nots.push(start.start..end);
        }
        Ok(Expr { kind: ExprKind::Compare(Box::new(first), rest), span: start.start..end })
    }

    fn negation(&mut self) -> Result<Expr, ConditionError> {
        if !self.is_next(&TokenKind::Not) {
            return self.atom();
        }
        let start = self.tokens.next().map_or(self.end, |token| token.span.start);
        let operand = self.deeper(start, Self::negation)?;
        let span = start..operand.span.end;
        Ok(Expr { kind: ExprKind::Not(Box::new(operand)), span })
    }

    fn atom(&mut self) -> Result<Expr, ConditionError> {
        let Some(token) = self.tokens.next() else {
            return Err(ConditionError::syntax(self.end..self.end, "the condition ends too early")
                .with_help("a value has to follow"));
        };
        match token.kind {
            TokenKind::Constant(value) => Ok(Expr { kind: ExprKind::Constant(value), span: token.span }),
            TokenKind::Path(path) => Ok(Expr { kind: ExprKind::Path(path), span: token.span }),
            TokenKind::Open => self.parenthesis(&token.span),
            _ => Err(unexpected(&token)),
        }
    }

    fn parenthesis(&mut self, open: &Range<usize>) -> Result<Expr, ConditionError> {
        let inside = self.deeper(open.start, Self::or)?;
        match self.tokens.next() {
            Some(Token { kind: TokenKind::Close, span }) => {
                Ok(Expr { kind: inside.kind, span: open.start..span.end })
            }
            Some(token) => Err(unexpected(&token)),
            None => Err(ConditionError::syntax(open.clone(), "the parenthesis is not closed")),
        }
    }

    fn deeper(
        &mut self,
        start: usize,
        read: fn(&mut Self) -> Result<Expr, ConditionError>,
    ) -> Result<Expr, ConditionError> {
        if self.depth == DEPTH_MAX {
            let message = format!("more than {DEPTH_MAX} parentheses and `not` inside each other");
            return Err(ConditionError::new(codes::LIMIT, start..start, message));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn is_next(&mut self, kind: &TokenKind) -> bool {
        self.tokens.peek().is_some_and(|token| token.kind == *kind)
    }

    fn next_comparison(&mut self, operators: &[Comparison]) -> Option<Comparison> {
        let is_one =
            |token: &Token| matches!(&token.kind, TokenKind::Compare(found) if operators.contains(found));
        match self.tokens.next_if(is_one)?.kind {
            TokenKind::Compare(operator) => Some(operator),
            _ => None,
        }
    }
}

fn unexpected(token: &Token) -> ConditionError {
    let (message, help) = match &token.kind {
        TokenKind::Constant(_) | TokenKind::Path(_) | TokenKind::Open | TokenKind::Not => {
            ("an operator is missing before this", "join values with `and`, `or`, `==`, `!=` or `in`")
        }
        TokenKind::Close => ("this closes no parenthesis, or one with nothing in it", "remove it"),
        TokenKind::Or | TokenKind::And | TokenKind::Compare(_) => (
            "a value is missing before this",
            "values are paths, numbers, text in quotes, `true`, `false`, `null`",
        ),
    };
    ConditionError::syntax(token.span.clone(), message).with_help(help)
}
