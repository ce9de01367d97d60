//! Terminal emulator: records the output of a program on a pseudoterminal and replays it.

use std::fs::File;
use std::io::Read as _;
use std::process::{Command, Stdio};

use nix::pty::{Winsize, openpty};

/// Runs a program on a pseudoterminal and returns its output.
pub(crate) fn record_output(mut command: Command, columns: u16) -> Vec<u8> {
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(Some(&size), None).unwrap();
    let slave = || Stdio::from(pty.slave.try_clone().unwrap());
    let mut child =
        command.stdin(slave()).stdout(slave()).stderr(slave()).env("TERM", "xterm").spawn().unwrap();
    drop((command, pty.slave));
    let mut bytes = Vec::new();
    // Reading the master fails with EIO when the program exits.
    _ = File::from(pty.master).read_to_end(&mut bytes);
    assert!(child.wait().unwrap().success(), "{}", String::from_utf8_lossy(&bytes));
    bytes
}

/// Screen contents. Supports only the escape sequences that the program emits.
pub(crate) struct Screen {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
    columns: usize,
    /// Whether the row continues a line that was too long.
    is_continuation: bool,
    /// Lines that were too long, truncated to the width.
    pub(crate) broken: Vec<String>,
}

impl Screen {
    pub(crate) fn new(columns: u16) -> Self {
        let (lines, broken) = (vec![Vec::new()], Vec::new());
        Self { lines, row: 0, column: 0, columns: columns.into(), is_continuation: false, broken }
    }

    /// Runs a program on a terminal of this width and asserts that no line is too long.
    pub(crate) fn record(command: Command, columns: u16) -> Self {
        let mut screen = Self::new(columns);
        screen.feed(&record_output(command, columns));
        assert!(screen.broken.is_empty(), "at {columns}: {:#?}", screen.broken);
        screen
    }

    pub(crate) fn text(&self) -> String {
        let line = |line: &Vec<char>| line.iter().collect::<String>().trim_end().to_owned();
        self.lines.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\u{1b}' => {
                    assert_eq!(letters.next(), Some('['));
                    let mut argument = String::new();
                    let command = loop {
                        match letters.next().unwrap() {
                            digit @ ('0'..='9' | ';') => argument.push(digit),
                            command => break command,
                        }
                    };
                    self.execute(command, argument.parse().unwrap_or(0));
                }
                '\r' => self.column = 0,
                '\n' => {
                    self.is_continuation = false;
                    self.next_row();
                }
                letter => self.put(letter),
            }
        }
    }

    fn execute(&mut self, command: char, argument: usize) {
        match command {
            'A' => self.row -= argument,
            'K' => self.lines[self.row].truncate(self.column),
            'J' => {
                self.lines[self.row].truncate(self.column);
                self.lines.truncate(self.row + 1);
            }
            'm' => {}
            other => panic!("unsupported escape sequence: {other}"),
        }
    }

    fn next_row(&mut self) {
        self.row += 1;
        if self.row == self.lines.len() {
            self.lines.push(Vec::new());
        }
    }

    fn put(&mut self, letter: char) {
        if self.column == self.columns {
            if !self.is_continuation {
                self.broken.push(self.lines[self.row].iter().collect());
            }
            self.is_continuation = true;
            self.column = 0;
            self.next_row();
        }
        let line = &mut self.lines[self.row];
        line.resize(line.len().max(self.column + 1), ' ');
        line[self.column] = letter;
        self.column += 1;
    }

    /// Returns the text with `T` in place of every duration.
    pub(crate) fn without_times(&self) -> String {
        let text = self.text();
        let mut words: Vec<String> = Vec::new();
        for word in text.split(' ') {
            let is_unit = ["ms", "s", "min", "ms,", "s,"].iter().any(|unit| {
                word.strip_prefix(unit).is_some_and(|rest| rest.is_empty() || rest.starts_with('\n'))
            });
            let is_number =
                |word: &String| word.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
            if is_unit && words.last().is_some_and(is_number) {
                words.pop();
                words.push(word.trim_start_matches(['m', 's', 'i', 'n']).to_owned());
                let last = words.last_mut().unwrap();
                *last = format!("T{last}");
            } else {
                words.push(word.to_owned());
            }
        }
        // Durations of different widths move the text before them.
        words.retain(|word| !word.is_empty());
        words.join(" ")
    }
}
