use crate::eval::Ctx;

use crate::stdlib::prelude::*;
use crate::stdlib::regex::match_iter::Matches;
use crate::stdlib::regex::records::Records;
use crate::stdlib::strings::support::part;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "regex",
    doc: "Returns the texts of all matches of a pattern in a string. Matches do not overlap; empty matches are included. With a selector, returns its results; see `search`. The result is lazy.",
    overloads: &[(
        "m searchAll(regexp: regex, string: string, selector: lambda-in-context = null)",
        search_all,
    )],
    examples: &[
        (r"regex(`\d+`).searchAll('a1b22')", r#"["1", "22"]"#),
        (r"regex(`\d+`).searchAll('a1b22', $.start)", "[1, 3]"),
        ("regex('x*').searchAll('axb')", r#"["", "x", "", ""]"#),
        ("regex('(?P<k>.)=(.)').searchAll('a=1 b=2', [$k.value, $3.value])", r#"[["a", "1"], ["b", "2"]]"#),
    ],
    purity: Purity::Pure,
};

fn search_all(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let Some(regex) = args.regex(0) else { return Ok(Value::Null) };
    let matches = Matches::new(regex, args.text(1));
    let Some(selector) = args.optional_lambda(2) else { return cx.lazy(Texts { matches }, 0) };
    let ctx = args.ctx.clone();
    let depth = ctx.depth().max(selector.depth());
    cx.lazy(Selected { matches, records: Records::default(), selector, ctx }, depth)
}

struct Texts {
    matches: Matches,
}

impl Lazy for Texts {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        let Some(matched) = self.matches.next(cx)? else { return Ok(None) };
        let (start, end) = matched.span();
        part(cx, &self.matches.text, self.matches.piece(start, end)).map(Some)
    }
}

struct Selected {
    matches: Matches,
    records: Records,
    selector: Lambda,
    ctx: Ctx,
}

impl Lazy for Selected {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        let Some(matched) = self.matches.next(cx)? else { return Ok(None) };
        let frame = self.records.bind(cx, &self.matches.regex, &self.matches.text, &matched, &self.ctx)?;
        self.selector.call_in(cx, &frame).map(Some)
    }
}
