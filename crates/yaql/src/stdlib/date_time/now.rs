use super::common;
use crate::moment::DateTime;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Returns the current time in the zone with the given offset, UTC by default. If the offset is null, returns the local time without a zone.",
    overloads: &[("f now(offset: timespan? = timespan())", now)],
    examples: &[
        ("now() > datetime(2015, 1, 1)", "true"),
        ("now(timespan(hours => -2)).offset.hours", "-2.0"),
        ("isDatetime(now(null))", "true"),
        ("now(2)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Impure,
};

fn now(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let micros = cx.host.now_micros();
    let moment = if let Value::TimeSpan(offset) = args.peek(0) {
        DateTime::from_unix_micros(micros, Some(*offset))?
    } else {
        let offset = i64::from(cx.host.local_offset_seconds()) * 1_000_000;
        DateTime::from_unix_micros(micros.saturating_add(offset), None)?
    };
    common::datetime_value(cx, moment)
}

#[cfg(test)]
mod tests {
    use crate::stdlib::testing::evaluate;

    #[test]
    fn now_uses_the_clock_of_the_host() {
        let cases = [
            ("now()", r#"{"$yaql": "datetime", "value": "1970-01-01T00:00:00+00:00"}"#),
            ("now(timespan(hours => 2))", r#"{"$yaql": "datetime", "value": "1970-01-01T02:00:00+02:00"}"#),
            ("now(null)", r#"{"$yaql": "datetime", "value": "1970-01-01T00:00:00"}"#),
            ("now(null).utc.hour", "0"),
            ("now(null).timestamp", "TypeError"),
            ("now(null) = now()", "false"),
            ("now(null) <= now()", "true"),
            ("datetime('10:30')", r#"{"$yaql": "datetime", "value": "1970-01-01T10:30:00+00:00"}"#),
            ("now(timespan(hours => 30))", "ValueError"),
        ];
        for (expression, expected) in cases {
            assert_eq!(evaluate(expression), expected, "{expression}");
        }
    }
}
