use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Formats a datetime with the directives of strftime and English names: `%Y %m %d %H %M %S`, `%f` for microseconds, `%z` for the offset, `%b %B %a %A` for names, and so on. Unknown directives are copied unchanged.",
    overloads: &[("m format(dt: datetime, format: string)", format)],
    examples: &[
        ("datetime(2021, 6, 30, 21, 5).format('%a %d %b, %H:%M')", r#""Wed 30 Jun, 21:05""#),
        ("datetime(2021, 6, 30).format('%G-W%V-%u, day %j')", r#""2021-W26-3, day 181""#),
        ("datetime(0, timespan(minutes => 90)).format('%T%z')", r#""01:30:00+0130""#),
        ("datetime(0).format(null)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

/// Maximum number of output characters per format character, including field widths.
const GROWTH_MAX: u64 = 256;
/// Maximum length of formats that are not checked against the memory limits.
const UNCHECKED_BYTES_MAX: usize = 1 << 16;

fn format(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let format = args.str(1);
    if format.len() > UNCHECKED_BYTES_MAX {
        let bytes_max = format.len() as u64 * GROWTH_MAX;
        cx.check_bytes(bytes_max)?;
        cx.charge(bytes_max)?;
    }
    cx.steps(format.len() as u64)?;
    let text = common::datetime_arg(args, 0)?.strftime(format)?;
    cx.text(text)
}
