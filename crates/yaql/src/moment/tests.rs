//! Test cases whose expected results were recorded from Python YAQL.

use proptest::prelude::*;

use super::{CivilDate, DateTime, TimeSpan};
use crate::error::Result;

const TODAY: CivilDate = CivilDate::constant(2024, 2, 29);

/// Returns the constructor arguments shown by `repr`, or the error.
fn outcome(result: Result<DateTime>) -> String {
    match result {
        Ok(moment) => {
            let repr = moment.to_repr();
            let inner = repr.strip_prefix("datetime.datetime(").and_then(|rest| rest.strip_suffix(')'));
            inner.unwrap_or_default().to_owned()
        }
        Err(error) => format!("{}: {}", error.class.name(), error.message),
    }
}

fn span(seconds: i128) -> TimeSpan {
    TimeSpan::from_micros(seconds * 1_000_000).expect("a span")
}

fn moment(fields: [i128; 6], offset: i128) -> DateTime {
    let [year, month, day, hour, minute, second] = fields;
    DateTime::new([year, month, day, hour, minute, second, 0], span(offset)).expect("a datetime")
}

#[test]
fn free_form() {
    let cases = [
        ("2017-03-04T10:20:30.5+02:00", "2017, 3, 4, 10, 20, 30, 500000, tzinfo=tzoffset(None, 7200)"),
        ("2017-03-04", "2017, 3, 4, 0, 0, tzinfo=tzutc()"),
        ("20170304", "2017, 3, 4, 0, 0, tzinfo=tzutc()"),
        ("20170304T101112", "2017, 3, 4, 10, 11, 12, tzinfo=tzutc()"),
        ("20170304T1011", "2017, 3, 4, 10, 11, tzinfo=tzutc()"),
        ("20170304101112", "2017, 3, 4, 10, 11, 12, tzinfo=tzutc()"),
        ("201703041011", "2017, 3, 4, 10, 11, tzinfo=tzutc()"),
        ("170304", "2004, 3, 17, 0, 0, tzinfo=tzutc()"),
        ("2017/03/04", "2017, 3, 4, 0, 0, tzinfo=tzutc()"),
        ("03/04/2017", "2017, 3, 4, 0, 0, tzinfo=tzutc()"),
        ("13/02/2017", "2017, 2, 13, 0, 0, tzinfo=tzutc()"),
        ("03.04.2017", "2017, 3, 4, 0, 0, tzinfo=tzutc()"),
        ("03-04-17", "2017, 3, 4, 0, 0, tzinfo=tzutc()"),
        ("4 March 2017", "2017, 3, 4, 0, 0, tzinfo=tzutc()"),
        ("Mar 4, 2017 5:06pm", "2017, 3, 4, 17, 6, tzinfo=tzutc()"),
        ("Sat, 04 Mar 2017 10:00:00 +0100", "2017, 3, 4, 10, 0, tzinfo=tzoffset(None, 3600)"),
        ("Sat Mar  4 10:36:28 2017", "2017, 3, 4, 10, 36, 28, tzinfo=tzutc()"),
        ("4th of March, 2017", "2017, 3, 4, 0, 0, tzinfo=tzutc()"),
        ("March of 17", "2017, 3, 29, 0, 0, tzinfo=tzutc()"),
        ("Jan-02-99", "1999, 1, 2, 0, 0, tzinfo=tzutc()"),
        ("02-Jan-99", "1999, 1, 2, 0, 0, tzinfo=tzutc()"),
        ("99-Jan-02", "1999, 1, 2, 0, 0, tzinfo=tzutc()"),
        ("Jan 99", "1999, 1, 29, 0, 0, tzinfo=tzutc()"),
        ("Jan 32", "2032, 1, 29, 0, 0, tzinfo=tzutc()"),
        ("10:00", "2024, 2, 29, 10, 0, tzinfo=tzutc()"),
        ("10h36m28.5s", "2024, 2, 29, 10, 36, 28, 500000, tzinfo=tzutc()"),
        ("10h36", "2024, 2, 29, 10, 36, tzinfo=tzutc()"),
        ("10.5h", "2024, 2, 29, 10, 30, tzinfo=tzutc()"),
        ("36 m", "2024, 2, 29, 0, 36, tzinfo=tzutc()"),
        ("10:36.5", "2024, 2, 29, 10, 36, 30, tzinfo=tzutc()"),
        ("10am", "2024, 2, 29, 10, 0, tzinfo=tzutc()"),
        ("10 pm", "2024, 2, 29, 22, 0, tzinfo=tzutc()"),
        ("12 am", "2024, 2, 29, 0, 0, tzinfo=tzutc()"),
        ("12:30 a.m.", "2024, 2, 29, 0, 30, tzinfo=tzutc()"),
        ("5 p", "2024, 2, 29, 17, 0, tzinfo=tzutc()"),
        ("fri", "2024, 3, 1, 0, 0, tzinfo=tzutc()"),
        ("Mon 10:00", "2024, 3, 4, 10, 0, tzinfo=tzutc()"),
        ("Fri 2017-03", "2017, 3, 31, 0, 0, tzinfo=tzutc()"),
        ("2017-03", "2017, 3, 29, 0, 0, tzinfo=tzutc()"),
        ("2017", "2017, 2, 28, 0, 0, tzinfo=tzutc()"),
        ("29", "2024, 2, 29, 0, 0, tzinfo=tzutc()"),
        ("30 Feb", "ValueError: day is out of range for month: 30 Feb"),
        ("31", "ValueError: day is out of range for month: 31"),
        ("10:00Z", "2024, 2, 29, 10, 0, tzinfo=tzlocal()"),
        ("10:00 z", "2024, 2, 29, 10, 0, tzinfo=tzlocal()"),
        ("10:00 UTC", "2024, 2, 29, 10, 0, tzinfo=tzlocal()"),
        ("10:00 GMT", "2024, 2, 29, 10, 0, tzinfo=tzutc()"),
        ("10:00 GMT+3", "2024, 2, 29, 10, 0, tzinfo=tzoffset(None, -10800)"),
        ("10:00 UTC-03:30", "2024, 2, 29, 10, 0, tzinfo=tzoffset(None, 12600)"),
        ("10:00 EST", "2024, 2, 29, 10, 0, tzinfo=tzutc()"),
        ("10:00 EST+3", "2024, 2, 29, 10, 0, tzinfo=tzoffset('EST', -10800)"),
        ("10:00 -0300 (BRST)", "2024, 2, 29, 10, 0, tzinfo=tzoffset('BRST', -10800)"),
        ("10:00+3", "2024, 2, 29, 10, 0, tzinfo=tzoffset(None, 10800)"),
        ("10:00 +2600", "2024, 2, 29, 10, 0, tzinfo=tzoffset(None, 93600)"),
        ("29.8?2015", "ValueError: Unknown string format: 29.8?2015"),
        ("1999-12-31T23:59:59,999999999", "1999, 12, 31, 23, 59, 59, 999999, tzinfo=tzutc()"),
        ("2017-03-04 24:00", "ValueError: hour must be in 0..23: 2017-03-04 24:00"),
        ("2017-13-01", "ValueError: month must be in 1..12: 2017-13-01"),
        ("25:00", "ValueError: hour must be in 0..23: 25:00"),
        ("10:60", "ValueError: minute must be in 0..59: 10:60"),
        ("13:00 am", "ValueError: Unknown string format: 13:00 am"),
        ("am", "ValueError: Unknown string format: am"),
        ("garbage", "ValueError: Unknown string format: garbage"),
        ("", "ValueError: String does not contain a date: "),
        ("  ,;", "ValueError: String does not contain a date:   ,;"),
        ("1 2 3 4", "ValueError: Unknown string format: 1 2 3 4"),
        ("2017-03-04 x", "ValueError: Unknown string format: 2017-03-04 x"),
        ("inf", "ValueError: Unknown string format: inf"),
        ("10:00 NAN", "ValueError: Unknown string format: 10:00 NAN"),
        ("10:00 +99999999999:00", "OverflowError: Python int too large to convert to C int"),
        ("99999999999", "OverflowError: signed integer is greater than maximum"),
        ("10:00:99999999999999999999", "OverflowError: Python int too large to convert to C long"),
        ("68", "2068, 2, 29, 0, 0, tzinfo=tzutc()"),
        ("2017-03-04 10:20 PM +01", "2017, 3, 4, 22, 20, tzinfo=tzoffset(None, 3600)"),
        ("٢٠١٧-٠٣-٠٤", "2017, 3, 4, 0, 0, tzinfo=tzutc()"),
        ("Jan of ²", "ValueError: Unknown string format: Jan of ²"),
        ("10:00 +", "ValueError: Unknown string format: 10:00 +"),
        ("Mar-", "ValueError: Unknown string format: Mar-"),
        ("12,5", "2024, 2, 12, 0, 0, tzinfo=tzutc()"),
        ("5.5 am", "2024, 2, 29, 5, 0, tzinfo=tzutc()"),
        ("Wed 31", "ValueError: day is out of range for month: Wed 31"),
        ("0099-01-01", "99, 1, 1, 0, 0, tzinfo=tzutc()"),
        ("7 8 9", "2009, 7, 8, 0, 0, tzinfo=tzutc()"),
        ("32 8 9", "2032, 8, 9, 0, 0, tzinfo=tzutc()"),
        ("9 32 8", "ValueError: day is out of range for month: 9 32 8"),
    ];
    for (text, expected) in cases {
        assert_eq!(outcome(DateTime::parse(text, TODAY)), expected, "{text}");
    }
}

