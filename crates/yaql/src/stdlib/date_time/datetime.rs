use super::common;
use crate::moment::{CivilDate, DateTime, TimeSpan};
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Creates a datetime from a calendar date and time, from seconds since 1970, or from text. The offset defaults to UTC. With a format, text is parsed like strptime. Without one, it is parsed in free form, month before day; missing fields default to today in UTC at midnight, which is the only case in which the result depends on the clock. Text without a zone is in UTC. Fails with ValueError if the date is invalid.",
    overloads: &[
        (
            "f datetime(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0, microsecond: int = 0, offset: timespan = timespan())",
            from_fields,
        ),
        ("f datetime(timestamp: number, offset: timespan = timespan())", from_timestamp),
        ("f datetime(string: string, format: string? = null)", from_text),
    ],
    examples: &[
        (
            "datetime(2021, 6, 30, 12, offset => timespan(hours => -4))",
            r#"{"$yaql": "datetime", "value": "2021-06-30T12:00:00-04:00"}"#,
        ),
        ("datetime(1234567890.5)", r#"{"$yaql": "datetime", "value": "2009-02-13T23:31:30.500000+00:00"}"#),
        ("datetime('30 June 2021 9:05pm')", r#"{"$yaql": "datetime", "value": "2021-06-30T21:05:00+00:00"}"#),
        ("datetime('2021-181', '%Y-%j')", r#"{"$yaql": "datetime", "value": "2021-06-30T00:00:00+00:00"}"#),
        ("datetime(2021, 6, 31)", "ValueError"),
        ("datetime('next summer')", "ValueError"),
    ],
    purity: Purity::Pure,
};

fn from_fields(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let fields = std::array::from_fn(|index| common::field(args.peek(index)).unwrap_or_default());
    common::datetime_value(cx, DateTime::new(fields, args.span(7))?)
}

fn from_timestamp(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let offset = args.span(1);
    let moment = match args.peek(0) {
        Value::Float(seconds) => DateTime::from_timestamp_float(*seconds, offset)?,
        _ => DateTime::from_timestamp_int(&args.big_int(0), offset)?,
    };
    common::datetime_value(cx, moment)
}

fn from_text(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let text = args.str(0);
    cx.steps(text.len() as u64)?;
    let moment = match args.str_or_null(1) {
        None | Some("") => DateTime::parse(text, today(cx)?)?,
        Some(format) => {
            cx.steps(format.len() as u64)?;
            DateTime::strptime(text, format)?
        }
    };
    common::datetime_value(cx, moment.aware())
}

fn today(cx: &Cx<'_>) -> Result<CivilDate> {
    let now = DateTime::from_unix_micros(cx.host.now_micros(), Some(TimeSpan::ZERO))?;
    let date = CivilDate::new(now.year() as i16, now.month() as i8, now.day() as i8);
    date.map_err(|error| Box::new(Error::value(error.to_string())))
}
