//! From parser events to documents.

use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, StructureStyle, Tag as SourceTag};

use crate::construct;
use crate::frame::{Children, Frame, as_value};
use crate::limits::Limits;
use crate::mapping::{Built, Role};
use crate::node::{Document, Node, Scalar};
use crate::position::{Position, Span};
use crate::problem::{Problem, Problems, Severity, codes, quoted};
use crate::resolve;
use crate::source::Source;
use crate::syntax;
use crate::tag::{Tag, Written};

/// What a text holds, and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// The documents that could be read to their end; none for an empty text.
    pub documents: Vec<Document>,
    /// In the order of the text.
    pub problems: Vec<Problem>,
    /// Problems beyond [`Limits::problems_max`].
    pub n_problems_dropped: usize,
}

impl Loaded {
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }
}

/// Reads all documents of a text.
pub fn load(text: &str, limits: &Limits) -> Loaded {
    if let Some(problem) = size_problem(text, limits) {
        return Loaded { problems: vec![problem], ..Loaded::default() };
    }
    let mut source = Source::new(text);
    loop {
        match Loader::new(text, &source, limits).run() {
            Ok(loaded) => return loaded,
            Err(repairable) => source.repair(&repairable),
        }
    }
}

fn size_problem(text: &str, limits: &Limits) -> Option<Problem> {
    // Places are counted in 32 bits.
    let size_bytes_max = limits.size_bytes_max.min(u32::MAX as usize / 2);
    (text.len() > size_bytes_max).then(|| {
        let message = format!("the text has {} bytes, {size_bytes_max} are allowed", text.len());
        Problem::error(codes::LIMIT, Span::default(), message).help("split the text")
    })
}

/// A limit is exceeded (and reported): no use in reading on.
struct Exceeded;

struct Loader<'t> {
    text: &'t str,
    source: &'t Source<'t>,
    limits: &'t Limits,
    documents: Vec<Document>,
    problems: Problems,
    n_nodes: usize,
    /// Where the current document starts, if one has.
    document_line: Option<u32>,
    /// Open collections of the current document, outermost first.
    frames: Vec<Frame>,
    /// Finished nodes of the current document by the parser's number for their anchor.
    anchors: HashMap<usize, Built>,
    anchor_places: HashMap<String, Span>,
}

impl<'t> Loader<'t> {
    fn new(text: &'t str, source: &'t Source<'t>, limits: &'t Limits) -> Self {
        Self {
            text,
            source,
            limits,
            documents: Vec::new(),
            problems: Problems::new(limits.problems_max),
            n_nodes: 0,
            document_line: None,
            frames: Vec::new(),
            anchors: HashMap::new(),
            anchor_places: HashMap::new(),
        }
    }

    /// Unprintable characters are refused even in comments, where the parser would not look.
    fn check_characters(&mut self) {
        if self.text.chars().all(is_allowed) {
            return;
        }
        let mut at = Position::default();
        let mut characters = self.text.chars().peekable();
        while let Some(character) = characters.next() {
            let next = at.after(character, characters.peek().copied());
            if !is_allowed(character) {
                let message = format!("the character `{}` is not allowed", character.escape_default());
                let problem =
                    Problem::error(codes::CONTROL_CHARACTER, Span { start: at, end: next }, message)
                        .help("remove it, or write it as an escape in double quotes");
                self.problems.push(problem);
            }
            at = next;
        }
    }

    /// Everything, or an error that another attempt on a repaired source avoids.
    fn run(mut self) -> Result<Loaded, ScanError> {
        self.check_characters();
        let mut options = granit_parser::options! {
            emit_anchor_events: true,
            emit_unresolved_aliases: true,
            flow_nesting_limit: self.limits.depth_max,
            block_nesting_limit: self.limits.depth_max,
        };
        options.set_emit_comments(false);
        let mut parser = Parser::new_from_str_with_options(&self.source.text, options);
        while let Some(next) = parser.next_event() {
            match next {
                Ok((event, span)) => {
                    if self.event(event, span).is_err() {
                        break;
                    }
                }
                Err(error) if self.source.can_repair(&error) => return Err(error),
                Err(error) => {
                    self.abandon_document(&error);
                    if self.problems.is_full_of_errors()
                        || !matches!(parser.proceed_next_document(), Ok(true))
                    {
                        break;
                    }
                }
            }
        }
        let (problems, n_problems_dropped) = self.problems.finish();
        Ok(Loaded { documents: self.documents, problems, n_problems_dropped })
    }