#[test]
fn two_digit_years_are_within_50_years_of_today() {
    let year = |text: &str, year: i16| {
        DateTime::parse(text, CivilDate::constant(year, 1, 1)).map(|moment| moment.year()).ok()
    };
    assert_eq!(year("1/1/73", 2024), Some(2073));
    assert_eq!(year("1/1/74", 2024), Some(1974));
    assert_eq!(year("1/1/49", 1999), Some(1949));
    assert_eq!(year("1/1/48", 1999), Some(2048));
}

#[test]
fn iso_form() {
    let cases = [
        ("2017-03-04T10:00:00+02:00", "2017-03-04T10:00:00+02:00"),
        ("2017-03-04T10:00:00.5Z", "2017-03-04T10:00:00.500000+00:00"),
        ("2017-03-04", "2017-03-04T00:00:00"),
        ("20170304x101112,1234567", "2017-03-04T10:11:12.123456"),
        ("2017-W10-6é10", "2017-03-11T10:00:00"),
        ("2017W106", "2017-03-11T00:00:00"),
        ("2017-03-04T10:+01:00:02.5", "2017-03-04T10:00:00+01:00:02.500000"),
        ("2017-03-04T", "Invalid isoformat string: '2017-03-04T'"),
        ("2017-3-4", "Invalid isoformat string: '2017-3-4'"),
        ("bad", "Invalid isoformat string: 'bad'"),
        ("2017-02-29", "day is out of range for month"),
    ];
    for (text, expected) in cases {
        let got = DateTime::from_isoformat(text).and_then(|moment| moment.isoformat());
        assert_eq!(got.unwrap_or_else(|error| error.message), expected, "{text}");
    }
}

