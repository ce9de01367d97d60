//! The only writer of standard output and standard error.

use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};
use stoker_diagnostics::{Diagnostic, Severity};

use crate::diagnostic::render;

/// Writes data to standard output and diagnostics to standard error. Text is always generated with ANSI styles;
/// the streams strip them when they are not a terminal or `--color` disables them.
pub(crate) struct Printer {
    color: ColorChoice,
    has_diagnostics: bool,
    n_warnings: usize,
    out: io::Stdout,
}

impl Printer {
    pub(crate) fn new(color: clap::ColorChoice) -> Self {
        let color = match color {
            clap::ColorChoice::Auto => ColorChoice::Auto,
            clap::ColorChoice::Always => ColorChoice::Always,
            clap::ColorChoice::Never => ColorChoice::Never,
        };
        Self { color, has_diagnostics: false, n_warnings: 0, out: io::stdout() }
    }

    /// Writes data unfiltered and flushes; appends a missing final newline. Bypasses the style filter because data
    /// may contain escape sequences.
    pub(crate) fn data(&mut self, text: &str) -> io::Result<()> {
        write_lines(self.out.lock(), text)
    }

    /// Streams data that is too large to hold in memory.
    pub(crate) fn stream(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut out = io::BufWriter::with_capacity(1 << 16, self.out.lock());
        write(&mut out)?;
        out.flush()
    }

    /// Writes styled text to standard output.
    pub(crate) fn page(&mut self, text: &str) -> io::Result<()> {
        write_lines(AutoStream::new(self.out.lock(), self.color), text)
    }

    /// Prints a diagnostic. Errors of writing to standard error are ignored: there is no channel left to report them.
    pub(crate) fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        let blank_line = if self.has_diagnostics { "\n" } else { "" };
        _ = writeln!(self.err(), "{blank_line}{}", render(diagnostic));
        self.has_diagnostics = true;
        self.n_warnings += usize::from(diagnostic.severity == Severity::Warning);
    }

    /// Number of warnings printed so far.
    pub(crate) fn n_warnings(&self) -> usize {
        self.n_warnings
    }

    /// Writes a line to standard error.
    pub(crate) fn note(&mut self, text: &str) {
        _ = writeln!(self.err(), "{text}");
    }

    /// Reports whether styles on standard error are visible.
    pub(crate) fn has_colors(&self) -> bool {
        AutoStream::new(io::stderr(), self.color).current_choice() != ColorChoice::Never
    }

    fn err(&self) -> impl Write {
        AutoStream::new(io::stderr().lock(), self.color)
    }
}

fn write_lines(mut out: impl Write, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()
}
