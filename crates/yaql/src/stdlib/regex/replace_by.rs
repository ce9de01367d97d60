use crate::stdlib::prelude::*;
use crate::stdlib::regex::match_iter::{Matches, needs_more};
use crate::stdlib::regex::records::Records;
use crate::stdlib::strings::support::{TextBuilder, not_a_string, word_sized};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "regex",
    doc: "Replaces matches of a pattern in a string by the result of an expression. Replaces the first `count` matches; 0 means all, a negative number none. In the expression, `$` is the match, `$2`, `$3` and so on are its groups, and `$name` is a named group; each is a map with the keys `value`, `start` and `end`. The expression must return a string, or null for an empty replacement. Fails with TypeError if it returns another type.",
    overloads: &[
        ("m replaceBy(regexp: regex, string: string, repl: lambda-in-context, count: int = 0)", replace_by),
        (
            "m replaceBy(string: string, regexp: regex, repl: lambda-in-context, count: int = 0)",
            replace_in_by,
        ),
    ],
    examples: &[
        (r"regex(`\d`).replaceBy('a1b2', str($.start))", r#""a1b3""#),
        ("'ab'.replaceBy(regex('b'), $.value.toUpper(), 1)", r#""aB""#),
        ("regex('(b)|n').replaceBy(banana, $2.value)", r#""baaa""#),
        ("regex(a).replaceBy(banana, 5)", "TypeError"),
    ],
    purity: Purity::Pure,
};

fn replace_by(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let Some(regex) = args.regex(0) else { return Ok(Value::Null) };
    let text = args.text(1);
    substitute(cx, Matches::new(regex, text), args)
}

fn replace_in_by(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let Some(regex) = args.regex(1) else { return Ok(Value::Null) };
    let text = args.text(0);
    substitute(cx, Matches::new(regex, text), args)
}

fn substitute(cx: &mut Cx<'_>, mut matches: Matches, args: &mut Args<'_>) -> Result<Value> {
    let count = word_sized(args.peek(3))?;
    let repl = args.lambda(2);
    let mut records = Records::default();
    let mut pieces = Pieces::default();
    let (mut last, mut done) = (0, 0);
    while needs_more(done, count) {
        let Some(matched) = matches.next(cx)? else { break };
        pieces.push_text(cx, matches.piece(last, matched.start()))?;
        let frame = records.bind(cx, &matches.regex, &matches.text, &matched, args.ctx)?;
        let replacement = repl.call_in(cx, &frame)?;
        pieces.push(cx, &replacement)?;
        last = matched.end();
        done += 1;
    }
    if done == 0 {
        return Ok(Value::Str(matches.text));
    }
    pieces.push_text(cx, matches.piece(last, matches.text.len()))?;
    pieces.finish()
}

/// The result under construction. As in Python YAQL, a replacement that is not a string is reported only at
/// the end.
#[derive(Default)]
struct Pieces {
    out: TextBuilder,
    count: usize,
    type_error: Option<Box<Error>>,
}

impl Pieces {
    fn push_text(&mut self, cx: &mut Cx<'_>, text: &str) -> Result<()> {
        self.count += usize::from(!text.is_empty());
        self.out.push(cx, text)
    }

    fn push(&mut self, cx: &mut Cx<'_>, piece: &Value) -> Result<()> {
        match piece {
            Value::Null => return Ok(()),
            Value::Str(text) => self.out.push(cx, text)?,
            other => _ = self.type_error.get_or_insert_with(|| not_a_string(self.count, other)),
        }
        self.count += 1;
        Ok(())
    }

    fn finish(self) -> Result<Value> {
        match self.type_error {
            Some(error) => Err(error),
            None => Ok(self.out.finish()),
        }
    }
}
