//! Header of an RPM package: a tag table that follows the lead and the signature table.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use super::{PackageFileError, invalid};

const LEAD_BYTES: usize = 96;
const LEAD_MAGIC: &[u8] = &[0xed, 0xab, 0xee, 0xdb];
const TABLE_MAGIC: &[u8] = &[0x8e, 0xad, 0xe8, 1];
const ENTRY_BYTES: usize = 16;
/// Maximum numbers, far above the headers of the largest packages, such as kernels.
const ENTRIES_MAX: u32 = 4096;
const DATA_BYTES_MAX: u32 = 64 << 20;
const ITEMS_MAX: u32 = 1 << 20;
/// The signature table is padded to a multiple of this.
const ALIGNMENT: u64 = 8;

/// Tag numbers.
pub(super) mod tags {
    pub(crate) const NAME: u32 = 1000;
    pub(crate) const VERSION: u32 = 1001;
    pub(crate) const RELEASE: u32 = 1002;
    pub(crate) const EPOCH: u32 = 1003;
    pub(crate) const SUMMARY: u32 = 1004;
    pub(crate) const DESCRIPTION: u32 = 1005;
    pub(crate) const BUILD_TIME: u32 = 1006;
    pub(crate) const BUILD_HOST: u32 = 1007;
    pub(crate) const SIZE: u32 = 1009;
    pub(crate) const VENDOR: u32 = 1011;
    pub(crate) const LICENSE: u32 = 1014;
    pub(crate) const PACKAGER: u32 = 1015;
    pub(crate) const GROUP: u32 = 1016;
    pub(crate) const URL: u32 = 1020;
    pub(crate) const ARCH: u32 = 1022;
    pub(crate) const FILE_MODES: u32 = 1030;
    pub(crate) const SOURCE_RPM: u32 = 1044;
    pub(crate) const ARCHIVE_SIZE: u32 = 1046;
    pub(crate) const DIR_INDEXES: u32 = 1116;
    pub(crate) const BASE_NAMES: u32 = 1117;
    pub(crate) const DIR_NAMES: u32 = 1118;
    /// Tags of names, flags and versions of dependencies.
    pub(crate) const PROVIDES: [u32; 3] = [1047, 1112, 1113];
    pub(crate) const REQUIRES: [u32; 3] = [1049, 1048, 1050];
    pub(crate) const CONFLICTS: [u32; 3] = [1054, 1053, 1055];
    pub(crate) const OBSOLETES: [u32; 3] = [1090, 1114, 1115];
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Texts(Vec<String>),
    Numbers(Vec<u64>),
}

#[derive(Debug)]
pub(super) struct Header {
    values: HashMap<u32, Value>,
    /// Start and end offset of the header in the file.
    pub(super) range: (u64, u64),
}

impl Header {
    pub(super) fn read(path: &Path) -> Result<Self, PackageFileError> {
        let file = File::open(path).map_err(PackageFileError::Read)?;
        Self::parse(BufReader::new(file))
    }

    pub(super) fn parse(mut source: impl Read) -> Result<Self, PackageFileError> {
        let lead = read_bytes(&mut source, LEAD_BYTES)?;
        if !lead.starts_with(LEAD_MAGIC) {
            return Err(invalid("it is not an RPM package"));
        }
        let (n_entries, n_data) = read_sizes(&mut source)?;
        let n_signatures = u64::from(n_entries) * ENTRY_BYTES as u64 + u64::from(n_data);
        let n_padded = n_signatures.next_multiple_of(ALIGNMENT);
        skip(&mut source, n_padded)?;
        let start = LEAD_BYTES as u64 + ENTRY_BYTES as u64 + n_padded;
        let (n_entries, n_data) = read_sizes(&mut source)?;
        let entries = read_bytes(&mut source, n_entries as usize * ENTRY_BYTES)?;
        let data = read_bytes(&mut source, n_data as usize)?;
        let mut values = HashMap::new();
        for entry in entries.chunks_exact(ENTRY_BYTES) {
            let number = |at: usize| u32_at(entry, at).unwrap_or_default();
            if let Some(value) = value(&data, number(4), number(8) as usize, number(12))? {
                values.insert(number(0), value);
            }
        }
        let end = start + ENTRY_BYTES as u64 + entries.len() as u64 + data.len() as u64;
        let header = Self { values, range: (start, end) };
        let names = [
            (tags::NAME, "name"),
            (tags::VERSION, "version"),
            (tags::RELEASE, "release"),
            (tags::ARCH, "architecture"),
        ];
        let missing: Vec<&str> =
            names.into_iter().filter(|(tag, _)| header.text(*tag).is_empty()).map(|(_, name)| name).collect();
        if !missing.is_empty() {
            let reason = format!("its header lacks {}", missing.join(", "));
            return Err(PackageFileError::Invalid(reason));
        }
        Ok(header)
    }

