//! Parses groups and extensions, `(…)`.

use super::ast::{Node, flag};
use super::parse::Parser;
use super::source::Token;
use super::text::{parse_int, quote};
use super::unicode::{is_identifier, is_letter};
use crate::error::Result;

/// Upper bound of group numbers, as in Python.
pub(super) const MAX_GROUPS: u64 = 1_073_741_823;

fn flag_of(ch: char) -> Option<u32> {
    Some(match ch {
        'i' => flag::IGNORECASE,
        'L' => flag::LOCALE,
        'm' => flag::MULTILINE,
        's' => flag::DOTALL,
        'x' => flag::VERBOSE,
        'a' => flag::ASCII,
        't' => flag::TEMPLATE,
        'u' => flag::UNICODE,
        _ => return None,
    })
}

/// The kind of a group.
enum GroupType {
    Capture(Option<String>),
    Plain { add: u32, del: u32 },
    Atomic,
}

impl Parser {
    /// Parses a group after its opening parenthesis. Comments and global flags yield `None`.
    pub(super) fn group(&mut self, verbose: &mut bool, at_start: bool) -> Result<Option<Node>> {
        let start = self.source.tell() - 1;
        if !self.source.accept('?')? {
            return self.open(start, GroupType::Capture(None), *verbose).map(Some);
        }
        let token = self.extension_token()?;
        match token.plain() {
            Some('P') => self.python_group(start, *verbose).map(Some),
            Some(':') => self.open(start, GroupType::Plain { add: 0, del: 0 }, *verbose).map(Some),
            Some('>') => self.open(start, GroupType::Atomic, *verbose).map(Some),
            Some('#') => self.comment(start).map(|()| None),
            Some('=') => self.look(start, *verbose, false, false).map(Some),
            Some('!') => self.look(start, *verbose, false, true).map(Some),
            Some('<') => self.look_behind(start, *verbose).map(Some),
            Some('(') => self.condition(start, *verbose).map(Some),
            Some(ch) if ch == '-' || flag_of(ch).is_some() => self.flag_group(start, ch, verbose, at_start),
            _ => {
                let message = format!("unknown extension ?{}", token.text());
                self.source.fail(&message, token.len() + 1)
            }
        }
    }

    fn extension_token(&mut self) -> Result<Token> {
        let token = self.source.get()?;
        token.map_or_else(|| self.source.fail("unexpected end of pattern", 0), Ok)
    }

    /// Parses the body of a group and its closing parenthesis.
    fn open(&mut self, start: usize, kind: GroupType, verbose: bool) -> Result<Node> {
        let (mut index, mut add, mut del) = (None, 0, 0);
        let atomic = matches!(kind, GroupType::Atomic);
        match kind {
            GroupType::Capture(name) => index = Some(self.open_group(name)?),
            GroupType::Plain { add: on, del: off } => (add, del) = (on, off),
            GroupType::Atomic => {}
        }
        let verbose = (verbose || add & flag::VERBOSE != 0) && del & flag::VERBOSE == 0;
        let body = self.alternatives(verbose, false)?;
        self.close(start)?;
        if let Some(slot) = index.and_then(|index| self.groups.get_mut(index as usize)) {
            *slot = Some(body.width);
        }
        Ok(if atomic { Node::Atomic(body) } else { Node::Group { index, add, del, body } })
    }

    fn open_group(&mut self, name: Option<String>) -> Result<u32> {
        let index = self.groups.len() as u32;
        self.groups.push(None);
        let Some(name) = name else { return Ok(index) };
        if let Some(other) = self.names.get(&name) {
            let quoted = quote(&name);
            let message = format!("redefinition of group name {quoted} as group {index}; was group {other}");
            return self.source.fail(&message, name.chars().count() + 1);
        }
        self.names.insert(name, index);
        Ok(index)
    }

    fn close(&mut self, start: usize) -> Result<()> {
        if self.source.accept(')')? {
            return Ok(());
        }
        self.source.fail_at("missing ), unterminated subpattern", start)
    }

    /// Parses `(?P<name>…)` and `(?P=name)`.
    fn python_group(&mut self, start: usize, verbose: bool) -> Result<Node> {
        if self.source.accept('<')? {
            let name = self.source.take_until('>', "group name")?;
            self.check_name(&name)?;
            return self.open(start, GroupType::Capture(Some(name)), verbose);
        }
        if self.source.accept('=')? {
            return self.named_reference();
        }
        let token = self.extension_token()?;
        self.source.fail(&format!("unknown extension ?P{}", token.text()), token.len() + 2)
    }

    fn named_reference(&mut self) -> Result<Node> {
        let name = self.source.take_until(')', "group name")?;
        self.check_name(&name)?;
        let group = self.named_group(&name)?;
        if !self.is_closed(group) {
            return self.source.fail("cannot refer to an open group", name.chars().count() + 1);
        }
        self.check_behind(group)?;
        Ok(self.reference(group))
    }

    fn named_group(&self, name: &str) -> Result<usize> {
        match self.names.get(name) {
            Some(&group) => Ok(group as usize),
            None => self.name_error("unknown group name", name),
        }
    }

    fn check_name(&self, name: &str) -> Result<()> {
        if is_identifier(name) { Ok(()) } else { self.name_error("bad character in group name", name) }
    }