#[test]
fn fields_out_of_range() {
    let cases = [
        ([0, 1, 1, 0, 0, 0, 0], "ValueError: year 0 is out of range"),
        ([10_000, 1, 1, 0, 0, 0, 0], "ValueError: year 10000 is out of range"),
        ([2017, 13, 1, 0, 0, 0, 0], "ValueError: month must be in 1..12"),
        ([2017, 2, 29, 0, 0, 0, 0], "ValueError: day is out of range for month"),
        ([2017, 1, 1, 24, 0, 0, 0], "ValueError: hour must be in 0..23"),
        ([2017, 1, 1, 0, 60, 0, 0], "ValueError: minute must be in 0..59"),
        ([2017, 1, 1, 0, 0, 60, 0], "ValueError: second must be in 0..59"),
        ([2017, 1, 1, 0, 0, 0, 1_000_000], "ValueError: microsecond must be in 0..999999"),
        ([0, 1, 1, 0, 0, 0, 1 << 40], "OverflowError: signed integer is greater than maximum"),
        ([0, -(1 << 40), 1, 0, 0, 0, 0], "OverflowError: signed integer is less than minimum"),
        ([1 << 70, 1, 1, 0, 0, 0, 0], "OverflowError: Python int too large to convert to C long"),
    ];
    for (fields, expected) in cases {
        assert_eq!(outcome(DateTime::new(fields, TimeSpan::ZERO)), expected);
    }
}

#[test]
fn fractional_offsets_are_formatted() {
    let odd = DateTime::new(
        [1969, 12, 31, 23, 59, 58, 500_000],
        TimeSpan::from_micros(-1_500_000).expect("a span"),
    );
    let odd = odd.expect("a datetime");
    assert_eq!(odd.isoformat().expect("a text"), "1969-12-31T23:59:58.500000-00:00:01.500000");
    assert_eq!(
        odd.to_repr(),
        "datetime.datetime(1969, 12, 31, 23, 59, 58, 500000, tzinfo=tzoffset(None, -1))"
    );
    assert_eq!(moment([2017, 3, 4, 10, 0, 0], 7200).to_text().expect("a text"), "2017-03-04 10:00:00+02:00");
}

