//! A terminal that is no terminal: what a program draws is recorded and played back.

use std::fs::File;
use std::io::Read as _;
use std::process::{Command, Stdio};

use nix::pty::{Winsize, openpty};

/// Runs a program on a terminal of its own; everything it wrote.
pub(crate) fn recorded(mut command: Command, columns: u16) -> Vec<u8> {
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(Some(&size), None).unwrap();
    let side = || Stdio::from(pty.slave.try_clone().unwrap());
    let mut child = command.stdin(side()).stdout(side()).stderr(side()).env("TERM", "xterm").spawn().unwrap();
    drop((command, pty.slave));
    let mut bytes = Vec::new();
    // Its end is told as an error.
    _ = File::from(pty.master).read_to_end(&mut bytes);
    assert!(child.wait().unwrap().success(), "{}", String::from_utf8_lossy(&bytes));
    bytes
}

/// The lines of a terminal, with the few orders that our program gives.
pub(crate) struct Screen {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
    columns: usize,
    /// Whether the row goes on with a line that did not fit.
    goes_on: bool,
    /// Lines that did not fit, as far as they did.
    pub(crate) broken: Vec<String>,
}

impl Screen {
    pub(crate) fn new(columns: u16) -> Self {
        let (lines, broken) = (vec![Vec::new()], Vec::new());
        Self { lines, row: 0, column: 0, columns: columns.into(), goes_on: false, broken }
    }

    /// What somebody sees who runs a program on a terminal of this width; every line fits.
    pub(crate) fn of(command: Command, columns: u16) -> Self {
        let mut screen = Self::new(columns);
        screen.feed(&recorded(command, columns));
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
                    let order = loop {
                        match letters.next().unwrap() {
                            digit @ ('0'..='9' | ';') => argument.push(digit),
                            order => break order,
                        }
                    };
                    self.order(order, argument.parse().unwrap_or(0));
                }
                '\r' => self.column = 0,
                '\n' => {
                    self.goes_on = false;
                    self.down();
                }
                letter => self.put(letter),
            }
        }
    }

    fn order(&mut self, order: char, argument: usize) {
        match order {
            'A' => self.row -= argument,
            'K' => self.lines[self.row].truncate(self.column),
            'J' => {
                self.lines[self.row].truncate(self.column);
                self.lines.truncate(self.row + 1);
            }
            'm' => {}
            other => panic!("an order that nobody gives: {other}"),
        }
    }

    fn down(&mut self) {
        self.row += 1;
        if self.row == self.lines.len() {
            self.lines.push(Vec::new());
        }
    }

    fn put(&mut self, letter: char) {
        if self.column == self.columns {
            if !self.goes_on {
                self.broken.push(self.lines[self.row].iter().collect());
            }
            self.goes_on = true;
            self.column = 0;
            self.down();
        }
        let line = &mut self.lines[self.row];
        line.resize(line.len().max(self.column + 1), ' ');
        line[self.column] = letter;
        self.column += 1;
    }

    /// With `T` in place of every duration.
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
        // How wide a time is moves what is before it.
        words.retain(|word| !word.is_empty());
        words.join(" ")
    }
}
