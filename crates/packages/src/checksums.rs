//! `checksums.sha1`: one line `<sha1> <path>` per file, sorted by path.

use std::collections::BTreeMap;
use std::io;

use sha1::{Digest as _, Sha1};

pub(crate) const FILE: &str = "checksums.sha1";

/// SHA-1 checksums in hexadecimal, by path.
pub(crate) type Checksums = BTreeMap<String, String>;

pub(crate) fn to_text(sums: &Checksums) -> String {
    let mut text = String::new();
    for (path, sum) in sums {
        text.extend([sum, " ", path, "\n"]);
    }
    text
}

/// Parses the file. Also accepts the output of `sha1sum`, which separates with two spaces or a space and an
/// asterisk.
pub(crate) fn parse(text: &str) -> Result<Checksums, Vec<String>> {
    let (mut sums, mut problems) = (Checksums::new(), Vec::new());
    for (line_idx, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = line_idx + 1;
        let Some((sum, path)) = line.split_once(' ') else {
            problems.push(format!("line {number} of `{FILE}` is not `<sha1> <path>`"));
            continue;
        };
        let path = path.strip_prefix([' ', '*']).unwrap_or(path);
        let path = path.strip_prefix("./").unwrap_or(path);
        let is_sum = sum.len() == 40 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_sum {
            problems.push(format!("line {number} of `{FILE}` does not start with a SHA-1 checksum"));
        } else if sums.insert(path.to_owned(), sum.to_ascii_lowercase()).is_some() {
            problems.push(format!("`{FILE}` lists `{path}` twice"));
        }
    }
    if problems.is_empty() { Ok(sums) } else { Err(problems) }
}

/// Lists all differences between the recorded and the computed checksums.
pub(crate) fn differences(recorded: &Checksums, computed: &Checksums) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, sum) in computed {
        match recorded.get(path) {
            None => problems.push(format!("`{path}` is not listed in `{FILE}`")),
            Some(recorded) if recorded != sum => {
                problems.push(format!("`{path}` does not match its checksum"));
            }
            Some(_) => {}
        }
    }
    let missing = recorded.keys().filter(|path| !computed.contains_key(*path));
    problems.extend(missing.map(|path| format!("`{path}` is missing")));
    problems
}

/// Writer that computes the SHA-1 of the data written through it.
pub(crate) struct Sha1Writer<W> {
    inner: W,
    hasher: Sha1,
}

impl<W> Sha1Writer<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, hasher: Sha1::new() }
    }

    pub(crate) fn finish(self) -> (W, String) {
        (self.inner, hex::encode(self.hasher.finalize()))
    }
}

impl<W: io::Write> io::Write for Sha1Writer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n_written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..n_written]);
        Ok(n_written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    const EMPTY: &str = "da39a3ee5e6b4b0d3255bfef95601890afd80709";

    #[test]
    fn writer_computes_sha1() {
        let mut writer = Sha1Writer::new(Vec::new());
        assert_eq!(Sha1Writer::new(io::sink()).finish().1, EMPTY);
        writer.write_all(b"abc").unwrap();
        let (bytes, sum) = writer.finish();
        assert_eq!((&bytes[..], &*sum), (&b"abc"[..], "a9993e364706816aba3e25717850c26c9cd0d89d"));
    }

    #[test]
    fn checksums_round_trip() {
        let sums =
            Checksums::from([("a b".to_owned(), EMPTY.to_owned()), ("c/d".to_owned(), EMPTY.to_owned())]);
        assert_eq!(parse(&to_text(&sums)), Ok(sums.clone()));
        let sha1sum_output = format!("{EMPTY}  a b\n\n{EMPTY} *./c/d\n");
        assert_eq!(parse(&sha1sum_output), Ok(sums));
    }

    #[test]
    fn all_invalid_lines_are_reported() {
        let problems = parse(&format!("x\nabc a\n{EMPTY} a\n{EMPTY} a\n")).unwrap_err();
        assert_eq!(problems.len(), 3, "{problems:?}");
    }

    #[test]
    fn all_differences_are_reported() {
        let sums = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(path, sum)| ((*path).to_owned(), (*sum).to_owned())).collect::<Checksums>()
        };
        let problems = differences(
            &sums(&[("a", "1"), ("b", "1"), ("c", "1")]),
            &sums(&[("a", "1"), ("b", "2"), ("d", "1")]),
        );
        assert_eq!(
            problems,
            ["`b` does not match its checksum", "`d` is not listed in `checksums.sha1`", "`c` is missing"]
        );
    }
}
