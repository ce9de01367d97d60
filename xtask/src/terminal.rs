//! Output of this tool: lines, colour, and the destination of the output of child processes.
//!
//! Steps of `cargo xtask test` run in two threads. The output of the second thread is redirected to a file
//! and printed when the step ends, so that the lines of two steps do not mix.

use std::cell::RefCell;
use std::env;
use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};

thread_local! {
    /// File that receives the output of this thread and of the processes that it starts.
    static REDIRECT: RefCell<Option<File>> = const { RefCell::new(None) };
}

#[derive(Clone, Copy)]
pub(crate) enum Style {
    Bold,
    Dim,
    Good,
    Bad,
    Notice,
}

/// Wraps text in a style if standard output is a terminal and `NO_COLOR` is not set. Colour only repeats the
/// meaning of the words.
pub(crate) fn paint(style: Style, text: &str) -> String {
    let is_coloured =
        io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if !is_coloured {
        return text.to_owned();
    }
    let code = match style {
        Style::Bold => "1",
        Style::Dim => "2",
        Style::Good => "32",
        Style::Bad => "31;1",
        Style::Notice => "33",
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

/// Sends the output of this thread to a file from now on; `None` restores standard output.
pub(crate) fn redirect(file: Option<File>) {
    REDIRECT.set(file);
}

/// Returns the file that receives the output of this thread, if it is redirected.
pub(crate) fn redirected() -> Option<File> {
    REDIRECT.with_borrow(|file| file.as_ref().and_then(|file| file.try_clone().ok()))
}

/// Prints a line to standard output or to the file to which this thread is redirected.
pub(crate) fn print_line(text: &str) {
    match redirected() {
        // A full disk loses log lines, not the result of the step.
        Some(mut file) => _ = writeln!(file, "{text}"),
        None => println!("{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirected_lines_go_to_the_file() {
        let path = env::temp_dir().join(format!("stoker-redirect-{}", std::process::id()));
        redirect(Some(File::create(&path).unwrap()));
        print_line("one");
        crate::process::run(std::process::Command::new("echo").arg("two")).unwrap();
        redirect(None);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text, "one\n$ echo two\ntwo\n");
    }
}
