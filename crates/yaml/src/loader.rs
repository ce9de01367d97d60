//! Builds documents from parser events.

use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, StructureStyle, Tag as SourceTag};
use stoker_diagnostics::{Diagnostic, Diagnostics, Position, Severity, Span, quoted};

use crate::codes;
use crate::construct;
use crate::frame::{Children, Frame, as_value};
use crate::limits::LoadLimits;
use crate::mapping::{PendingNode, Role};
use crate::node::{Document, Node, Scalar};
use crate::resolve;
use crate::source::Source;
use crate::syntax;
use crate::tag::{ExplicitTag, Tag, misplaced_tag};

/// The documents and problems of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// The documents without syntax errors; none for an empty text.
    pub documents: Vec<Document>,
    /// Diagnostics in source order.
    pub problems: Vec<Diagnostic>,
    /// Number of problems beyond [`LoadLimits::problems_max`].
    pub n_problems_dropped: usize,
}

impl Loaded {
    pub fn has_errors(&self) -> bool {
        stoker_diagnostics::has_errors(&self.problems)
    }
}

/// Loads all documents of a text.
pub fn load(text: &str, limits: &LoadLimits) -> Loaded {
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

fn size_problem(text: &str, limits: &LoadLimits) -> Option<Diagnostic> {
    // Offsets are 32-bit.
    let size_bytes_max = limits.size_bytes_max.min(u32::MAX as usize / 2);
    (text.len() > size_bytes_max).then(|| {
        let message = format!("input is too large: {} bytes, the limit is {size_bytes_max}", text.len());
        Diagnostic::error(codes::LIMIT, message).at(Span::default()).help("split the input")
    })
}

/// A limit was exceeded and reported; loading ends.
struct LimitExceeded;

struct Loader<'t> {
    text: &'t str,
    source: &'t Source<'t>,
    limits: &'t LoadLimits,
    documents: Vec<Document>,
    problems: Diagnostics,
    n_nodes: usize,
    /// First line of the current document.
    document_line: Option<u32>,
    /// Open collections of the current document, outermost first.
    frames: Vec<Frame>,
    /// Completed nodes of the current document, by the parser's anchor number.
    anchors: HashMap<usize, PendingNode>,
    anchor_spans: HashMap<String, Span>,
}

impl<'t> Loader<'t> {
    fn new(text: &'t str, source: &'t Source<'t>, limits: &'t LoadLimits) -> Self {
        Self {
            text,
            source,
            limits,
            documents: Vec::new(),
            problems: Diagnostics::bounded(limits.problems_max),
            n_nodes: 0,
            document_line: None,
            frames: Vec::new(),
            anchors: HashMap::new(),
            anchor_spans: HashMap::new(),
        }
    }

