//! `checksums.sha1`: a line `<sha1> <path>` for each file, by path.

use std::collections::BTreeMap;
use std::io;

use sha1::{Digest as _, Sha1};

pub(crate) const FILE: &str = "checksums.sha1";

/// From paths to sums in hexadecimal.
pub(crate) type Checksums = BTreeMap<String, String>;

pub(crate) fn to_text(sums: &Checksums) -> String {
    let mut text = String::new();
    for (path, sum) in sums {
        text.extend([sum, " ", path, "\n"]);
    }
    text
}

/// Reads such a file; `sha1sum` writes two blanks, or a blank and a star.
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
            problems.push(format!("line {number} of `{FILE}` has no SHA-1 in front"));
        } else if sums.insert(path.to_owned(), sum.to_ascii_lowercase()).is_some() {
            problems.push(format!("`{FILE}` has `{path}` twice"));
        }
    }
    if problems.is_empty() { Ok(sums) } else { Err(problems) }
}

/// Everything in which what was promised and what was found differ.
pub(crate) fn differences(promised: &Checksums, found: &Checksums) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, sum) in found {
        match promised.get(path) {
            None => problems.push(format!("`{path}` is not in `{FILE}`")),
            Some(promised) if promised != sum => problems.push(format!("`{path}` is not what it was")),
            Some(_) => {}
        }
    }
    let missing = promised.keys().filter(|path| !found.contains_key(*path));
    problems.extend(missing.map(|path| format!("`{path}` is missing")));
    problems
}

/// Sums what passes through.
pub(crate) struct Summing<W> {
    inner: W,
    hasher: Sha1,
}

impl<W> Summing<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, hasher: Sha1::new() }
    }

    pub(crate) fn finish(self) -> (W, String) {
        (self.inner, hex(&self.hasher.finalize()))
    }
}

impl<W: io::Write> io::Write for Summing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n_written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..n_written]);
        Ok(n_written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    const EMPTY: &str = "da39a3ee5e6b4b0d3255bfef95601890afd80709";

    #[test]
    fn sums_are_those_of_sha1() {
        let mut summing = Summing::new(Vec::new());
        assert_eq!(Summing::new(io::sink()).finish().1, EMPTY);
        summing.write_all(b"abc").unwrap();
        let (bytes, sum) = summing.finish();
        assert_eq!((&bytes[..], &*sum), (&b"abc"[..], "a9993e364706816aba3e25717850c26c9cd0d89d"));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let sums =
            Checksums::from([("a b".to_owned(), EMPTY.to_owned()), ("c/d".to_owned(), EMPTY.to_owned())]);
        assert_eq!(parse(&to_text(&sums)), Ok(sums.clone()));
        let of_sha1sum = format!("{EMPTY}  a b\n\n{EMPTY} *./c/d\n");
        assert_eq!(parse(&of_sha1sum), Ok(sums));
    }

    #[test]
    fn all_wrong_lines_are_told() {
        let problems = parse(&format!("x\nabc a\n{EMPTY} a\n{EMPTY} a\n")).unwrap_err();
        assert_eq!(problems.len(), 3, "{problems:?}");
    }

    #[test]
    fn all_differences_are_told() {
        let sums = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(path, sum)| ((*path).to_owned(), (*sum).to_owned())).collect::<Checksums>()
        };
        let found = differences(
            &sums(&[("a", "1"), ("b", "1"), ("c", "1")]),
            &sums(&[("a", "1"), ("b", "2"), ("d", "1")]),
        );
        assert_eq!(found, ["`b` is not what it was", "`d` is not in `checksums.sha1`", "`c` is missing"]);
    }
}
