use crate::stdlib::prelude::*;
use crate::stdlib::regex::match_iter::{Matches, needs_more};
use crate::stdlib::strings::support::{part, word_sized};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "regex",
    doc: "Splits a string at the matches of a pattern, including empty matches. Returns a list of the parts, with the groups of each match between them (null for groups that did not participate). Makes at most `maxSplit` splits; 0 means no limit, a negative number no splits.",
    overloads: &[
        ("m split(regexp: regex, string: string, maxSplit: int = 0)", split),
        ("m split(string: string, regexp: regex, maxSplit: int = 0)", split_in),
    ],
    examples: &[
        (r"'a1b22c'.split(regex(`\d+`))", r#"["a", "b", "c"]"#),
        ("regex('(-)').split('a-b')", r#"["a", "-", "b"]"#),
        ("regex('(x)|,').split('a,b')", r#"["a", null, "b"]"#),
        ("regex(',').split('a,b,c', maxSplit => 1)", r#"["a", "b,c"]"#),
        ("regex('').split(ab)", r#"["", "a", "b", ""]"#),
        ("regex(',').split(5)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn split(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let Some(regex) = args.regex(0) else { return Ok(Value::Null) };
    let matches = Matches::new(regex, args.text(1));
    cut(cx, matches, word_sized(args.peek(2))?)
}

fn split_in(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let Some(regex) = args.regex(1) else { return Ok(Value::Null) };
    let matches = Matches::new(regex, args.text(0));
    cut(cx, matches, word_sized(args.peek(2))?)
}

fn cut(cx: &mut Cx<'_>, mut matches: Matches, max: i64) -> Result<Value> {
    let mut items = Vec::new();
    let (mut last, mut done) = (0, 0);
    while needs_more(done, max) {
        let Some(matched) = matches.next(cx)? else { break };
        items.push(cx.text(matches.piece(last, matched.start()))?);
        for group in 1..=matches.regex.group_count() {
            items.push(match matched.get(group) {
                Some((start, end)) => cx.text(matches.piece(start, end))?,
                None => Value::Null,
            });
        }
        cx.check_bytes(56 + 8 * items.len() as u64)?;
        last = matched.end();
        done += 1;
    }
    let tail = matches.piece(last, matches.text.len());
    items.push(part(cx, &matches.text, tail)?);
    cx.list(items)
}
