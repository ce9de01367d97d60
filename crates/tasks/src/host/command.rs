//! A program to run, and how it ended.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A program to run. It has no input unless some is given, and a session of output that is reported as it comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub program: Program,
    pub cwd: String,
    /// Added to the environment of the agent.
    pub env: BTreeMap<String, String>,
    pub stdin: Option<Vec<u8>>,
    /// Whether it may change the machine.
    pub effect: Effect,
    /// Put into a private folder before, which goes away after. `{scratch}` in arguments is that folder.
    pub scratch: Vec<ScratchFile>,
    /// Files of that folder to be read after the end, as [`Exit::collected`].
    pub collect: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A program and its arguments.
    Argv(Vec<String>),
    /// Text for a shell.
    Script(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScratchFile {
    pub name: String,
    pub data: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Looks and says; also runs where nothing may be touched.
    Reads,
    Changes,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Exit {
    pub status: Status,
    /// The end of what it printed, secrets removed.
    pub stdout_tail: String,
    pub stderr_tail: String,
    pub collected: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Code(i32),
    Signal(i32),
}

impl Default for Status {
    fn default() -> Self {
        Self::Code(0)
    }
}

impl Command {
    pub fn argv<T: Into<String>>(words: impl IntoIterator<Item = T>) -> Self {
        Self::new(Program::Argv(words.into_iter().map(Into::into).collect()))
    }

    pub fn script(text: impl Into<String>) -> Self {
        Self::new(Program::Script(text.into()))
    }

    fn new(program: Program) -> Self {
        Self {
            program,
            cwd: "/".to_owned(),
            env: BTreeMap::new(),
            stdin: None,
            effect: Effect::Changes,
            scratch: Vec::new(),
            collect: Vec::new(),
        }
    }

    pub fn cwd(mut self, folder: impl Into<String>) -> Self {
        self.cwd = folder.into();
        self
    }

    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.insert(name.to_owned(), value.into());
        self
    }

    pub fn stdin(mut self, data: Vec<u8>) -> Self {
        self.stdin = Some(data);
        self
    }

    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    pub fn scratch(mut self, name: &str, data: Vec<u8>) -> Self {
        self.scratch.push(ScratchFile { name: name.to_owned(), data });
        self
    }

    pub fn collect(mut self, name: &str) -> Self {
        self.collect.push(name.to_owned());
        self
    }

    /// As it could be typed, for people.
    pub fn shown(&self) -> String {
        match &self.program {
            Program::Script(text) => text.trim_end().to_owned(),
            Program::Argv(words) => {
                words.iter().map(|word| single_quoted(word)).collect::<Vec<_>>().join(" ")
            }
        }
    }
}

impl Exit {
    pub fn is_success(&self) -> bool {
        self.status == Status::Code(0)
    }

    /// What happened, with the last thing it said.
    pub fn told(&self) -> String {
        self.told_by(&[])
    }

    /// The same of a program that marks what went wrong with one of these words; what it said last may be of no interest.
    pub fn told_by(&self, marks: &[&str]) -> String {
        let mut text = match self.status {
            Status::Code(code) => format!("exit code {code}"),
            Status::Signal(signal) => format!("ended by signal {signal}"),
        };
        let tails = [&self.stderr_tail, &self.stdout_tail];
        let last = |is_meant: &dyn Fn(&str) -> bool| {
            tails.iter().find_map(|tail| tail.lines().rev().map(str::trim).find(|line| is_meant(line)))
        };
        let marked = last(&|line| marks.iter().any(|mark| line.starts_with(mark)));
        if let Some(line) = marked.or_else(|| last(&|line| !line.is_empty())) {
            _ = write!(text, ": {}", shortened(line));
        }
        text
    }
}

/// A line of a message, not a page.
fn shortened(line: &str) -> String {
    const CHARS_MAX: usize = 400;
    if line.chars().count() <= CHARS_MAX {
        return line.to_owned();
    }
    line.chars().take(CHARS_MAX).chain(['…']).collect()
}

/// A word as a shell takes it literally.
pub fn single_quoted(word: &str) -> String {
    let is_plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '=' | ':' | ',' | '+' | '@' | '%')
    };
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_shown_as_they_could_be_typed() {
        assert_eq!(Command::argv(["rsync", "a b", "it's", ""]).shown(), r"rsync 'a b' 'it'\''s' ''");
        assert_eq!(Command::script("echo 1\n").shown(), "echo 1");
    }

    #[test]
    fn the_end_is_told_with_the_last_words() {
        let exit = Exit {
            status: Status::Code(3),
            stdout_tail: "out".into(),
            stderr_tail: "a\nno such disk\n \n".into(),
            ..Exit::default()
        };
        assert_eq!(exit.told(), "exit code 3: no such disk");
        assert_eq!(Exit { status: Status::Signal(9), ..Exit::default() }.told(), "ended by signal 9");
        let marked = Exit { stdout_tail: "fatal: no\nRECAP".into(), ..exit.clone() };
        assert_eq!(marked.told_by(&["Error:", "fatal:"]), "exit code 3: fatal: no");
        assert_eq!(marked.told_by(&["none:"]), "exit code 3: no such disk");
        let long = Exit { stderr_tail: "x".repeat(5000), ..exit };
        assert!(long.told().len() < 500);
    }
}
