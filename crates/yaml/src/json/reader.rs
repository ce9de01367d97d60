//! The JSON parser. Open containers are on an explicit stack, so that the nesting depth does not affect the
//! call stack.

use std::collections::HashMap;
use std::sync::Arc;

use stoker_diagnostics::{Diagnostic, Diagnostics, Position, Span, quoted};

use super::codes;
use super::cursor::Cursor;
use super::syntax::{Expected, unexpected};
use super::{number, text};
use crate::limits::LoadLimits;
use crate::node::{Node, NodeKind, Scalar};

pub(super) struct Reader<'t> {
    cursor: Cursor<'t>,
    limits: &'t LoadLimits,
    problems: &'t mut Diagnostics,
    n_nodes: usize,
    /// Open arrays and objects, outermost first.
    frames: Vec<Frame>,
    /// Completed items of all open arrays, innermost last; an array takes its items from the end when it
    /// closes.
    items: Vec<Node>,
    /// Completed entries of all open objects, innermost last.
    entries: Vec<(Node, Node)>,
    key_cache: KeyCache,
}

struct Frame {
    start: Position,
    container: Container,
}

enum Container {
    List {
        first_item: usize,
    },
    /// `key` is the key whose value is being parsed.
    Object {
        first_entry: usize,
        key: Option<Node>,
    },
}

/// A problem that ends parsing. Boxed, because it is rare and nearly every function returns it.
type FatalDiagnostic = Box<Diagnostic>;

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, limits: &'t LoadLimits, problems: &'t mut Diagnostics) -> Self {
        Self {
            cursor: Cursor::new(text),
            limits,
            problems,
            n_nodes: 0,
            frames: Vec::new(),
            items: Vec::new(),
            entries: Vec::new(),
            key_cache: KeyCache::default(),
        }
    }

    /// Parses the value of the text; `None` if a syntax error ended parsing.
    pub(super) fn run(mut self) -> Option<Node> {
        match self.read() {
            Ok(root) => Some(root),
            Err(problem) => {
                self.problems.push(*problem);
                None
            }
        }
    }

    fn read(&mut self) -> Result<Node, FatalDiagnostic> {
        let mut expected = Expected::Value;
        loop {
            self.cursor.skip_blanks();
            let Some(node) = self.begin_value(expected)? else {
                expected = Expected::Value;
                continue;
            };
            let mut node = node;
            loop {
                let Some(frame) = self.frames.last_mut() else { return self.finish(node) };
                match &mut frame.container {
                    Container::List { .. } => self.items.push(node),
                    Container::Object { key, .. } => {
                        // An object always has a pending key here.
                        self.entries.extend(key.take().map(|key| (key, node)));
                    }
                }
                match self.after_value()? {
                    Some(closed) => node = closed,
                    None => break,
                }
            }
            let in_list = matches!(self.frames.last(), Some(Frame { container: Container::List { .. }, .. }));
            expected = if in_list { Expected::Item } else { Expected::Value };
        }
    }

    /// Parses a scalar or empty container, or opens a container and returns `None`.
    fn begin_value(&mut self, expected: Expected) -> Result<Option<Node>, FatalDiagnostic> {
        let start = self.cursor.position();
        let scalar = match self.cursor.peek() {
            Some(b'"') => Scalar::Str(text::read(&mut self.cursor, self.problems)?.into()),
            Some(b'-' | b'0'..=b'9') => number::read(&mut self.cursor, self.problems)?,
            Some(b'{') => return self.open_object(start),
            Some(b'[') => return self.open_list(start),
            _ => self.word(expected)?,
        };
        let span = self.cursor.span_from(start);
        self.charge(span)?;
        Ok(Some(Node::scalar(scalar, span)))
    }

    fn word(&mut self, expected: Expected) -> Result<Scalar, FatalDiagnostic> {
        let word = self.cursor.word();
        let scalar = match word {
            "null" => Scalar::Null,
            "true" => Scalar::Bool(true),
            "false" => Scalar::Bool(false),
            _ => return Err(self.unexpected(expected)),
        };
        self.cursor.skip_ascii(word.len());
        Ok(scalar)
    }

    fn open_list(&mut self, start: Position) -> Result<Option<Node>, FatalDiagnostic> {
        self.open(start, Container::List { first_item: self.items.len() })?;
        self.cursor.skip_blanks();
        Ok(if self.cursor.peek() == Some(b']') { self.close() } else { None })
    }

    fn open_object(&mut self, start: Position) -> Result<Option<Node>, FatalDiagnostic> {
        self.open(start, Container::Object { first_entry: self.entries.len(), key: None })?;
        self.cursor.skip_blanks();
        if self.cursor.peek() == Some(b'}') {
            return Ok(self.close());
        }
        self.read_key(Expected::Key)?;
        Ok(None)
    }

    fn open(&mut self, start: Position, container: Container) -> Result<(), FatalDiagnostic> {
        let span = self.cursor.character_span();
        self.charge(span)?;
        if self.frames.len() >= self.limits.depth_max {
            let message = format!("nesting exceeds {} levels", self.limits.depth_max);
            return Err(Box::new(Diagnostic::error(codes::LIMIT, message).at(span)));
        }
        self.cursor.skip_ascii(1);
        self.frames.push(Frame { start, container });
        Ok(())
    }

    /// Parses a key and its colon.
    fn read_key(&mut self, expected: Expected) -> Result<(), FatalDiagnostic> {
        self.cursor.skip_blanks();
        if self.cursor.peek() != Some(b'"') {
            return Err(self.unexpected(expected));
        }
        let start = self.cursor.position();
        let name = text::read(&mut self.cursor, self.problems)?;
        let node = Node::scalar(Scalar::Str(self.key_cache.intern(&name)), self.cursor.span_from(start));
        self.charge(node.span)?;
        self.cursor.skip_blanks();
        if self.cursor.peek() != Some(b':') {
            return Err(self.unexpected(Expected::Colon));
        }
        self.cursor.skip_ascii(1);
        if let Some(Frame { container: Container::Object { key, .. }, .. }) = self.frames.last_mut() {
            *key = Some(node);
        }
        Ok(())
    }

    /// Parses a comma (and, in an object, the next key) or the end of the innermost container, which is
    /// returned as a value.
    fn after_value(&mut self) -> Result<Option<Node>, FatalDiagnostic> {
        self.cursor.skip_blanks();
        let is_object = matches!(self.frames.last(), Some(Frame { container: Container::Object { .. }, .. }));
        let end = if is_object { b'}' } else { b']' };
        match self.cursor.peek() {
            Some(b',') => {
                self.cursor.skip_ascii(1);
                if is_object {
                    self.read_key(Expected::NextKey)?;
                }
                Ok(None)
            }
            Some(byte) if byte == end => Ok(self.close()),
            _ => Err(self.unexpected(Expected::CommaOr(char::from(end)))),
        }
    }

    fn close(&mut self) -> Option<Node> {
        self.cursor.skip_ascii(1);
        let frame = self.frames.pop()?;
        let kind = match frame.container {
            Container::List { first_item } => NodeKind::Seq(self.items.drain(first_item..).collect()),
            Container::Object { first_entry, .. } => {
                drop_duplicates(&mut self.entries, first_entry, self.problems);
                NodeKind::Map(self.entries.drain(first_entry..).collect())
            }
        };
        Some(Node { kind, span: self.cursor.span_from(frame.start) })
    }

    fn finish(&mut self, root: Node) -> Result<Node, FatalDiagnostic> {
        self.cursor.skip_blanks();
        match self.cursor.peek() {
            None => Ok(root),
            Some(_) => Err(self.unexpected(Expected::End)),
        }
    }

    fn unexpected(&self, expected: Expected) -> FatalDiagnostic {
        let opened = self.frames.last().map(|frame| {
            let start = frame.start;
            Span { start, end: Position { offset: start.offset + 1, column: start.column + 1, ..start } }
        });
        Box::new(unexpected(&self.cursor, expected, opened))
    }

    fn charge(&mut self, span: Span) -> Result<(), FatalDiagnostic> {
        self.n_nodes += 1;
        if self.n_nodes <= self.limits.nodes_max {
            return Ok(());
        }
        let message = format!("input exceeds {} nodes", self.limits.nodes_max);
        Err(Box::new(Diagnostic::error(codes::LIMIT, message).at(span).help("split the input")))
    }
}

