use std::sync::Arc;

use crate::pyregex::{Regex, Template};

use crate::stdlib::prelude::*;
use crate::stdlib::regex::match_iter::{Matches, needs_more};
use crate::stdlib::strings::support::{TextBuilder, reserve, scan, word_sized};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "regex",
    doc: "Replaces matches of a pattern in a string by a template. Replaces the first `count` matches; 0 means all, a negative number none. In the template, `\\1` and `\\g<1>` refer to groups, `\\g<name>` to named groups and `\\g<0>` to the whole match; groups that did not participate are empty. Fails with re.error if the template is invalid.",
    overloads: &[
        ("m replace(regexp: regex, string: string, repl: string, count: int = 0)", replace),
        ("m replace(string: string, regexp: regex, repl: string, count: int = 0)", replace_in),
    ],
    examples: &[
        (r"regex('(a)(n)').replace(banana, `\2\1`)", r#""bnanaa""#),
        (r"'a1b2'.replace(regex(`\d`), '#', 1)", r#""a#b2""#),
        (r"regex('(?P<x>n)').replace(banana, `<\g<x>>`)", r#""ba<n>a<n>a""#),
        ("regex('x*').replace(ab, '-')", r#""-a-b-""#),
        (r"regex(a).replace(a, `\1`)", "re.error"),
    ],
    purity: Purity::Pure,
};

fn replace(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let Some(regex) = args.regex(0) else { return Ok(Value::Null) };
    let text = args.text(1);
    substitute(cx, regex, text, args.str(2), args.peek(3))
}

fn replace_in(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let Some(regex) = args.regex(1) else { return Ok(Value::Null) };
    let text = args.text(0);
    substitute(cx, regex, text, args.str(2), args.peek(3))
}

fn substitute(
    cx: &mut Cx<'_>,
    regex: Arc<Regex>,
    text: Arc<str>,
    repl: &str,
    count: &Value,
) -> Result<Value> {
    let count = word_sized(count)?;
    if !repl.contains('\\') {
        return substitute_plain(cx, Matches::new(regex, text), repl, count);
    }
    scan(cx, 16 * repl.len())?;
    let template = Template::parse(repl, &regex)?;
    check_size(cx, &regex, &text, repl, count)?;
    let mut work = cx.regex_work();
    let replaced = regex.replace_counted(&text, &template, count, &mut work);
    cx.steps(work.spent)?;
    cx.text(replaced?)
}

/// Replaces matches by a string without group references.
fn substitute_plain(cx: &mut Cx<'_>, mut matches: Matches, repl: &str, count: i64) -> Result<Value> {
    let mut out = TextBuilder::default();
    let (mut last, mut done) = (0, 0);
    while needs_more(done, count) {
        let Some(matched) = matches.next(cx)? else { break };
        out.push(cx, matches.piece(last, matched.start()))?;
        out.push(cx, repl)?;
        last = matched.end();
        done += 1;
    }
    if done == 0 {
        return Ok(Value::Str(matches.text));
    }
    out.push(cx, matches.piece(last, matches.text.len()))?;
    Ok(out.finish())
}

/// Checks the work and the length of the result before building it.
fn check_size(cx: &mut Cx<'_>, regex: &Arc<Regex>, text: &Arc<str>, repl: &str, count: i64) -> Result<()> {
    const SMALL_TEXT: usize = 1 << 14;
    const SMALL_RESULT: usize = 1 << 20;
    let references = repl.matches('\\').count();
    // Only look-around can capture the same text more than once.
    let looks_around = ["(?=", "(?<", "(?!"].iter().any(|mark| regex.pattern().contains(mark));
    let literal = (text.len() + 1).saturating_mul(repl.len());
    let result_max = (references + 1).saturating_mul(text.len()).saturating_add(literal);
    if text.len() <= SMALL_TEXT && result_max <= SMALL_RESULT && !looks_around {
        return scan(cx, 4 * text.len());
    }
    let mut matches = Matches::new(regex.clone(), text.clone());
    let (mut bytes, mut done) = (text.len(), 0);
    while needs_more(done, count) {
        let Some(matched) = matches.next(cx)? else { break };
        let longest = matched.groups().iter().flatten().map(|(start, end)| end - start).max().unwrap_or(0);
        bytes = bytes.saturating_add(repl.len()).saturating_add(references.saturating_mul(longest));
        cx.check_bytes(bytes as u64 / 2)?;
        done += 1;
    }
    reserve(cx, bytes)
}