    /// Reports unprintable characters, including those in comments, which the parser skips.
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
                let problem = Diagnostic::error(codes::CONTROL_CHARACTER, message)
                    .at(Span { start: at, end: next })
                    .help("remove it, or write it as an escape in double quotes");
                self.problems.push(problem);
            }
            at = next;
        }
    }

    /// Loads the text, or returns an error that can be avoided by repairing the source and trying again.
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
                    if !self.problems.has_room(Severity::Error)
                        || !matches!(parser.proceed_next_document(), Ok(true))
                    {
                        break;
                    }
                }
            }
        }
        let (problems, n_problems_dropped) = self.problems.into_parts();
        Ok(Loaded { documents: self.documents, problems, n_problems_dropped })
    }

    fn abandon_document(&mut self, error: &ScanError) {
        let document_line = self.document_line;
        self.start_document(None);
        // Disallowed characters have been reported by `check_characters`.
        let is_reported = matches!(error.kind(),
            ErrorKind::UnexpectedCharacter { character } if !is_allowed(*character));
        if !is_reported {
            let mut problem = syntax::problem(error, self.source.position(*error.marker()));
            if let Some(span) = document_line.and_then(|line| self.source.repaired_line(line)) {
                problem =
                    problem.related(span, "quoted text continues here; a closing quote may be missing above");
            }
            self.problems.push(problem);
        }
    }

    fn start_document(&mut self, line: Option<u32>) {
        self.document_line = line;
        self.frames.clear();
        self.anchors.clear();
        self.anchor_spans.clear();
    }

    fn event(&mut self, event: Event<'_>, parser_span: granit_parser::Span) -> Result<(), LimitExceeded> {
        let span = self.source.span(parser_span);
        match event {
            Event::DocumentStart(..) => self.start_document(Some(span.start.line)),
            Event::Scalar(text, style, anchor, tag) => {
                let explicit_tag = self.read_tag(tag.as_deref(), parser_span);
                let pending = self.scalar(&text, style, explicit_tag, span)?;
                self.finish_node(pending, anchor, span.end);
            }
            Event::SequenceStart(style, anchor, tag) => {
                let explicit_tag = self.read_tag(tag.as_deref(), parser_span);
                self.open(Children::Seq(Vec::new()), style, explicit_tag, anchor, span)?;
            }
            Event::MappingStart(style, anchor, tag) => {
                let explicit_tag = self.read_tag(tag.as_deref(), parser_span);
                self.open(Children::Map { key: None, pairs: Vec::new() }, style, explicit_tag, anchor, span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span.end),
            Event::Alias(anchor) => self.alias(anchor, span)?,
            Event::UnresolvedAlias(name) => self.unresolved_alias(&name, span),
            Event::Anchor(_, name) => self.record_anchor(name.into_owned(), span),
            _ => {}
        }
        Ok(())
    }

    fn read_tag(&mut self, tag: Option<&SourceTag>, parser_span: granit_parser::Span) -> ExplicitTag {
        let explicit_tag = ExplicitTag::read(tag);
        if let (ExplicitTag::Unknown, Some(tag)) = (explicit_tag, tag) {
            let span = self.source.span(parser_span.tag_span().unwrap_or(parser_span));
            let problem = Diagnostic::error(codes::TAG, format!("unknown tag {}", quoted(&tag.original())))
                .at(span)
                .help("remove the tag, or put quotes around text that starts with `!`");
            self.problems.push(problem);
        }
        explicit_tag
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        explicit_tag: ExplicitTag,
        span: Span,
    ) -> Result<PendingNode, LimitExceeded> {
        let size = scalar_size(text);
        self.charge(size, span)?;
        let text = self.exact_text(text, style, span);
        let tag = match explicit_tag {
            ExplicitTag::Known(tag) => tag,
            ExplicitTag::Absent | ExplicitTag::Unknown if style != ScalarStyle::Plain => Tag::Str,
            _ => resolve::implicit(text),
        };
        let role = match tag {
            Tag::Merge => Role::Merge,
            Tag::Value => Role::Value,
            Tag::Seq | Tag::Omap | Tag::Pairs | Tag::Map | Tag::Set => {
                self.problems.push(misplaced_tag(tag, "a scalar", span));
                Role::Invalid
            }
            _ => Role::Ordinary,
        };
        let value = construct::scalar(tag, text).unwrap_or_else(|message| {
            let problem = Diagnostic::error(codes::VALUE, message).at(span);
            self.problems.push(problem.help("for text, remove the tag and quote the value"));
            Scalar::Str(text.into())
        });
        Ok(PendingNode { node: Node::scalar(value, span), role, size, height: 0 })
    }

    /// Returns the text as PyYAML reads it. An omitted value is empty (the parser returns `~`), and a block
    /// scalar at the end of a file without a final line break does not get one.
    fn exact_text<'s>(&self, text: &'s str, style: ScalarStyle, span: Span) -> &'s str {
        match style {
            ScalarStyle::Plain if span.start == span.end => "",
            ScalarStyle::Literal | ScalarStyle::Folded if span.end.offset as usize == self.text.len() => {
                // Blanks on the line after the header are not content; the span includes the header then.
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
        tag: ExplicitTag,
        anchor: usize,
        span: Span,
    ) -> Result<(), LimitExceeded> {
        self.charge(1, span)?;
        self.check_depth(1, span)?;
        let any_key = self.frames.last().is_some_and(Frame::contains_pairs);
        self.frames.push(Frame::new(children, style, tag, any_key, anchor, span));
        Ok(())
    }

    fn close(&mut self, end: Position) {
        // Starts and ends are paired by the parser.
        let Some(frame) = self.frames.pop() else { return };
        let anchor = frame.anchor;
        let pending = frame.finish(end, &mut self.problems);
        let end = pending.node.span.end;
        self.finish_node(pending, anchor, end);
    }

    /// Adds a completed node to its parent. `end` is the end of the node or of its alias in the text.
    fn finish_node(&mut self, pending: PendingNode, anchor: usize, end: Position) {
        if anchor != 0 {
            self.anchors.insert(anchor, pending.clone());
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.push(pending, end, &mut self.problems);
        } else {
            let root = as_value(pending, &mut self.problems).node;
            self.documents.push(Document { root });
        }
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), LimitExceeded> {
        let Some(pending) = self.anchors.get(&anchor).cloned() else {
            let message = format!(
                "{} is a recursive alias: it refers to a node that contains it",
                quoted(span.slice(self.text))
            );
            self.problems.push(
                Diagnostic::error(codes::ALIAS, message)
                    .at(span)
                    .help("copy the node instead of using an alias"),
            );
            self.push_placeholder(span);
            return Ok(());
        };
        self.charge(pending.size, span)?;
        self.check_depth(pending.height, span)?;
        self.finish_node(pending, 0, span.end);
        Ok(())
    }

    fn unresolved_alias(&mut self, name: &str, span: Span) {
        let message = format!("no anchor `&{name}` is defined before this alias");
        let help = match name.strip_suffix(':') {
            Some(name) if self.anchor_spans.contains_key(name) => "put a space before the `:`",
            _ => "define the anchor first, or put quotes around text that starts with `*`",
        };
        self.problems.push(Diagnostic::error(codes::ALIAS, message).at(span).help(help));
        self.push_placeholder(span);
    }

    /// Adds a null placeholder for a node that could not be loaded.
    fn push_placeholder(&mut self, span: Span) {
        let node = Node::scalar(Scalar::Null, span);
        self.finish_node(PendingNode { node, role: Role::Invalid, size: 1, height: 0 }, 0, span.end);
    }

    fn record_anchor(&mut self, name: String, span: Span) {
        if let Some(first) = self.anchor_spans.get(&name) {
            let problem = Diagnostic::error(codes::ALIAS, format!("anchor `&{name}` is defined twice"))
                .at(span)
                .related(*first, "first defined here")
                .help("rename one of them");
            self.problems.push(problem);
        }
        self.anchor_spans.insert(name, span);
    }

    fn charge(&mut self, n_nodes: usize, span: Span) -> Result<(), LimitExceeded> {
        self.n_nodes = self.n_nodes.saturating_add(n_nodes);
        if self.n_nodes <= self.limits.nodes_max {
            return Ok(());
        }
        let message = format!("input exceeds {} nodes with aliases expanded", self.limits.nodes_max);
        self.problems.push(
            Diagnostic::error(codes::LIMIT, message).at(span).help("use fewer aliases, or split the input"),
        );
        Err(LimitExceeded)
    }

    fn check_depth(&mut self, height: usize, span: Span) -> Result<(), LimitExceeded> {
        if self.frames.len() + height <= self.limits.depth_max {
            return Ok(());
        }
        let message = format!("nesting exceeds {} levels", self.limits.depth_max);
        self.problems.push(Diagnostic::error(codes::LIMIT, message).at(span));
        Err(LimitExceeded)
    }
}

/// Returns the number of nodes that a scalar counts as: repeating a long text by aliases costs as much as
/// many short ones.
fn scalar_size(text: &str) -> usize {
    const BYTES_PER_NODE: usize = 64;
    1 + text.len() / BYTES_PER_NODE
}

/// Reports whether a character is printable according to YAML 1.1.
fn is_allowed(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        other => other >= '\u{a0}',
    }
}

/// Removes the line break that the parser adds to a block scalar at the end of `source`.
fn without_added_break<'s>(block: &'s str, source: &str) -> &'s str {
    let last_line = source.rsplit(['\n', '\r']).next().unwrap_or_default();
    let Some(trimmed) = block.strip_suffix('\n') else { return block };
    let trimmed_line = trimmed.rsplit('\n').next().unwrap_or_default();
    let is_blank = |line: &str| line.bytes().all(|byte| byte == b' ');
    let is_part_of_block = if is_blank(last_line) {
        // Blanks up to the indentation are not part of the block; further blanks are.
        !trimmed_line.is_empty() && trimmed_line.len() < last_line.len() && is_blank(trimmed_line)
    } else {
        true
    };
    if is_part_of_block { trimmed } else { block }
}

#[cfg(test)]
mod tests;
