//! Timeout and retry parameters of tasks. The planner validates them with the same functions that the engine
//! reads them with, so that invalid values are reported before there is a plan.

use stoker_model::Json;

const SECONDS_MAX: f64 = 366.0 * 86_400.0;
const RETRIES_MAX: f64 = 1000.0;

/// Converts a number of seconds to milliseconds; `None` if it is invalid or longer than a year.
pub fn parse_seconds_as_ms(value: &Json) -> Option<u64> {
    let seconds = number(value).filter(|seconds| (0.0..=SECONDS_MAX).contains(seconds))?;
    Some((seconds * 1000.0) as u64)
}

/// A number of further attempts; `None` if it is invalid or more than 1000.
pub fn parse_retries(value: &Json) -> Option<u32> {
    let count = number(value).filter(|count| (0.0..=RETRIES_MAX).contains(count) && count.fract() == 0.0)?;
    Some(count as u32)
}

/// Legacy graphs sometimes have numbers as strings.
fn number(value: &Json) -> Option<f64> {
    match value {
        Json::Number(number) => number.as_f64(),
        Json::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Invalid parameters: name and message.
pub(crate) fn timing_problems(parameters: &Json) -> impl Iterator<Item = (&'static str, String)> {
    let wrong = |name: &'static str, is_valid: fn(&Json) -> bool, expected_form: &str| {
        let value = parameters.get(name).filter(|value| !value.is_null() && !is_valid(value))?;
        Some((name, format!("must be {expected_form}, not {value}")))
    };
    let is_time = |value: &Json| parse_seconds_as_ms(value).is_some();
    let seconds = "a number of seconds, at most a year";
    [
        wrong("timeout", is_time, seconds),
        wrong("interval", is_time, seconds),
        wrong("retries", |value| parse_retries(value).is_some(), "an integer from 0 to 1000"),
        wrong("retry_interrupted", Json::is_boolean, "true or false"),
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(parameters: &Json, expected: &[&str]) {
        let names: Vec<&str> = timing_problems(parameters).map(|(name, _)| name).collect();
        assert_eq!(names, expected, "{parameters}");
    }

    #[test]
    fn invalid_timing_parameters_are_reported() {
        check(&json!(null), &[]);
        check(&json!({"timeout": 0, "interval": "1.5", "retries": " 3 ", "retry_interrupted": false}), &[]);
        check(&json!({"timeout": null, "interval": null, "retries": null, "retry_interrupted": null}), &[]);
        for wrong in
            [json!(-1), json!(1e30), json!("soon"), json!("nan"), json!("inf"), json!([1]), json!(true)]
        {
            check(&json!({"timeout": wrong, "interval": wrong}), &["timeout", "interval"]);
            check(&json!({"retries": wrong}), &["retries"]);
        }
        check(&json!({"retries": 1.5, "retry_interrupted": "no"}), &["retries", "retry_interrupted"]);
        check(&json!({"retries": 1001}), &["retries"]);
    }

    #[test]
    fn fractional_seconds_are_accepted() {
        assert_eq!(parse_seconds_as_ms(&json!("1.5")), Some(1500));
        assert_eq!(parse_seconds_as_ms(&json!(3600)), Some(3_600_000));
        assert_eq!(parse_retries(&json!("2")), Some(2));
    }
}
