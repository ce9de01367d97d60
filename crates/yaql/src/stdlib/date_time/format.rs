use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "A datetime as text, by the directives of strftime with English names: `%Y %m %d %H %M %S`, `%f` for microseconds, `%z` for the offset, `%b %B %a %A` for names and so on. Directives that do not exist stay as they are.",
    overloads: &[("m format(dt: datetime, format: string)", format)],
    examples: &[
        ("datetime(2021, 6, 30, 21, 5).format('%a %d %b, %H:%M')", r#""Wed 30 Jun, 21:05""#),
        ("datetime(2021, 6, 30).format('%G-W%V-%u, day %j')", r#""2021-W26-3, day 181""#),
        ("datetime(0, timespan(minutes => 90)).format('%T%z')", r#""01:30:00+0130""#),
        ("datetime(0).format(null)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

/// How many characters there can be per character of the format, widths included.
const GROWTH_MAX: u64 = 256;
/// Formats that are shorter than this need no look at memory.
const SHORT: usize = 1 << 16;

fn format(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let format = args.str(1);
    if format.len() > SHORT {
        let most = format.len() as u64 * GROWTH_MAX;
        cx.check_bytes(most)?;
        cx.charge(most)?;
    }
    cx.steps(format.len() as u64)?;
    let text = common::taken(args, 0)?.strftime(format)?;
    cx.text(text)
}
