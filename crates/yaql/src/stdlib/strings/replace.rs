use std::borrow::Cow;
use std::sync::Arc;

use crate::pytext;

use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::{call_str, reserve, scan, word_sized};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Replaces occurrences of `old` by `new`, at most `count` times; a negative count means no limit. With a map, replaces each key by its value, one after the other, each in the result of the previous replacement; keys and values are converted with `str`.",
    overloads: &[
        ("m replace(string: string, old: string, new: string, count: int = -1)", replace),
        ("m replace(string: string, replacements: map, count: int = -1)", replace_all),
    ],
    examples: &[
        ("banana.replace(an, AN, 1)", r#""bANana""#),
        ("ab.replace('', '-')", r#""-a-b-""#),
        ("abc.replace({a => b, b => c})", r#""ccc""#),
        ("'v1'.replace({1 => null})", r#""vnull""#),
        ("abc.replace(a)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn replace(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let text = args.text(0);
    let count = word_sized(args.peek(3))?;
    replace_one(cx, text, args.str(1), args.str(2), count).map(Value::Str)
}

fn replace_all(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut text = args.text(0);
    let replacements = args.map(1);
    for (key, value) in replacements.iter() {
        let old = call_str(cx, key.clone(), args)?;
        let new = call_str(cx, value.clone(), args)?;
        let (old, new) = (string_argument(&old, 1)?, string_argument(&new, 2)?);
        let count = word_sized(args.peek(2))?;
        text = replace_one(cx, text, old, new, count)?;
    }
    Ok(Value::Str(text))
}

/// Fails if a redefined `str` returned another value than a string.
fn string_argument(value: &Value, position: usize) -> Result<&str> {
    value.as_str().ok_or_else(|| {
        let message = format!("replace() argument {position} must be str, not {}", value.type_name());
        Box::new(Error::kind(message))
    })
}

fn replace_one(cx: &mut Cx<'_>, text: Arc<str>, old: &str, new: &str, count: i64) -> Result<Arc<str>> {
    // Results that cannot exceed this length need not be measured in advance.
    const SMALL: usize = 1 << 16;
    cx.step()?;
    scan(cx, text.len())?;
    let bytes_max = (text.len() / old.len().max(1) + 1).saturating_mul(new.len()).saturating_add(text.len());
    if bytes_max > SMALL {
        reserve(cx, pytext::replaced_len(&text, old, new, count))?;
    }
    let replaced: Arc<str> = match pytext::replace(&text, old, new, count) {
        Cow::Owned(replaced) => replaced.into(),
        Cow::Borrowed(_) => return Ok(text),
    };
    if bytes_max <= SMALL {
        cx.charge(24 + replaced.len() as u64)?;
    }
    Ok(replaced)
}
