//! Precedence-climbing parser.

use std::sync::Arc;

use smallvec::SmallVec;

use super::lexer::{Lexer, Token, TokenKind, char_position};
use super::node::{ArgNode, ArgRange, BinaryOp, Node, NodeId, SpannedNode, Tree, UnaryOp, VarName};
use crate::error::{Error, ErrorClass, Result, Span};
use crate::value::{StrKey, Value};

/// The dialect of the language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Grammar {
    /// Whether `value(…)` calls a callable.
    pub delegates: bool,
    /// Whether `=>` is an operator that builds tuples, which excludes named arguments.
    pub legacy: bool,
}

/// Maximum length of an expression in bytes. A tree takes many times the space of its source.
const SOURCE_BYTES_MAX: usize = 4 << 20;

/// Maximum nesting depth of an expression. Python YAQL fails at about 100.
const DEPTH_MAX: u16 = 500;

// Binding powers from the operator table of the language reference, tightest first.
const POWER_DOT: u8 = 24;
const POWER_INDEX: u8 = 22;
const POWER_SIGN: u8 = 20;
const POWER_NOT: u8 = 10;
const POWER_INVOKE: u8 = 1;

/// Returns the left and right binding power of a binary operator.
fn powers(op: BinaryOp) -> (u8, u8) {
    match op {
        BinaryOp::Matches | BinaryOp::NotMatches => (18, 19),
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod => (16, 17),
        BinaryOp::Add | BinaryOp::Sub => (14, 15),
        BinaryOp::Gt
        | BinaryOp::Lt
        | BinaryOp::Ge
        | BinaryOp::Le
        | BinaryOp::Ne
        | BinaryOp::Eq
        | BinaryOp::In => (12, 13),
        BinaryOp::And => (8, 9),
        BinaryOp::Or => (6, 7),
        BinaryOp::Pair => (4, 5),
        // The only right-associative operator.
        BinaryOp::Arrow => (3, 2),
    }
}

/// Parses one expression.
pub fn parse(source: &str, grammar: Grammar) -> Result<Tree> {
    if source.len() > SOURCE_BYTES_MAX {
        let message =
            format!("expression is too long: {} bytes, the maximum is {SOURCE_BYTES_MAX}", source.len());
        return Err(Box::new(Error::value(message)));
    }
    let mut lexer = Lexer::new(source);
    let mut token = Token { kind: TokenKind::End, span: Span::default() };
    lexer.next(&mut token)?;
    let estimate = source.len() / 3 + 4;
    let mut parser = Parser {
        source,
        grammar,
        lexer,
        token,
        nodes: Vec::with_capacity(estimate),
        args: Vec::new(),
        names: Vec::new(),
        level: 0,
        sites: 0,
    };
    let root = parser.expression(0)?;
    if !matches!(parser.token.kind, TokenKind::End) {
        return Err(parser.unexpected());
    }
    let Parser { nodes, args, lexer, names, sites, .. } = parser;
    Ok(Tree { source: Arc::from(source), nodes, args, constants: lexer.constants, names, sites, root })
}

struct Parser<'a> {
    source: &'a str,
    grammar: Grammar,
    lexer: Lexer<'a>,
    /// The lookahead token.
    token: Token,
    nodes: Vec<SpannedNode>,
    args: Vec<ArgNode>,
    names: Vec<VarName>,
    /// Number of active nested calls of [`Parser::expression`].
    level: u16,
    /// Number of call sites parsed up to now.
    sites: u32,
}

