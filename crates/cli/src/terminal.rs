//! The terminal, if there is one: how wide it is, and questions to whoever sits before it.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};

use crate::environment;
use crate::exit::{Failure, Outcome};

/// How many characters fit into a line of standard output; nothing where lines may be as long as they like.
pub(crate) fn width() -> Option<u16> {
    environment::columns().or_else(|| Some(terminal_size::terminal_size_of(io::stdout())?.0.0))
}

/// How many lines fit onto the terminal.
pub(crate) fn height() -> Option<u16> {
    Some(terminal_size::terminal_size_of(io::stdout())?.1.0)
}

/// Whether somebody watches standard output.
pub(crate) fn is_watched() -> bool {
    io::stdout().is_terminal()
}

/// Asks for a yes. Anything else, also the end of the input, is a no.
pub(crate) fn ask(question: &str) -> bool {
    tell(&format!("{question} [y/N] "));
    let answer = read_line().unwrap_or_default();
    if !io::stdin().is_terminal() {
        // Nobody typed the line break that belongs here.
        tell("\n");
    }
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// Asks for a line.
pub(crate) fn question(text: &str) -> Outcome<String> {
    tell(&format!("{text} "));
    let answer = read_line();
    if !io::stdin().is_terminal() {
        // Nobody typed the line break that belongs here.
        tell("\n");
    }
    answer.ok_or_else(ended)
}

fn ended() -> Failure {
    Failure::input("standard input has ended")
}

/// Asks for a secret, which is not shown while it is typed. Without a terminal it is the first line of standard input.
pub(crate) fn secret(text: &str) -> Outcome<String> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        return read_line().ok_or_else(ended);
    }
    let cannot = |error: nix::Error| Failure::input(format!("cannot hide what is typed: {error}"));
    let shown = tcgetattr(&stdin).map_err(cannot)?;
    let mut hidden = shown.clone();
    hidden.local_flags.remove(LocalFlags::ECHO);
    tcsetattr(&stdin, SetArg::TCSAFLUSH, &hidden).map_err(cannot)?;
    tell(&format!("{text} "));
    let answer = read_line().ok_or_else(ended);
    let restored = tcsetattr(&stdin, SetArg::TCSAFLUSH, &shown).map_err(cannot);
    tell("\n");
    restored?;
    answer
}

fn tell(text: &str) {
    // Nobody could be told that standard error cannot be written to.
    _ = io::stderr().write_all(text.as_bytes());
    _ = io::stderr().flush();
}

/// Nothing at the end of the input.
fn read_line() -> Option<String> {
    let mut line = String::new();
    let n_bytes = io::stdin().lock().read_line(&mut line).ok()?;
    (n_bytes > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned())
}
