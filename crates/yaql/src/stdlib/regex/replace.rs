use std::sync::Arc;

use crate::pyregex::{Regex, Template};

use crate::stdlib::prelude::*;
use crate::stdlib::regex::matches_of::{Matches, goes_on};
use crate::stdlib::strings::support::{TextBuilder, reserve, scan, word_sized};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "regex",
    doc: "The string with matches of the pattern replaced by a template, the first `count` of them: 0 means all, a negative number none. In the template `\\1` and `\\g<1>` stand for groups, `\\g<name>` for named ones, `\\g<0>` for the whole match; groups that have not matched are empty. A bad template is re.error.",
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

/// With a replacement that is just a string.
fn substitute_plain(cx: &mut Cx<'_>, mut matches: Matches, repl: &str, count: i64) -> Result<Value> {
    let mut out = TextBuilder::default();
    let (mut last, mut done) = (0, 0);
    while goes_on(done, count) {
        let Some(found) = matches.next(cx)? else { break };
        out.push(cx, matches.piece(last, found.start()))?;
        out.push(cx, repl)?;
        last = found.end();
        done += 1;
    }
    if done == 0 {
        return Ok(Value::Str(matches.text));
    }
    out.push(cx, matches.piece(last, matches.text.len()))?;
    Ok(out.finish())
}

/// Refuses what would be too much work, or too long, before it is made.
fn check_size(cx: &mut Cx<'_>, regex: &Arc<Regex>, text: &Arc<str>, repl: &str, count: i64) -> Result<()> {
    const SMALL_TEXT: usize = 1 << 14;
    const SMALL_RESULT: usize = 1 << 20;
    let references = repl.matches('\\').count();
    // Only what is looked at around a match can be captured more than once.
    let looks_around = ["(?=", "(?<", "(?!"].iter().any(|mark| regex.pattern().contains(mark));
    let literal = (text.len() + 1).saturating_mul(repl.len());
    let most = (references + 1).saturating_mul(text.len()).saturating_add(literal);
    if text.len() <= SMALL_TEXT && most <= SMALL_RESULT && !looks_around {
        return scan(cx, 4 * text.len());
    }
    let mut matches = Matches::new(regex.clone(), text.clone());
    let (mut bytes, mut done) = (text.len(), 0);
    while goes_on(done, count) {
        let Some(found) = matches.next(cx)? else { break };
        let longest = found.groups().iter().flatten().map(|(start, end)| end - start).max().unwrap_or(0);
        bytes = bytes.saturating_add(repl.len()).saturating_add(references.saturating_mul(longest));
        cx.check_bytes(bytes as u64 / 2)?;
        done += 1;
    }
    reserve(cx, bytes)
}
