//! The values of a text, with open brackets on a stack of our own: how deep a text nests is no business of the
//! machine's stack.

use std::collections::HashMap;
use std::sync::Arc;

use super::codes;
use super::cursor::Cursor;
use super::syntax::{Wanted, unexpected};
use super::{number, text};
use crate::limits::Limits;
use crate::node::{Node, NodeKind, Scalar};
use crate::position::{Position, Span};
use crate::problem::{Problem, Problems, quoted};

pub(super) struct Reader<'t> {
    cursor: Cursor<'t>,
    limits: &'t Limits,
    problems: &'t mut Problems,
    n_nodes: usize,
    /// Open lists and objects, outermost first.
    frames: Vec<Frame>,
    /// Finished items of all open lists, innermost last: a list takes its own from the end when it closes.
    items: Vec<Node>,
    /// Likewise the entries of all open objects.
    entries: Vec<(Node, Node)>,
    names: Names,
}

struct Frame {
    start: Position,
    inside: Inside,
}

enum Inside {
    List {
        first_item: usize,
    },
    /// `key` is the one whose value is being read.
    Object {
        first_entry: usize,
        key: Option<Node>,
    },
}

/// Boxed, because it is rare and everything returns it.
type Stop = Box<Problem>;

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, limits: &'t Limits, problems: &'t mut Problems) -> Self {
        Self {
            cursor: Cursor::new(text),
            limits,
            problems,
            n_nodes: 0,
            frames: Vec::new(),
            items: Vec::new(),
            entries: Vec::new(),
            names: Names::default(),
        }
    }

    /// The one value of the text; nothing if reading had to stop.
    pub(super) fn run(mut self) -> Option<Node> {
        match self.read() {
            Ok(root) => Some(root),
            Err(problem) => {
                self.problems.push(*problem);
                None
            }
        }
    }

    fn read(&mut self) -> Result<Node, Stop> {
        let mut wanted = Wanted::Value;
        loop {
            self.cursor.skip_blanks();
            let Some(node) = self.begin_value(wanted)? else {
                wanted = Wanted::Value;
                continue;
            };
            let mut node = node;
            loop {
                let Some(frame) = self.frames.last_mut() else { return self.finish(node) };
                match &mut frame.inside {
                    Inside::List { .. } => self.items.push(node),
                    Inside::Object { key, .. } => {
                        // There is a key: values of objects are read after one only.
                        self.entries.extend(key.take().map(|key| (key, node)));
                    }
                }
                match self.after_value()? {
                    Some(closed) => node = closed,
                    None => break,
                }
            }
            let in_list = matches!(self.frames.last(), Some(Frame { inside: Inside::List { .. }, .. }));
            wanted = if in_list { Wanted::Item } else { Wanted::Value };
        }
    }

    /// Reads a value that is whole at once, or opens one that is not.
    fn begin_value(&mut self, wanted: Wanted) -> Result<Option<Node>, Stop> {
        let start = self.cursor.position();
        let scalar = match self.cursor.peek() {
            Some(b'"') => Scalar::Str(text::read(&mut self.cursor, self.problems)?.into()),
            Some(b'-' | b'0'..=b'9') => number::read(&mut self.cursor, self.problems)?,
            Some(b'{') => return self.open_object(start),
            Some(b'[') => return self.open_list(start),
            _ => self.word(wanted)?,
        };
        let span = self.cursor.span_from(start);
        self.charge(span)?;
        Ok(Some(Node::scalar(scalar, span)))
    }

    fn word(&mut self, wanted: Wanted) -> Result<Scalar, Stop> {
        let word = self.cursor.word();
        let scalar = match word {
            "null" => Scalar::Null,
            "true" => Scalar::Bool(true),
            "false" => Scalar::Bool(false),
            _ => return Err(self.unexpected(wanted)),
        };
        self.cursor.skip_ascii(word.len());
        Ok(scalar)
    }

    fn open_list(&mut self, start: Position) -> Result<Option<Node>, Stop> {
        self.open(start, Inside::List { first_item: self.items.len() })?;
        self.cursor.skip_blanks();
        Ok(if self.cursor.peek() == Some(b']') { self.close() } else { None })
    }

    fn open_object(&mut self, start: Position) -> Result<Option<Node>, Stop> {
        self.open(start, Inside::Object { first_entry: self.entries.len(), key: None })?;
        self.cursor.skip_blanks();
        if self.cursor.peek() == Some(b'}') {
            return Ok(self.close());
        }
        self.read_key(Wanted::Key)?;
        Ok(None)
    }

    fn open(&mut self, start: Position, inside: Inside) -> Result<(), Stop> {
        let span = self.cursor.character_span();
        self.charge(span)?;
        if self.frames.len() >= self.limits.depth_max {
            let message = format!("the nesting is deeper than {} levels", self.limits.depth_max);
            return Err(Box::new(Problem::error(codes::LIMIT, span, message)));
        }
        self.cursor.skip_ascii(1);
        self.frames.push(Frame { start, inside });
        Ok(())
    }

    /// A key and its colon.
    fn read_key(&mut self, wanted: Wanted) -> Result<(), Stop> {
        self.cursor.skip_blanks();
        if self.cursor.peek() != Some(b'"') {
            return Err(self.unexpected(wanted));
        }
        let start = self.cursor.position();
        let name = text::read(&mut self.cursor, self.problems)?;
        let node = Node::scalar(Scalar::Str(self.names.shared(&name)), self.cursor.span_from(start));
        self.charge(node.span)?;
        self.cursor.skip_blanks();
        if self.cursor.peek() != Some(b':') {
            return Err(self.unexpected(Wanted::Colon));
        }
        self.cursor.skip_ascii(1);
        if let Some(Frame { inside: Inside::Object { key, .. }, .. }) = self.frames.last_mut() {
            *key = Some(node);
        }
        Ok(())
    }

    /// A comma (and a key), or the end of the innermost list or object, which is then a value itself.
    fn after_value(&mut self) -> Result<Option<Node>, Stop> {
        self.cursor.skip_blanks();
        let is_object = matches!(self.frames.last(), Some(Frame { inside: Inside::Object { .. }, .. }));
        let end = if is_object { b'}' } else { b']' };
        match self.cursor.peek() {
            Some(b',') => {
                self.cursor.skip_ascii(1);
                if is_object {
                    self.read_key(Wanted::NextKey)?;
                }
                Ok(None)
            }
            Some(byte) if byte == end => Ok(self.close()),
            _ => Err(self.unexpected(Wanted::CommaOr(char::from(end)))),
        }
    }

    fn close(&mut self) -> Option<Node> {
        self.cursor.skip_ascii(1);
        let frame = self.frames.pop()?;
        let kind = match frame.inside {
            Inside::List { first_item } => NodeKind::Seq(self.items.drain(first_item..).collect()),
            Inside::Object { first_entry, .. } => {
                drop_duplicates(&mut self.entries, first_entry, self.problems);
                NodeKind::Map(self.entries.drain(first_entry..).collect())
            }
        };
        Some(Node { kind, span: self.cursor.span_from(frame.start) })
    }

    fn finish(&mut self, root: Node) -> Result<Node, Stop> {
        self.cursor.skip_blanks();
        match self.cursor.peek() {
            None => Ok(root),
            Some(_) => Err(self.unexpected(Wanted::End)),
        }
    }

    fn unexpected(&self, wanted: Wanted) -> Stop {
        let opened = self.frames.last().map(|frame| {
            let start = frame.start;
            Span { start, end: Position { offset: start.offset + 1, column: start.column + 1, ..start } }
        });
        Box::new(unexpected(&self.cursor, wanted, opened))
    }

    fn charge(&mut self, span: Span) -> Result<(), Stop> {
        self.n_nodes += 1;
        if self.n_nodes <= self.limits.nodes_max {
            return Ok(());
        }
        let message = format!("the text has more than {} nodes", self.limits.nodes_max);
        Err(Box::new(Problem::error(codes::LIMIT, span, message).help("split the text")))
    }
}

