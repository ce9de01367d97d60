//! Parses patterns, with the errors of Python.

use super::ast::{Anchor, Mode, Node, Seq, SetItem, UNBOUNDED, Width, flag};
use super::source::{Source, Token, fail};
use crate::error::{Error, ErrorClass, Result};
use indexmap::IndexMap;

/// Maximum length of a pattern in bytes. Tree and tables need a large multiple of it.
const MAX_PATTERN: usize = 1 << 18;
/// Maximum nesting depth; Python raises `RecursionError` at about this depth.
const MAX_DEPTH: usize = 400;

/// A parsed pattern.
pub(super) struct Parsed {
    pub(super) body: Seq,
    pub(super) flags: u32,
    pub(super) groups: usize,
    pub(super) names: IndexMap<String, u32>,
}

pub(super) struct Parser {
    pub(super) source: Source,
    pub(super) flags: u32,
    /// Widths of groups by index; `None` while the group is open. Index 0 is never closed.
    pub(super) groups: Vec<Option<Width>>,
    pub(super) names: IndexMap<String, u32>,
    /// Number of groups before the enclosing look-behind, if the parser is inside one.
    pub(super) behind: Option<usize>,
    /// Group numbers used in conditionals with their positions; checked at the end.
    pub(super) conditions: IndexMap<u64, usize>,
    depth: usize,
}

pub(super) fn parse(pattern: &str, flags: u32) -> Result<Parsed> {
    if pattern.len() > MAX_PATTERN {
        return fail("regular expression is too large");
    }
    let mut parser = Parser {
        source: Source::new(pattern)?,
        flags,
        groups: vec![None],
        names: IndexMap::new(),
        behind: None,
        conditions: IndexMap::new(),
        depth: 0,
    };
    let body = parser.alternatives(flags & flag::VERBOSE != 0, true)?;
    parser.finish(body)
}

impl Parser {
    fn finish(self, body: Seq) -> Result<Parsed> {
        let flags = if self.flags & flag::ASCII == 0 {
            self.flags | flag::UNICODE
        } else if self.flags & flag::UNICODE == 0 {
            self.flags
        } else {
            return Err(Box::new(Error::value("ASCII and UNICODE flags are incompatible")));
        };
        if self.source.peek().is_some() {
            return self.source.fail("unbalanced parenthesis", 0);
        }
        for (&group, &position) in &self.conditions {
            if group >= self.groups.len() as u64 {
                let message = format!("invalid group reference {group}");
                return self.source.fail_at(&message, position);
            }
        }
        Ok(Parsed { body, flags, groups: self.groups.len() - 1, names: self.names })
    }

