//! Programs to run and their exit status.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A program to run. Standard input is empty unless `stdin` is set; output is reported as it is produced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub program: Program,
    pub cwd: String,
    /// Variables added to the agent's environment.
    pub env: BTreeMap<String, String>,
    pub stdin: Option<Vec<u8>>,
    pub effect: CommandEffect,
    /// Files created in a private temporary directory that is removed after the program. `{scratch}` in
    /// arguments is its path.
    pub scratch: Vec<ScratchFile>,
    /// Files of that directory to return in [`Exit::collected`].
    pub collect: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A program and its arguments.
    Argv(Vec<String>),
    /// Script text for the shell.
    Script(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScratchFile {
    pub name: String,
    pub data: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandEffect {
    /// Read-only; also executed in noop mode.
    Reads,
    Changes,
}

/// Result of a program.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Exit {
    pub status: Status,
    /// Tail of standard output, with secrets masked.
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
            effect: CommandEffect::Changes,
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

    pub fn effect(mut self, effect: CommandEffect) -> Self {
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

    /// Returns a human-readable form, quoted for a shell.
    pub fn display(&self) -> String {
        match &self.program {
            Program::Script(text) => text.trim_end().to_owned(),
            Program::Argv(words) => words.iter().map(|word| shell_quote(word)).collect::<Vec<_>>().join(" "),
        }
    }
}

impl Exit {
    pub fn is_success(&self) -> bool {
        self.status == Status::Code(0)
    }

    /// Describes the result: exit status and the last output line.
    pub fn describe(&self) -> String {
        self.describe_with(&[])
    }

    /// Like [`Exit::describe`], but prefers the last line that starts with one of `marks`, for programs that
    /// print other lines after their error message.
    pub fn describe_with(&self, marks: &[&str]) -> String {
        let mut text = match self.status {
            Status::Code(code) => format!("exit code {code}"),
            Status::Signal(signal) => format!("ended by signal {signal}"),
        };
        let tails = [&self.stderr_tail, &self.stdout_tail];
        let last = |is_match: &dyn Fn(&str) -> bool| {
            tails.iter().find_map(|tail| tail.lines().rev().map(str::trim).find(|line| is_match(line)))
        };
        let marked = last(&|line| marks.iter().any(|mark| line.starts_with(mark)));
        if let Some(line) = marked.or_else(|| last(&|line| !line.is_empty())) {
            _ = write!(text, ": {}", truncate(line));
        }
        text
    }
}

/// Truncates a line for use in a message.
fn truncate(line: &str) -> String {
    const CHARS_MAX: usize = 400;
    if line.chars().count() <= CHARS_MAX {
        return line.to_owned();
    }
    line.chars().take(CHARS_MAX).chain(['…']).collect()
}

/// Quotes a word for a POSIX shell if necessary.
pub fn shell_quote(word: &str) -> String {
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
    fn commands_are_displayed_quoted() {
        assert_eq!(Command::argv(["rsync", "a b", "it's", ""]).display(), r"rsync 'a b' 'it'\''s' ''");
        assert_eq!(Command::script("echo 1\n").display(), "echo 1");
    }

    #[test]
    fn exit_description_includes_the_last_line() {
        let exit = Exit {
            status: Status::Code(3),
            stdout_tail: "out".into(),
            stderr_tail: "a\nno such disk\n \n".into(),
            ..Exit::default()
        };
        assert_eq!(exit.describe(), "exit code 3: no such disk");
        assert_eq!(Exit { status: Status::Signal(9), ..Exit::default() }.describe(), "ended by signal 9");
        let marked = Exit { stdout_tail: "fatal: no\nRECAP".into(), ..exit.clone() };
        assert_eq!(marked.describe_with(&["Error:", "fatal:"]), "exit code 3: fatal: no");
        assert_eq!(marked.describe_with(&["none:"]), "exit code 3: no such disk");
        let long = Exit { stderr_tail: "x".repeat(5000), ..exit };
        assert!(long.describe().len() < 500);
    }
}
