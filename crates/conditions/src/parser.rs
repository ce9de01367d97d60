//! Parser of the condition language.

use std::ops::Range;

use crate::dialect::Dialect;
use crate::error::{ConditionError, codes};
use crate::lexer::{Token, TokenKind, tokens};
use crate::tree::{Comparison, Expr, ExprKind};

/// Maximum length of a condition in bytes. The longest known one has about 400.
const BYTES_MAX: usize = 16 * 1024;

/// Maximum nesting of parentheses and `not`; bounds the recursion depth.
const DEPTH_MAX: usize = 64;

/// A syntax tree, and the spans of comparisons whose leading `not` applies only to the first value.
pub(crate) struct Parsed {
    pub(crate) root: Expr,
    pub(crate) narrow_nots: Vec<Range<usize>>,
}

pub(crate) fn parse(text: &str, dialect: Dialect) -> Result<Parsed, ConditionError> {
    if text.len() > BYTES_MAX {
        let message = format!("a condition must have at most {BYTES_MAX} bytes, got {}", text.len());
        return Err(ConditionError::new(codes::LIMIT, 0..0, message));
    }
    let tokens = tokens(text, dialect)?;
    if tokens.is_empty() {
        return Err(
            ConditionError::syntax(0..0, "the condition is empty").with_help("remove it, or write `true`")
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
    /// Length of the text.
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
        let operand = self.nested(start, Self::negation)?;
        let span = start..operand.span.end;
        Ok(Expr { kind: ExprKind::Not(Box::new(operand)), span })
    }

    fn atom(&mut self) -> Result<Expr, ConditionError> {
        let Some(token) = self.tokens.next() else {
            return Err(ConditionError::syntax(self.end..self.end, "unexpected end of the condition")
                .with_help("add a value"));
        };
        match token.kind {
            TokenKind::Constant(value) => Ok(Expr { kind: ExprKind::Constant(value), span: token.span }),
            TokenKind::Path(path) => Ok(Expr { kind: ExprKind::Path(path), span: token.span }),
            TokenKind::Open => self.parenthesis(&token.span),
            _ => Err(unexpected(&token)),
        }
    }

    fn parenthesis(&mut self, open: &Range<usize>) -> Result<Expr, ConditionError> {
        let inner = self.nested(open.start, Self::or)?;
        match self.tokens.next() {
            Some(Token { kind: TokenKind::Close, span }) => {
                Ok(Expr { kind: inner.kind, span: open.start..span.end })
            }
            Some(token) => Err(unexpected(&token)),
            None => Err(ConditionError::syntax(open.clone(), "unclosed parenthesis")),
        }
    }

    fn nested(
        &mut self,
        start: usize,
        read: fn(&mut Self) -> Result<Expr, ConditionError>,
    ) -> Result<Expr, ConditionError> {
        if self.depth == DEPTH_MAX {
            let message = format!("parentheses and `not` are nested more than {DEPTH_MAX} levels deep");
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
        let is_match = |token: &Token| matches!(&token.kind, TokenKind::Compare(operator) if operators.contains(operator));
        match self.tokens.next_if(is_match)?.kind {
            TokenKind::Compare(operator) => Some(operator),
            _ => None,
        }
    }
}

fn unexpected(token: &Token) -> ConditionError {
    let (message, help) = match &token.kind {
        TokenKind::Constant(_) | TokenKind::Path(_) | TokenKind::Open | TokenKind::Not => {
            ("missing operator before this", "join values with `and`, `or`, `==`, `!=` or `in`")
        }
        TokenKind::Close => ("unmatched or empty parenthesis", "remove it"),
        TokenKind::Or | TokenKind::And | TokenKind::Compare(_) => (
            "missing value before this",
            "values are paths, numbers, text in quotes, `true`, `false`, `null`",
        ),
    };
    ConditionError::syntax(token.span.clone(), message).with_help(help)
}