/// Keys seen lately. Objects in a list have the same keys over and over; sharing their text halves the time.
struct Names([Option<Arc<str>>; 64]);

impl Default for Names {
    fn default() -> Self {
        Self([const { None }; 64])
    }
}

impl Names {
    fn shared(&mut self, name: &str) -> Arc<str> {
        let sum = name.bytes().fold(name.len(), |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        let slot = &mut self.0[sum % 64];
        match slot {
            Some(known) if **known == *name => known.clone(),
            _ => slot.insert(name.into()).clone(),
        }
    }
}

/// Up to so many entries it is cheaper to compare each with each than to hash them.
const COMPARED_MAX: usize = 12;

/// Reports keys that are there twice. As on the YAML side, the first place and the last value stay.
fn drop_duplicates(entries: &mut Vec<(Node, Node)>, first_entry: usize, problems: &mut Problems) {
    let own = &entries[first_entry..];
    let is_distinct = if own.len() <= COMPARED_MAX {
        own.iter().enumerate().all(|(at, (key, _))| own[..at].iter().all(|(other, _)| other.kind != key.kind))
    } else {
        let mut seen = std::collections::HashSet::with_capacity(own.len());
        own.iter().all(|(key, _)| seen.insert(key.as_str()))
    };
    if is_distinct {
        return;
    }
    let mut place_of: HashMap<Arc<str>, usize> = HashMap::new();
    for (key, value) in entries.split_off(first_entry) {
        let name: Arc<str> = key.as_str().unwrap_or_default().into();
        let Some(place) = place_of.get(&name) else {
            place_of.insert(name, entries.len());
            entries.push((key, value));
            continue;
        };
        let (first, old) = &mut entries[*place];
        problems.push(duplicate_problem(&name, key.span, first.span));
        // The place of the key is the place of the value that counts.
        (first.span, *old) = (key.span, value);
    }
}

fn duplicate_problem(name: &str, span: Span, first: Span) -> Problem {
    Problem::error(codes::DUPLICATE_KEY, span, format!("key {} is given twice", quoted(name)))
        .related(first, "first given here")
        .help("remove one of them")
}
