//! Terminal size and interactive prompts.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};

use crate::environment;
use crate::exit::{Failure, Outcome};

/// Returns the width of standard output in characters; `None` if it is unlimited.
pub(crate) fn width() -> Option<u16> {
    environment::columns().or_else(|| Some(terminal_size::terminal_size_of(io::stdout())?.0.0))
}

/// Returns the height of the terminal in lines.
pub(crate) fn height() -> Option<u16> {
    Some(terminal_size::terminal_size_of(io::stdout())?.1.0)
}

/// Reports whether standard output is a terminal.
pub(crate) fn is_terminal_output() -> bool {
    io::stdout().is_terminal()
}

/// Asks for confirmation. Everything but `y` or `yes` means no, including end of input.
pub(crate) fn confirm(question: &str) -> bool {
    prompt(&format!("{question} [y/N] "));
    let answer = read_line().unwrap_or_default();
    if !io::stdin().is_terminal() {
        // Piped input does not echo the line break that ends the prompt.
        prompt("\n");
    }
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// Prompts for a line.
pub(crate) fn ask_line(text: &str) -> Outcome<String> {
    prompt(&format!("{text} "));
    let answer = read_line();
    if !io::stdin().is_terminal() {
        // Piped input does not echo the line break that ends the prompt.
        prompt("\n");
    }
    answer.ok_or_else(end_of_input)
}

fn end_of_input() -> Failure {
    Failure::input("unexpected end of standard input")
}

/// Prompts for a secret with echo disabled. Without a terminal, reads the first line of standard input.
pub(crate) fn ask_secret(text: &str) -> Outcome<String> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        return read_line().ok_or_else(end_of_input);
    }
    let echo_error = |error: nix::Error| Failure::input(format!("cannot disable terminal echo: {error}"));
    let original = tcgetattr(&stdin).map_err(echo_error)?;
    let mut hidden = original.clone();
    hidden.local_flags.remove(LocalFlags::ECHO);
    tcsetattr(&stdin, SetArg::TCSAFLUSH, &hidden).map_err(echo_error)?;
    prompt(&format!("{text} "));
    let answer = read_line().ok_or_else(end_of_input);
    let restored = tcsetattr(&stdin, SetArg::TCSAFLUSH, &original).map_err(echo_error);
    prompt("\n");
    restored?;
    answer
}

fn prompt(text: &str) {
    // Errors are ignored: there is no channel left to report them.
    _ = io::stderr().write_all(text.as_bytes());
    _ = io::stderr().flush();
}

/// Returns `None` at end of input.
fn read_line() -> Option<String> {
    let mut line = String::new();
    let n_bytes = io::stdin().lock().read_line(&mut line).ok()?;
    (n_bytes > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned())
}