    /// Strings of a tag; empty if the tag is absent.
    pub(super) fn texts(&self, tag: u32) -> &[String] {
        match self.values.get(&tag) {
            Some(Value::Texts(texts)) => texts,
            _ => &[],
        }
    }

    pub(super) fn text(&self, tag: u32) -> &str {
        self.texts(tag).first().map_or("", String::as_str)
    }

    pub(super) fn numbers(&self, tag: u32) -> &[u64] {
        match self.values.get(&tag) {
            Some(Value::Numbers(numbers)) => numbers,
            _ => &[],
        }
    }

    pub(super) fn number(&self, tag: u32) -> u64 {
        self.numbers(tag).first().copied().unwrap_or_default()
    }
}

fn truncated() -> PackageFileError {
    invalid("it is not an RPM package: unexpected end of file")
}

/// Reads exactly `n_bytes`. The buffer grows with the data, because a size in an untrusted file cannot be
/// allocated up front.
fn read_bytes(source: &mut impl Read, n_bytes: usize) -> Result<Vec<u8>, PackageFileError> {
    let mut bytes = Vec::new();
    let n_read = source.take(n_bytes as u64).read_to_end(&mut bytes).map_err(|_| truncated())?;
    if n_read == n_bytes { Ok(bytes) } else { Err(truncated()) }
}

fn skip(source: &mut impl Read, n_bytes: u64) -> Result<(), PackageFileError> {
    let skipped = std::io::copy(&mut source.take(n_bytes), &mut std::io::sink());
    if skipped.is_ok_and(|n_skipped| n_skipped == n_bytes) { Ok(()) } else { Err(truncated()) }
}

/// Reads the number of entries and data bytes of a table.
fn read_sizes(source: &mut impl Read) -> Result<(u32, u32), PackageFileError> {
    let intro = read_bytes(source, ENTRY_BYTES)?;
    let (n_entries, n_data) = (u32_at(&intro, 8).unwrap_or(u32::MAX), u32_at(&intro, 12).unwrap_or(u32::MAX));
    if !intro.starts_with(TABLE_MAGIC) || n_entries > ENTRIES_MAX || n_data > DATA_BYTES_MAX {
        return Err(invalid("it is not an RPM package: malformed header"));
    }
    Ok((n_entries, n_data))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}

/// Decodes the value of an entry. `None` for types that no index needs.
fn value(data: &[u8], kind: u32, at: usize, n_items: u32) -> Result<Option<Value>, PackageFileError> {
    let out_of_bounds = || invalid("it is not an RPM package: a value is out of bounds");
    if n_items > ITEMS_MAX {
        return Err(out_of_bounds());
    }
    let n_items = n_items as usize;
    let rest = data.get(at..).ok_or_else(out_of_bounds)?;
    let numbers = |width: usize| -> Option<Value> {
        let items = rest.get(..n_items * width)?.chunks_exact(width);
        let number = |item: &[u8]| item.iter().fold(0, |sum: u64, byte| sum << 8 | u64::from(*byte));
        Some(Value::Numbers(items.map(number).collect()))
    };
    let texts = |n_items: usize| -> Option<Value> {
        let mut rest = rest;
        let mut strings = Vec::new();
        for _ in 0..n_items {
            let end = rest.iter().position(|byte| *byte == 0)?;
            strings.push(String::from_utf8_lossy(&rest[..end]).into_owned());
            rest = &rest[end + 1..];
        }
        Some(Value::Texts(strings))
    };
    match kind {
        3 => numbers(2).map(Some).ok_or_else(out_of_bounds),
        4 => numbers(4).map(Some).ok_or_else(out_of_bounds),
        5 => numbers(8).map(Some).ok_or_else(out_of_bounds),
        6 => texts(1).map(Some).ok_or_else(out_of_bounds),
        8 | 9 => texts(n_items).map(Some).ok_or_else(out_of_bounds),
        _ => Ok(None),
    }
}