    /// Parses `a|b|c`. At the top level, global flags apply to the alternatives that follow them.
    pub(super) fn alternatives(&mut self, mut verbose: bool, top: bool) -> Result<Seq> {
        self.enter()?;
        let mut items = Vec::new();
        loop {
            let first = top && items.is_empty();
            items.push(self.sequence(verbose, first)?);
            if !self.source.accept('|')? {
                break;
            }
            if top {
                verbose = self.flags & flag::VERBOSE != 0;
            }
        }
        self.depth -= 1;
        Ok(join_alternatives(items))
    }

    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth <= MAX_DEPTH {
            return Ok(());
        }
        Err(Box::new(Error::new(ErrorClass::Recursion, "maximum recursion depth exceeded")))
    }

    /// Parses the one or two branches of a conditional.
    pub(super) fn branches(&mut self, verbose: bool) -> Result<(Seq, Option<Seq>)> {
        self.enter()?;
        let yes = self.sequence(verbose, false)?;
        let no = if self.source.accept('|')? { Some(self.sequence(verbose, false)?) } else { None };
        if no.is_some() && self.source.peek_is('|') {
            return self.source.fail("conditional backref with more than two branches", 0);
        }
        self.depth -= 1;
        Ok((yes, no))
    }

    fn sequence(&mut self, mut verbose: bool, first: bool) -> Result<Seq> {
        let mut nodes = Vec::new();
        while let Some(token) = self.source.peek() {
            if token.is('|') || token.is(')') {
                break;
            }
            self.source.get()?;
            if verbose && self.skip_verbose(token)? {
                continue;
            }
            match token.plain() {
                None => nodes.push(self.escape(token)?),
                Some('[') => nodes.push(self.set()?),
                Some('*' | '+' | '?' | '{') => self.repeat(token, &mut nodes)?,
                Some('.') => nodes.push(Node::Any),
                Some('(') => {
                    let at_start = first && nodes.is_empty();
                    nodes.extend(self.group(&mut verbose, at_start)?);
                }
                Some('^') => nodes.push(Node::At(Anchor::Start)),
                Some('$') => nodes.push(Node::At(Anchor::End)),
                Some(ch) => nodes.push(Node::Literal(u32::from(ch))),
            }
        }
        Ok(Seq::new(unwrap_plain_groups(nodes)))
    }

    /// Skips whitespace and comments in verbose mode.
    fn skip_verbose(&mut self, token: Token) -> Result<bool> {
        match token.plain() {
            Some(' ' | '\t' | '\n' | '\r' | '\x0B' | '\x0C') => Ok(true),
            Some('#') => {
                while self.source.get()?.is_some_and(|token| !token.is('\n')) {}
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Applies a quantifier to the last node, or adds `{` as a literal if it starts no quantifier.
    fn repeat(&mut self, token: Token, nodes: &mut Vec<Node>) -> Result<()> {
        let here = self.source.tell();
        let bounds = match token.ch {
            '?' => Some((0, 1)),
            '*' => Some((0, UNBOUNDED)),
            '+' => Some((1, UNBOUNDED)),
            _ => self.bounds(here)?,
        };
        let Some((min, max)) = bounds else {
            nodes.push(Node::Literal(u32::from('{')));
            return Ok(());
        };
        let body = match nodes.pop() {
            None | Some(Node::At(_)) => return self.source.fail_at("nothing to repeat", here - 1),
            Some(Node::Repeat { .. }) => return self.source.fail_at("multiple repeat", here - 1),
            Some(Node::Group { index: None, add: 0, del: 0, body }) => body,
            Some(node) => Seq::new(vec![node]),
        };
        let mode = if self.source.accept('?')? {
            Mode::Lazy
        } else if self.source.accept('+')? {
            Mode::Possessive
        } else {
            Mode::Greedy
        };
        nodes.push(Node::Repeat { min, max, mode, body });
        Ok(())
    }

    /// Parses `m}`, `m,}`, `,n}` or `m,n}`; `None` if the brace starts no quantifier.
    fn bounds(&mut self, here: usize) -> Result<Option<(u32, u32)>> {
        if self.source.peek_is('}') {
            return Ok(None);
        }
        let digit = |ch: char| ch.is_ascii_digit();
        let (mut low, mut high) = (String::new(), String::new());
        self.source.take_while(usize::MAX, digit, &mut low)?;
        if self.source.accept(',')? {
            self.source.take_while(usize::MAX, digit, &mut high)?;
        } else {
            high.clone_from(&low);
        }
        if !self.source.accept('}')? {
            self.source.seek(here)?;
            return Ok(None);
        }
        let min = repeat_number(&low)?.unwrap_or(0);
        let max = repeat_number(&high)?.unwrap_or(UNBOUNDED);
        if max < min {
            return self.source.fail_at("min repeat greater than max repeat", here);
        }
        Ok(Some((min, max)))
    }

    pub(super) fn is_closed(&self, group: usize) -> bool {
        self.groups.get(group).is_some_and(Option::is_some)
    }

    /// Fails if a reference inside a look-behind refers to a group that was not closed before the
    /// look-behind: its width would depend on itself.
    pub(super) fn check_behind(&self, group: usize) -> Result<()> {
        let Some(before) = self.behind else { return Ok(()) };
        if !self.is_closed(group) {
            return self.source.fail("cannot refer to an open group", 0);
        }
        if group >= before {
            let message = "cannot refer to group defined in the same lookbehind subpattern";
            return self.source.fail(message, 0);
        }
        Ok(())
    }

    pub(super) fn reference(&self, group: usize) -> Node {
        let width = self.groups.get(group).copied().flatten().unwrap_or_default();
        Node::GroupRef { group: group as u32, width }
    }
}

/// Maximum number of digits that Python's integer conversion accepts.
const MAX_INT_DIGITS: usize = 4300;

fn repeat_number(digits: &str) -> Result<Option<u32>> {
    if digits.is_empty() {
        return Ok(None);
    }
    if digits.len() > MAX_INT_DIGITS {
        return Err(Box::new(Error::value(format!(
            "Exceeds the limit ({MAX_INT_DIGITS} digits) for integer string conversion: value has {} digits; \
             use sys.set_int_max_str_digits() to increase the limit",
            digits.len()
        ))));
    }
    match digits.parse::<u32>() {
        Ok(number) if number < UNBOUNDED => Ok(Some(number)),
        _ => Err(Box::new(Error::overflow("the repetition number is too large"))),
    }
}

/// Inlines the nodes of `(?:…)` groups without flags.
fn unwrap_plain_groups(nodes: Vec<Node>) -> Vec<Node> {
    let plain = |node: &Node| matches!(node, Node::Group { index: None, add: 0, del: 0, .. });
    if !nodes.iter().any(plain) {
        return nodes;
    }
    let mut out = Vec::with_capacity(nodes.len());
    for node in nodes {
        match node {
            Node::Group { index: None, add: 0, del: 0, body } => out.extend(body.nodes),
            node => out.push(node),
        }
    }
    out
}

/// Factors out the common prefix of alternatives; merges single-character alternatives into a set.
fn join_alternatives(mut items: Vec<Seq>) -> Seq {
    if items.len() == 1 {
        return items.pop().unwrap_or_default();
    }
    let shared = shared_prefix(&items);
    let mut nodes = Vec::new();
    for (index, item) in items.iter_mut().enumerate() {
        let prefix: Vec<Node> = item.nodes.drain(..shared).collect();
        if index == 0 {
            nodes = prefix;
        }
        if shared > 0 {
            *item = Seq::new(std::mem::take(&mut item.nodes));
        }
    }
    nodes.push(match joined_set(&items) {
        Some(set) => Node::Set { negate: false, items: set },
        None => Node::Branch(items),
    });
    Seq::new(nodes)
}

fn shared_prefix(items: &[Seq]) -> usize {
    let Some((first, rest)) = items.split_first() else { return 0 };
    let same = |index: usize, node: &Node| {
        rest.iter().all(|item| item.nodes.get(index).is_some_and(|other| node.same_simple(other)))
    };
    first.nodes.iter().enumerate().take_while(|(index, node)| same(*index, node)).count()
}

fn joined_set(items: &[Seq]) -> Option<Vec<SetItem>> {
    let mut set = Vec::new();
    for item in items {
        match item.nodes.as_slice() {
            [Node::Literal(code)] => set.push(SetItem::Range(*code, *code)),
            [Node::Set { negate: false, items }] => set.extend(items),
            _ => return None,
        }
    }
    Some(set)
}