#[test]
fn offsets_of_a_day_or_more_fail_on_use() {
    let message = "offset must be a timedelta strictly between -timedelta(hours=24) and timedelta(hours=24).";
    let far = moment([1970, 1, 3, 0, 0, 0], 172_800);
    let near = moment([1970, 1, 1, 0, 0, 0], 0);
    assert_eq!(far.isoformat().expect_err("no text").message, message);
    assert_eq!(far.offset().expect_err("no offset").message, message);
    assert_eq!(far.utc().expect_err("no UTC").message, message);
    assert_eq!(far.since(&near).expect_err("no difference").message, message);
    assert_eq!(far.compare(&near).expect_err("no order").message, message);
    assert_eq!(far.strftime("%Y").expect("a text"), "1970");
    assert!(far.equals(&far).expect("one zone"));
}

#[test]
fn properties_match_the_reference_including_its_bugs() {
    let east = moment([2017, 3, 4, 10, 0, 0], 10_800);
    assert_eq!(east.timestamp().ok(), Some(1_488_600_000.0));
    assert_eq!(outcome(east.utc()), "2017, 3, 4, 7, 0, tzinfo=tzoffset(None, 10800)");
    assert_eq!(outcome(Ok(east.date())), "2017, 3, 4, 0, 0, tzinfo=tzoffset(None, 10800)");
    assert_eq!(east.time(), span(36_000));
    assert_eq!(east.weekday(), 5);
    let first = moment([1, 1, 1, 0, 0, 0], 3600);
    assert_eq!(outcome(first.utc()), "OverflowError: date value out of range");
    let changes = [None, Some(2), Some(28), None, None, None, None];
    assert_eq!(outcome(east.replace(changes, Some(TimeSpan::ZERO))), "2017, 2, 28, 10, 0, tzinfo=tzutc()");
}

#[test]
fn instants() {
    let (utc, east) = (moment([2017, 1, 1, 0, 0, 0], 0), moment([2017, 1, 1, 3, 0, 0], 10_800));
    assert_eq!(utc, east);
    assert_eq!(utc.since(&moment([2017, 1, 1, 0, 0, 0], 3600)).ok(), Some(span(3600)));
    let naive = DateTime::from_isoformat("2017-01-01").expect("a date");
    assert_ne!(naive, utc);
    assert!(naive.compare(&utc).expect("an order").is_eq());
    assert_eq!(naive.aware(), utc);
    assert_eq!(naive.timestamp().expect_err("a defect").class.name(), "TypeError");
    let last = moment([9999, 12, 31, 0, 0, 0], 0);
    assert_eq!(outcome(last.add_span(span(86_400))), "OverflowError: date value out of range");
}

proptest! {
    #[test]
    fn arbitrary_text_does_not_panic(text in ".{0,24}", format in "(%[_0^#-]{0,2}[0-9]{0,2}[EO]?.|.){0,8}") {
        let _ = DateTime::parse(&text, TODAY);
        let _ = DateTime::strptime(&text, &format);
        let _ = DateTime::from_isoformat(&text);
        let _ = moment([2017, 3, 4, 5, 6, 7], 3600).strftime(&format);
    }

    #[test]
    fn date_like_text_does_not_panic(text in "[0-9]{1,4}[-/. ][0-9A-Za-z]{1,4}[-/. ][0-9]{1,4}[T ]?[0-9:.]{0,10}[ a-zA-Z+-]{0,4}[0-9:]{0,6}") {
        if let Ok(moment) = DateTime::parse(&text, TODAY) {
            let _ = moment.isoformat();
        }
        let _ = DateTime::from_isoformat(&text);
    }

    #[test]
    fn iso_form_round_trips(seconds in -62_000_000_000_i64..253_000_000_000, offset in -86_399_i128..86_400) {
        let moment = DateTime::from_timestamp_int(&seconds.into(), span(offset)).expect("in range");
        let text = moment.isoformat().expect("a text");
        prop_assert_eq!(DateTime::from_isoformat(&text).expect("its own text"), moment);
    }

    #[test]
    fn timespan_addition_is_invertible(a in -10_i128.pow(19)..10_i128.pow(19), b in -10_i128.pow(19)..10_i128.pow(19)) {
        let (first, second) = (TimeSpan::from_micros(a).expect("a span"), TimeSpan::from_micros(b).expect("a span"));
        let sum = first.checked_add(second).expect("a sum");
        prop_assert_eq!(sum.checked_sub(second).expect("a difference"), first);
        prop_assert_eq!(sum.as_micros(), a + b);
    }
}
