//! Text from a file or from standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use stoker_diagnostics::Diagnostic;
use stoker_manifest::Format;

use crate::exit::{Failure, Outcome};

/// Maximum size of a file. Prevents reading a wrong file: the parsed values of a larger text would not fit
/// into memory.
const BYTES_MAX: u64 = 256 << 20;

/// A source text and the name that diagnostics show for it.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) origin: String,
    pub(crate) content: Arc<str>,
}

impl Text {
    /// Shows a diagnostic with an excerpt of this text.
    pub(crate) fn attach(&self, diagnostic: Diagnostic) -> Diagnostic {
        diagnostic.in_source(&self.origin, self.content.clone())
    }

    /// Returns the format by file extension; all extensions except `.json` are YAML.
    pub(crate) fn format(&self) -> Format {
        let extension = Path::new(&self.origin).extension();
        let is_json = extension.is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        if is_json { Format::Json } else { Format::Yaml }
    }
}

/// Reads a file; `-` is standard input.
pub(crate) fn read_text(path: &Path) -> Outcome<Text> {
    let (origin, bytes) = if path == Path::new("-") {
        ("standard input".to_owned(), read_bounded(io::stdin().lock()))
    } else {
        (path.display().to_string(), File::open(path).and_then(read_bounded))
    };
    let bytes = bytes.map_err(|error| Failure::input(format!("cannot read `{origin}`: {error}")))?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(Failure::input(format!("`{origin}` is larger than {BYTES_MAX} bytes")));
    }
    match String::from_utf8(bytes) {
        Ok(content) => Ok(Text { origin, content: content.into() }),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            Err(Failure::input(format!("`{origin}` is not valid UTF-8: invalid byte at offset {at}")))
        }
    }
}

fn read_bounded(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
