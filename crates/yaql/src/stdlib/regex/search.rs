use crate::pyregex::ScanState;
use crate::stdlib::prelude::*;
use crate::stdlib::regex::records::Records;
use crate::stdlib::strings::support::part;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "regex",
    doc: "The first match of the pattern in a string, or null if there is none. Without a selector it is the matched text; a selector sees the match as `$`, its groups as `$2`, `$3` and so on, and named groups by their names: records with `value`, `start` and `end`, positions counting code points. A group that has not matched has the value null and the positions -1.",
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
    let found = regex.search_from(&text, &mut state);
    cx.steps(state.work.spent)?;
    let Some(found) = found? else { return Ok(Value::Null) };
    match selector {
        None => part(cx, &text, found.text(0, &text).unwrap_or_default()),
        Some(selector) => {
            let frame = Records::default().bind(cx, (&regex, &text), &found, args.ctx)?;
            selector.call_in(cx, &frame)
        }
    }
}