    fn abandon_document(&mut self, error: &ScanError) {
        let document_line = self.document_line;
        self.start_document(None);
        // What the parser does not accept for this reason is reported already.
        let is_reported = matches!(error.kind(),
            ErrorKind::UnexpectedCharacter { character } if !is_allowed(*character));
        if !is_reported {
            let mut problem = syntax::problem(error, self.source.position(*error.marker()));
            if let Some(span) = document_line.and_then(|line| self.source.repaired_line(line)) {
                problem = problem.related(span, "quoted text goes on here; a quote may be missing above");
            }
            self.problems.push(problem);
        }
    }

    fn start_document(&mut self, line: Option<u32>) {
        self.document_line = line;
        self.frames.clear();
        self.anchors.clear();
        self.anchor_places.clear();
    }

    fn event(&mut self, event: Event<'_>, place: granit_parser::Span) -> Result<(), Exceeded> {
        let span = self.source.span(place);
        match event {
            Event::DocumentStart(..) => self.start_document(Some(span.start.line)),
            Event::Scalar(text, style, anchor, tag) => {
                let written = self.read_tag(tag.as_deref(), place);
                let built = self.scalar(&text, style, written, span)?;
                self.finish_node(built, anchor, span.end);
            }
            Event::SequenceStart(style, anchor, tag) => {
                let written = self.read_tag(tag.as_deref(), place);
                self.open(Children::Seq(Vec::new()), style, written, anchor, span)?;
            }
            Event::MappingStart(style, anchor, tag) => {
                let written = self.read_tag(tag.as_deref(), place);
                self.open(Children::Map { key: None, pairs: Vec::new() }, style, written, anchor, span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span.end),
            Event::Alias(anchor) => self.alias(anchor, span)?,
            Event::UnresolvedAlias(name) => self.unresolved_alias(&name, span),
            Event::Anchor(_, name) => self.note_anchor(name.into_owned(), span),
            _ => {}
        }
        Ok(())
    }

    fn read_tag(&mut self, tag: Option<&SourceTag>, place: granit_parser::Span) -> Written {
        let written = Written::read(tag);
        if let (Written::Unknown, Some(tag)) = (written, tag) {
            let span = self.source.span(place.tag_span().unwrap_or(place));
            let problem =
                Problem::error(codes::TAG, span, format!("unknown tag {}", quoted(&tag.original())))
                    .help("remove the tag, or put quotes around text that starts with `!`");
            self.problems.push(problem);
        }
        written
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        written: Written,
        span: Span,
    ) -> Result<Built, Exceeded> {
        let size = scalar_size(text);
        self.charge(size, span)?;
        let text = self.exact_text(text, style, span);
        let tag = match written {
            Written::Known(tag) => tag,
            Written::Nothing | Written::Unknown if style != ScalarStyle::Plain => Tag::Str,
            _ => resolve::implicit(text),
        };
        let role = match tag {
            Tag::Merge => Role::Merge,
            Tag::Value => Role::Value,
            Tag::Seq | Tag::Omap | Tag::Pairs | Tag::Map | Tag::Set => {
                self.problems.push(misplaced_tag(tag, "a scalar", span));
                Role::Broken
            }
            _ => Role::Ordinary,
        };
        let value = construct::scalar(tag, text).unwrap_or_else(|message| {
            let problem = Problem::error(codes::VALUE, span, message);
            self.problems.push(problem.help("put it in quotes, without a tag, if text is meant"));
            Scalar::Str(text.into())
        });
        Ok(Built { node: Node::scalar(value, span), role, size, height: 0 })
    }

    /// The text as the reference sees it: nothing is empty (the parser says `~`), and a block of text
    /// at the very end of a file without a final line break does not gain one.
    fn exact_text<'s>(&self, text: &'s str, style: ScalarStyle, span: Span) -> &'s str {
        match style {
            ScalarStyle::Plain if span.start == span.end => "",
            ScalarStyle::Literal | ScalarStyle::Folded if span.end.offset as usize == self.text.len() => {
                // Blanks on the line after the header are no line of text; the span has the header then.
                let is_empty = text == "\n" && span.end.line == span.start.line + 1;
                if is_empty { "" } else { without_added_break(text, self.text) }
            }
            _ => text,
        }
    }

    fn open(
        &mut self,
        children: Children,
        style: StructureStyle,
        tag: Written,
        anchor: usize,
        span: Span,
    ) -> Result<(), Exceeded> {
        self.charge(1, span)?;
        self.check_depth(1, span)?;
        let any_key = self.frames.last().is_some_and(Frame::holds_pairs);
        self.frames.push(Frame::new(children, style, tag, any_key, anchor, span));
        Ok(())
    }

    fn close(&mut self, end: Position) {
        // The parser pairs starts and ends; without a frame there is nothing to do.
        let Some(frame) = self.frames.pop() else { return };
        let anchor = frame.anchor;
        let built = frame.finish(end, &mut self.problems);
        let end = built.node.span.end;
        self.finish_node(built, anchor, end);
    }

    /// Puts a node where it belongs. `end` is where the text of the node (or its alias) ends.
    fn finish_node(&mut self, built: Built, anchor: usize, end: Position) {
        if anchor != 0 {
            self.anchors.insert(anchor, built.clone());
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.push(built, end, &mut self.problems);
        } else {
            let root = as_value(built, &mut self.problems).node;
            self.documents.push(Document { root });
        }
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Exceeded> {
        let Some(built) = self.anchors.get(&anchor).cloned() else {
            let message = format!("{} is part of itself", quoted(span.slice(self.text)));
            self.problems.push(Problem::error(codes::ALIAS, span, message).help("copy what is meant"));
            self.broken(span);
            return Ok(());
        };
        self.charge(built.size, span)?;
        self.check_depth(built.height, span)?;
        self.finish_node(built, 0, span.end);
        Ok(())
    }

    fn unresolved_alias(&mut self, name: &str, span: Span) {
        let message = format!("there is no `&{name}` before this alias");
        let help = match name.strip_suffix(':') {
            Some(name) if self.anchor_places.contains_key(name) => "put a blank before the `:`",
            _ => "define the anchor first, or put quotes around text that starts with `*`",
        };
        self.problems.push(Problem::error(codes::ALIAS, span, message).help(help));
        self.broken(span);
    }

    /// A stand-in for what could not be read.
    fn broken(&mut self, span: Span) {
        let node = Node::scalar(Scalar::Null, span);
        self.finish_node(Built { node, role: Role::Broken, size: 1, height: 0 }, 0, span.end);
    }

    fn note_anchor(&mut self, name: String, span: Span) {
        if let Some(first) = self.anchor_places.get(&name) {
            let problem = Problem::error(codes::ALIAS, span, format!("anchor `&{name}` is defined twice"))
                .related(*first, "first defined here")
                .help("give one of them another name");
            self.problems.push(problem);
        }
        self.anchor_places.insert(name, span);
    }

    fn charge(&mut self, n_nodes: usize, span: Span) -> Result<(), Exceeded> {
        self.n_nodes = self.n_nodes.saturating_add(n_nodes);
        if self.n_nodes <= self.limits.nodes_max {
            return Ok(());
        }
        let message =
            format!("the text has more than {} nodes, repeated ones counted", self.limits.nodes_max);
        self.problems
            .push(Problem::error(codes::LIMIT, span, message).help("use fewer aliases, or split the text"));
        Err(Exceeded)
    }

    fn check_depth(&mut self, height: usize, span: Span) -> Result<(), Exceeded> {
        if self.frames.len() + height <= self.limits.depth_max {
            return Ok(());
        }
        let message = format!("the nesting is deeper than {} levels", self.limits.depth_max);
        self.problems.push(Problem::error(codes::LIMIT, span, message));
        Err(Exceeded)
    }
}

