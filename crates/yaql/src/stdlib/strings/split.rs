use crate::pytext;

use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::{part, scan, word_sized};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Splits a string at a separator and returns a list of the parts. Without a separator, or with null, splits at runs of whitespace and omits empty parts. Makes at most `maxSplits` splits from the left; a negative number means no limit. Fails with ValueError if the separator is empty.",
    overloads: &[("m split(string: string, separator: string? = null, maxSplits: int = -1)", split)],
    examples: &[
        ("'a b  c'.split()", r#"["a", "b", "c"]"#),
        ("'a,b,c'.split(',', 1)", r#"["a", "b,c"]"#),
        ("'a,,b'.split(',')", r#"["a", "", "b"]"#),
        ("''.split()", "[]"),
        ("''.split(',')", r#"[""]"#),
        ("ab.split('')", "ValueError"),
    ],
    purity: Purity::Pure,
};

fn split(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    split_with(cx, args, pytext::split)
}

pub(super) type Splitter = for<'t> fn(&'t str, Option<&str>, i64) -> Result<Vec<&'t str>>;

pub(super) fn split_with(cx: &mut Cx<'_>, args: &mut Args<'_>, splitter: Splitter) -> Result<Value> {
    let text = args.text(0);
    let separator = args.str_or_null(1);
    let max = word_sized(args.peek(2))?;
    scan(cx, text.len())?;
    check_count(cx, &text, separator, max)?;
    let parts = splitter(&text, separator, max)?;
    let mut items = Vec::with_capacity(parts.len());
    for one in parts {
        items.push(part(cx, &text, one)?);
    }
    cx.list(items)
}

/// Counts the parts of a long text before creating them.
fn check_count(cx: &mut Cx<'_>, text: &str, separator: Option<&str>, max: i64) -> Result<()> {
    const SMALL: usize = 1 << 16;
    if text.len() <= SMALL {
        return Ok(());
    }
    let cuts = match separator {
        None => text.chars().filter(|letter| pytext::is_space(*letter)).count(),
        Some("") => 0,
        Some(separator) => text.matches(separator).count(),
    };
    let parts = cuts.min(usize::try_from(max).unwrap_or(usize::MAX)) as u64 + 1;
    if separator.is_some() {
        // Splitting at whitespace may yield fewer parts than this.
        cx.check_bytes(56 + 8 * parts)?;
    }
    cx.charge(16 * parts)
}
