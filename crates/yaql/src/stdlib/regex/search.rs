use crate::pyregex::ScanState;
use crate::stdlib::prelude::*;
use crate::stdlib::regex::records::Records;
use crate::stdlib::strings::support::part;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "regex",
    doc: "Returns the text of the first match of a pattern in a string, or null if there is none. With a selector, returns the result of the selector, in which `$` is the match, `$2`, `$3` and so on are its groups, and `$name` is a named group; each is a map with the keys `value`, `start` and `end`. Positions count code points. A group that did not participate has the value null and the positions -1.",
    overloads: &[("m search(regexp: regex, string: string, selector: lambda-in-context = null)", search)],
    examples: &[
        ("regex('b(.)t').search('a bat')", r#""bat""#),
        ("regex('b(.)t').search('a bat', $2.value)", r#""a""#),
        ("regex('b').search('éb', $)", r#"{"value": "b", "start": 1, "end": 2}"#),
        ("regex('a(x)?').search(a, $2.start)", "-1"),
        ("regex(x).search(abc)", "null"),
    ],
    purity: Purity::Pure,
};

fn search(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let Some(regex) = args.regex(0) else { return Ok(Value::Null) };
    let selector = args.optional_lambda(2);
    let text = args.text(1);
    cx.steps(8 + text.len() as u64 / 16)?;
    let mut state = ScanState::default();
    state.work = cx.regex_work();
    let matched = regex.search_from(&text, &mut state);
    cx.steps(state.work.spent)?;
    let Some(matched) = matched? else { return Ok(Value::Null) };
    match selector {
        None => part(cx, &text, matched.text(0, &text).unwrap_or_default()),
        Some(selector) => {
            let frame = Records::default().bind(cx, &regex, &text, &matched, args.ctx)?;
            selector.call_in(cx, &frame)
        }
    }
}