/// What a scalar is charged with: a long text repeated by aliases is as dear as many short ones.
fn scalar_size(text: &str) -> usize {
    const BYTES_OF_A_NODE: usize = 64;
    1 + text.len() / BYTES_OF_A_NODE
}

pub(crate) fn misplaced_tag(tag: Tag, on: &str, span: Span) -> Problem {
    Problem::error(codes::TAG, span, format!("tag {} has no meaning on {on}", tag.name()))
        .help("remove the tag")
}

/// The characters YAML 1.1 calls printable.
fn is_allowed(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        other => other >= '\u{a0}',
    }
}

/// Takes back the line break the parser adds to a block of text that ends `source`.
fn without_added_break<'s>(block: &'s str, source: &str) -> &'s str {
    let last_line = source.rsplit(['\n', '\r']).next().unwrap_or_default();
    let Some(kept) = block.strip_suffix('\n') else { return block };
    let kept_line = kept.rsplit('\n').next().unwrap_or_default();
    let is_blank = |line: &str| line.bytes().all(|byte| byte == b' ');
    let is_part_of_block = if is_blank(last_line) {
        // Blanks up to the indentation are no part of it, blanks beyond are.
        !kept_line.is_empty() && kept_line.len() < last_line.len() && is_blank(kept_line)
    } else {
        true
    };
    if is_part_of_block { kept } else { block }
}

#[cfg(test)]
mod tests;