/// Cache of recent keys. Objects in an array repeat their keys; sharing the strings halves the parsing time.
struct KeyCache([Option<Arc<str>>; 64]);

impl Default for KeyCache {
    fn default() -> Self {
        Self([const { None }; 64])
    }
}

impl KeyCache {
    fn intern(&mut self, name: &str) -> Arc<str> {
        let sum = name.bytes().fold(name.len(), |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        let slot = &mut self.0[sum % 64];
        match slot {
            Some(cached) if **cached == *name => cached.clone(),
            _ => slot.insert(name.into()).clone(),
        }
    }
}

/// Maximum number of entries for a pairwise comparison, which is faster than hashing for few entries.
const PAIRWISE_MAX: usize = 12;

/// Reports duplicate keys. As in YAML, an entry keeps the position of its first and the value of its last
/// occurrence.
fn drop_duplicates(entries: &mut Vec<(Node, Node)>, first_entry: usize, problems: &mut Diagnostics) {
    let own = &entries[first_entry..];
    let is_distinct = if own.len() <= PAIRWISE_MAX {
        own.iter().enumerate().all(|(at, (key, _))| own[..at].iter().all(|(other, _)| other.kind != key.kind))
    } else {
        let mut keys = std::collections::HashSet::with_capacity(own.len());
        own.iter().all(|(key, _)| keys.insert(key.as_str()))
    };
    if is_distinct {
        return;
    }
    let mut index_by_name: HashMap<Arc<str>, usize> = HashMap::new();
    for (key, value) in entries.split_off(first_entry) {
        let name: Arc<str> = key.as_str().unwrap_or_default().into();
        let Some(index) = index_by_name.get(&name) else {
            index_by_name.insert(name, entries.len());
            entries.push((key, value));
            continue;
        };
        let (first, old) = &mut entries[*index];
        problems.push(duplicate_problem(&name, key.span, first.span));
        // The span of the key is that of the effective value.
        (first.span, *old) = (key.span, value);
    }
}

fn duplicate_problem(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error(codes::DUPLICATE_KEY, format!("key {} is given twice", quoted(name)))
        .at(span)
        .related(first, "first given here")
        .help("remove one of them")
}
