//! Where everything that is printed goes through.

use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};

use crate::diagnostic::Diagnostic;
use crate::render::render;

/// Standard output for data, standard error for people. Colours are written always and taken out where the
/// stream is no terminal or its owner does not want them.
pub(crate) struct Printer {
    color: ColorChoice,
    has_complained: bool,
    out: io::Stdout,
}

impl Printer {
    pub(crate) fn new(color: clap::ColorChoice) -> Self {
        let color = match color {
            clap::ColorChoice::Auto => ColorChoice::Auto,
            clap::ColorChoice::Always => ColorChoice::Always,
            clap::ColorChoice::Never => ColorChoice::Never,
        };
        Self { color, has_complained: false, out: io::stdout() }
    }

    /// Writes data as it is and at once; a missing line break at the end is added. Data may hold what looks like
    /// colours, so it goes round the filter.
    pub(crate) fn data(&mut self, text: &str) -> io::Result<()> {
        write_lines(self.out.lock(), text)
    }

    /// Writes data that is too large to be held at once, piece by piece.
    pub(crate) fn pieces(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut out = io::BufWriter::with_capacity(1 << 16, self.out.lock());
        write(&mut out)?;
        out.flush()
    }

    /// Writes text with colours for a person to standard output.
    pub(crate) fn page(&mut self, text: &str) -> io::Result<()> {
        write_lines(AutoStream::new(self.out.lock(), self.color), text)
    }

    /// Shows a problem. That standard error cannot be written to is nothing anyone could be told.
    pub(crate) fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        let blank_line = if self.has_complained { "\n" } else { "" };
        _ = writeln!(self.err(), "{blank_line}{}", render(diagnostic));
        self.has_complained = true;
    }

    /// A remark beside the data.
    pub(crate) fn note(&mut self, text: &str) {
        _ = writeln!(self.err(), "{text}");
    }

    /// Whether what is written to standard error may have colours.
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