    fn name_error<T>(&self, what: &str, name: &str) -> Result<T> {
        self.source.fail(&format!("{what} {}", quote(name)), name.chars().count() + 1)
    }

    fn comment(&mut self, start: usize) -> Result<()> {
        loop {
            match self.source.get()? {
                None => return self.source.fail_at("missing ), unterminated comment", start),
                Some(token) if token.is(')') => return Ok(()),
                Some(_) => {}
            }
        }
    }

    fn look(&mut self, start: usize, verbose: bool, behind: bool, negate: bool) -> Result<Node> {
        let body = self.alternatives(verbose, false)?;
        self.close(start)?;
        Ok(Node::Look { behind, negate, body })
    }

    fn look_behind(&mut self, start: usize, verbose: bool) -> Result<Node> {
        let token = self.extension_token()?;
        let negate = token.is('!');
        if !negate && !token.is('=') {
            let message = format!("unknown extension ?<{}", token.text());
            return self.source.fail(&message, token.len() + 2);
        }
        let outer = self.behind;
        self.behind = outer.or(Some(self.groups.len()));
        let node = self.look(start, verbose, true, negate);
        self.behind = outer;
        node
    }

    /// Parses `(?(group)yes|no)`.
    fn condition(&mut self, start: usize, verbose: bool) -> Result<Node> {
        let name = self.source.take_until(')', "group name")?;
        let group =
            if is_identifier(&name) { self.named_group(&name)? } else { self.condition_number(&name)? };
        self.check_behind(group)?;
        let (yes, no) = self.branches(verbose)?;
        self.close(start)?;
        Ok(Node::Cond { group: group as u32, yes, no })
    }

    fn condition_number(&mut self, name: &str) -> Result<usize> {
        let Some(number) = parse_int(name) else {
            return self.name_error("bad character in group name", name);
        };
        let length = name.chars().count() + 1;
        match number.value {
            Some(0) => self.source.fail("bad group number", length),
            Some(value) if value < MAX_GROUPS => {
                let position = self.source.tell() - length;
                self.conditions.entry(value).or_insert(position);
                Ok(value as usize)
            }
            _ => self.source.fail(&format!("invalid group reference {}", number.digits), length),
        }
    }

    fn flag_group(
        &mut self,
        start: usize,
        ch: char,
        verbose: &mut bool,
        at_start: bool,
    ) -> Result<Option<Node>> {
        if let Some((add, del)) = self.inline_flags(ch)? {
            return self.open(start, GroupType::Plain { add, del }, *verbose).map(Some);
        }
        if !at_start {
            let message = "global flags not at the start of the expression";
            return self.source.fail_at(message, start);
        }
        *verbose = self.flags & flag::VERBOSE != 0;
        Ok(None)
    }

    /// Parses the flags that a group turns on and off. Applies global flags and returns `None` for them.
    fn inline_flags(&mut self, first: char) -> Result<Option<(u32, u32)>> {
        let mut add = 0;
        let mut end = first;
        if first != '-' {
            (add, end) = self.added_flags(first)?;
        }
        if end == ')' {
            self.flags |= add;
            return Ok(None);
        }
        if add & flag::TEMPLATE != 0 {
            return self.source.fail("bad inline flags: cannot turn on global flag", 1);
        }
        let del = if end == '-' { self.removed_flags()? } else { 0 };
        if del & flag::TEMPLATE != 0 {
            return self.source.fail("bad inline flags: cannot turn off global flag", 1);
        }
        if add & del != 0 {
            return self.source.fail("bad inline flags: flag turned on and off", 1);
        }
        Ok(Some((add, del)))
    }

    fn added_flags(&mut self, first: char) -> Result<(u32, char)> {
        let mut add = 0;
        let mut ch = first;
        loop {
            if ch == 'L' {
                let message = "bad inline flags: cannot use 'L' flag with a str pattern";
                return self.source.fail(message, 0);
            }
            let bit = flag_of(ch).unwrap_or(0);
            add |= bit;
            if bit & flag::TYPE != 0 && add & flag::TYPE != bit {
                let message = "bad inline flags: flags 'a', 'u' and 'L' are incompatible";
                return self.source.fail(message, 0);
            }
            ch = self.flag_token("missing -, : or )", &[')', '-', ':'])?;
            if matches!(ch, ')' | '-' | ':') {
                return Ok((add, ch));
            }
        }
    }

    fn removed_flags(&mut self) -> Result<u32> {
        let mut del = 0;
        let mut ch = self.flag_token("missing flag", &[])?;
        loop {
            let bit = flag_of(ch).unwrap_or(0);
            if bit & flag::TYPE != 0 {
                let message = "bad inline flags: cannot turn off flags 'a', 'u' and 'L'";
                return self.source.fail(message, 0);
            }
            del |= bit;
            ch = self.flag_token("missing :", &[':'])?;
            if ch == ':' {
                return Ok(del);
            }
        }
    }

    /// Reads the next flag letter or one of the given terminators.
    fn flag_token(&mut self, missing: &str, ends: &[char]) -> Result<char> {
        let Some(token) = self.source.get()? else { return self.source.fail(missing, 0) };
        match token.plain() {
            Some(ch) if ends.contains(&ch) || flag_of(ch).is_some() => Ok(ch),
            Some(ch) if is_letter(ch) => self.source.fail("unknown flag", token.len()),
            _ => self.source.fail(missing, token.len()),
        }
    }
}