impl Parser<'_> {
    /// Consumes the lookahead token and returns its span.
    fn advance(&mut self) -> Result<Span> {
        let Span { start, end } = self.token.span;
        self.lexer.next(&mut self.token)?;
        Ok(Span { start, end })
    }

    fn expression(&mut self, power: u8) -> Result<NodeId> {
        self.level += 1;
        if self.level > DEPTH_MAX {
            return Err(Self::too_deep(self.token.span));
        }
        let first = self.operand();
        let node = first.and_then(|node| self.suffixes(node, power));
        self.level -= 1;
        node
    }

    fn operand(&mut self) -> Result<NodeId> {
        if let Some(op) = self.token.kind.prefix() {
            let prefix = self.advance()?;
            let power = if op == UnaryOp::Not { POWER_NOT } else { POWER_SIGN };
            let operand = self.expression(power)?;
            let span = prefix.to(self.span(operand));
            return self.push(Node::Unary(op, operand), span, &[operand]);
        }
        match self.token.kind {
            TokenKind::Const => {
                // No token has been read after the constant, so its value is the last constant.
                let index = self.lexer.constants.len() as u32 - 1;
                let span = self.advance()?;
                self.push_above(Node::Const(index), span, 0)
            }
            TokenKind::Keyword => {
                let index = self.constant(Value::str(self.text(self.token.span)));
                let span = self.advance()?;
                self.push_above(Node::Keyword(index), span, 0)
            }
            TokenKind::Variable => {
                let span = self.advance()?;
                let node = self.variable(span);
                self.push_above(node, span, 0)
            }
            TokenKind::CallHead => {
                let (name, args, span) = self.call()?;
                let site = self.site();
                self.push_with_args(Node::Call { name, args, site }, span, args, &[])
            }
            TokenKind::OpenParen => {
                let open = self.advance()?;
                let inner = self.expression(0)?;
                let close = self.expect(|kind| matches!(kind, TokenKind::CloseParen))?;
                self.push(Node::Paren(inner), open.to(close), &[inner])
            }
            TokenKind::OpenBracket => {
                let open = self.advance()?;
                let (args, close) = self.arguments(|kind| matches!(kind, TokenKind::CloseBracket))?;
                self.push_with_args(Node::List(args), open.to(close), args, &[])
            }
            TokenKind::OpenBrace => {
                let open = self.advance()?;
                let (args, close) = self.arguments(|kind| matches!(kind, TokenKind::CloseBrace))?;
                self.push_with_args(Node::Map(args), open.to(close), args, &[])
            }
            _ => Err(self.unexpected()),
        }
    }

    fn constant(&mut self, value: Value) -> u32 {
        self.lexer.constants.push(value);
        self.lexer.constants.len() as u32 - 1
    }

    fn variable(&mut self, span: Span) -> Node {
        match VarName::new(&self.text(span)[1..]) {
            VarName::FIRST => Node::Dollar,
            name => {
                self.names.push(name);
                Node::Var(self.names.len() as u32 - 1)
            }
        }
    }

    fn suffixes(&mut self, mut left: NodeId, power: u8) -> Result<NodeId> {
        loop {
            left = match self.token.kind {
                TokenKind::Dot | TokenKind::SafeDot if POWER_DOT >= power => self.dot(left)?,
                TokenKind::OpenBracket if POWER_INDEX >= power => {
                    self.advance()?;
                    let (args, close) = self.arguments(|kind| matches!(kind, TokenKind::CloseBracket))?;
                    let span = self.span(left).to(close);
                    let site = self.site();
                    self.push_with_args(Node::Index { receiver: left, args, site }, span, args, &[left])?
                }
                TokenKind::Binary(op) if powers(op).0 >= power => self.binary(op, left)?,
                TokenKind::Pair if self.grammar.legacy && powers(BinaryOp::Pair).0 >= power => {
                    self.binary(BinaryOp::Pair, left)?
                }
                TokenKind::OpenParen if self.grammar.delegates && POWER_INVOKE >= power => {
                    self.advance()?;
                    let (args, close) = self.arguments(|kind| matches!(kind, TokenKind::CloseParen))?;
                    let span = self.span(left).to(close);
                    let site = self.site();
                    self.push_with_args(Node::Invoke { callee: left, args, site }, span, args, &[left])?
                }
                _ => return Ok(left),
            };
        }
    }

    fn binary(&mut self, op: BinaryOp, left: NodeId) -> Result<NodeId> {
        self.advance()?;
        let right = self.expression(powers(op).1)?;
        let span = self.span(left).to(self.span(right));
        self.push(Node::Binary(op, left, right), span, &[left, right])
    }

    fn dot(&mut self, receiver: NodeId) -> Result<NodeId> {
        let safe = matches!(self.token.kind, TokenKind::SafeDot);
        self.advance()?;
        match self.token.kind {
            TokenKind::Keyword => {
                let key = self.advance()?;
                let hash = StrKey::new(self.text(key)).hash;
                let span = self.span(receiver).to(key);
                self.push(Node::Member { receiver, key, hash, safe }, span, &[receiver])
            }
            TokenKind::CallHead => {
                let (name, args, call) = self.call()?;
                let span = self.span(receiver).to(call);
                let site = self.site();
                self.push_with_args(
                    Node::Method { receiver, name, args, safe, site },
                    span,
                    args,
                    &[receiver],
                )
            }
            _ => {
                let right = self.expression(POWER_DOT + 1)?;
                let span = self.span(receiver).to(self.span(right));
                self.push(Node::BadDot { receiver, right, safe }, span, &[receiver, right])
            }
        }
    }

    /// Parses a call whose head is the lookahead token. Returns its name, arguments and span.
    fn call(&mut self) -> Result<(Span, ArgRange, Span)> {
        let head = self.advance()?;
        let name = Span { start: head.start, end: head.end - 1 };
        let (args, close) = self.arguments(|kind| matches!(kind, TokenKind::CloseParen))?;
        Ok((name, args, head.to(close)))
    }

    /// Parses an argument list including its closing token.
    fn arguments(&mut self, closes: fn(&TokenKind) -> bool) -> Result<(ArgRange, Span)> {
        let mut slots: SmallVec<[ArgNode; 8]> = SmallVec::new();
        if !closes(&self.token.kind) {
            self.slots(&mut slots)?;
        }
        let close = self.expect(closes)?;
        let start = self.args.len() as u32;
        self.args.extend_from_slice(&slots);
        Ok((ArgRange { start, len: slots.len() as u32 }, close))
    }

    fn slots(&mut self, slots: &mut SmallVec<[ArgNode; 8]>) -> Result<()> {
        let mut empty = 0;
        let mut positional = false;
        loop {
            while matches!(self.token.kind, TokenKind::Comma) {
                self.advance()?;
                slots.push(ArgNode::Omitted);
                empty += 1;
            }
            let value = self.expression(0)?;
            if matches!(self.token.kind, TokenKind::Pair) {
                // At most one slot may be empty before the named arguments, and only after a value.
                if empty > usize::from(positional) {
                    return Err(self.unexpected());
                }
                return self.pairs(value, slots);
            }
            slots.push(ArgNode::Positional(value));
            (positional, empty) = (true, 0);
            if !matches!(self.token.kind, TokenKind::Comma) {
                return Ok(());
            }
            self.advance()?;
        }
    }

    /// Parses named arguments, starting at the arrow after the first name.
    fn pairs(&mut self, mut key: NodeId, slots: &mut SmallVec<[ArgNode; 8]>) -> Result<()> {
        loop {
            self.expect(|kind| matches!(kind, TokenKind::Pair))?;
            let value = self.expression(0)?;
            slots.push(ArgNode::Pair(key, value));
            if !matches!(self.token.kind, TokenKind::Comma) {
                return Ok(());
            }
            self.advance()?;
            key = self.expression(0)?;
        }
    }

    fn expect(&mut self, fits: fn(&TokenKind) -> bool) -> Result<Span> {
        if fits(&self.token.kind) { self.advance() } else { Err(self.unexpected()) }
    }

    #[inline]
    fn push(&mut self, node: Node, span: Span, children: &[NodeId]) -> Result<NodeId> {
        let below = children.iter().map(|id| self.nodes[*id as usize].depth).max().unwrap_or(0);
        self.push_above(node, span, below)
    }

    #[inline]
    fn push_with_args(&mut self, node: Node, span: Span, args: ArgRange, more: &[NodeId]) -> Result<NodeId> {
        let slots = &self.args[args.start as usize..(args.start + args.len) as usize];
        let depth = |id: NodeId| self.nodes[id as usize].depth;
        let below = slots.iter().map(|slot| match *slot {
            ArgNode::Omitted => 0,
            ArgNode::Positional(value) => depth(value),
            ArgNode::Pair(key, value) => depth(key).max(depth(value)),
        });
        let below = below.chain(more.iter().map(|id| depth(*id))).max().unwrap_or(0);
        self.push_above(node, span, below)
    }

    #[inline]
    fn push_above(&mut self, node: Node, span: Span, below: u16) -> Result<NodeId> {
        if below >= DEPTH_MAX {
            return Err(Self::too_deep(span));
        }
        self.nodes.push(SpannedNode { node, span, depth: below + 1 });
        Ok(self.nodes.len() as u32 - 1)
    }

    fn site(&mut self) -> u32 {
        self.sites += 1;
        self.sites - 1
    }

    fn span(&self, id: NodeId) -> Span {
        self.nodes[id as usize].span
    }

    fn text(&self, span: Span) -> &str {
        &self.source[span.start as usize..span.end as usize]
    }

    fn too_deep(span: Span) -> Box<Error> {
        let error = Error::new(ErrorClass::Recursion, "maximum recursion depth exceeded").at(span);
        Box::new(error.help(format!("reduce the nesting of the expression to at most {DEPTH_MAX} levels")))
    }

    fn unexpected(&self) -> Box<Error> {
        let span = self.token.span;
        let error = |message: String| Error::new(ErrorClass::Grammar, message).at(span);
        let token_text = match self.token.kind {
            TokenKind::End => return Box::new(error("Parse error: unexpected end of statement".into())),
            TokenKind::Const => {
                let constant = self.lexer.constants.last().unwrap_or(&Value::Null);
                constant.to_message_text().unwrap_or_default()
            }
            TokenKind::CallHead => self.text(Span { end: span.end - 1, ..span }).to_owned(),
            _ => self.text(span).to_owned(),
        };
        let position = char_position(self.source, span.start as usize);
        Box::new(error(format!(
            "Parse error: unexpected '{token_text}' at position {position} of expression '{}'",
            self.source
        )))
    }
}
