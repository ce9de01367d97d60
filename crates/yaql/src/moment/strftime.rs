//! Formats datetimes like Python's `strftime`: Python substitutes `%f`, `%z` and `%Z`, then C's `strftime` in
//! the C locale, with the flags and widths of glibc, handles the rest.

use crate::error::Result;

use super::datetime::{DateTime, EPOCH_ORDINAL, ordinal};
use super::zone::{Zone, offset_text};

pub(super) const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

impl DateTime {
    pub fn strftime(&self, format: &str) -> Result<String> {
        let this = self.aware();
        let format = this.fill_in(format)?;
        let mut out = Output { text: String::new(), len: 0, limit: buffer_size(format.len()) };
        // A result that exceeds the buffer is discarded entirely.
        let fits = Run { moment: &this, upper: false }.format(&format, &mut out).is_some();
        Ok(if fits { out.text } else { String::new() })
    }

    /// Substitutes the directives that Python handles itself. A NUL ends the format.
    fn fill_in(&self, format: &str) -> Result<Vec<char>> {
        let mut out = Vec::new();
        let mut chars = format.chars().take_while(|&c| c != '\0');
        while let Some(c) = chars.next() {
            match (c, if c == '%' { chars.next() } else { None }) {
                ('%', Some('f')) => out.extend(format!("{:06}", self.microsecond()).chars()),
                ('%', Some('z')) => out.extend(offset_text(self.offset()?, "").chars()),
                ('%', Some('Z')) => out.extend(self.zone().name().chars()),
                (c, next) => out.extend([Some(c), next].into_iter().flatten()),
            }
        }
        Ok(out)
    }

    /// Reports whether `tm_isdst >= 0` in C: for these zones it is known that there is no daylight saving
    /// time.
    fn knows_dst(&self) -> bool {
        matches!(self.zone(), Zone::Utc | Zone::Local | Zone::Offset(..))
    }
}

/// Returns the buffer size of Python: 1024 characters, doubled until it is at least 256 times the format
/// length.
fn buffer_size(format: usize) -> usize {
    let mut size = 1024_usize;
    while size < format.saturating_mul(256) {
        size = size.saturating_mul(2);
    }
    size
}

/// Text bounded by the size of the buffer, which also contains a terminating NUL.
struct Output {
    text: String,
    len: usize,
    limit: usize,
}

impl Output {
    /// Appends text; `None` if it does not fit.
    fn push(&mut self, text: &str, spec: &Spec) -> Option<()> {
        let count = text.chars().count();
        let padding = spec.width.saturating_sub(count);
        self.reserve(count.saturating_add(padding))?;
        let pad = if spec.pad == Some('0') { '0' } else { ' ' };
        self.text.extend(std::iter::repeat_n(pad, padding));
        if spec.lower {
            self.text.push_str(&text.to_lowercase());
        } else if spec.upper {
            self.text.push_str(&text.to_uppercase());
        } else {
            self.text.push_str(text);
        }
        Some(())
    }

    fn reserve(&mut self, count: usize) -> Option<()> {
        if count >= self.limit - self.len {
            return None;
        }
        self.len += count;
        Some(())
    }
}

/// The flags, width and modifier of a directive.
#[derive(Clone, Copy, Default)]
struct Spec {
    pad: Option<char>,
    width: usize,
    upper: bool,
    lower: bool,
    change_case: bool,
    /// Modifier `E` or `O`. It has no effect in the C locale, but not every directive accepts it.
    modifier: Option<char>,
}

struct Run<'a> {
    moment: &'a DateTime,
    /// Set while formatting the expansion of a directive with the flag `^`.
    upper: bool,
}

impl Run<'_> {
    fn format(&self, format: &[char], out: &mut Output) -> Option<()> {
        let mut at = 0;
        while at < format.len() {
            let start = at;
            if format[at] != '%' {
                at += 1;
                out.push(format[start].encode_utf8(&mut [0; 4]), &Spec::default())?;
                continue;
            }
            at += 1;
            let mut spec = self.spec(format, &mut at);
            let directive = format.get(at).copied();
            spec.upper |= spec.change_case && matches!(directive, Some('b' | 'B' | 'h'));
            at = (at + 1).min(format.len());
            if !directive.is_some_and(|c| accepts(c, spec.modifier)) {
                let text: String = format[start..at].iter().collect();
                out.push(&text, &spec)?;
                continue;
            }
            self.directive(directive.unwrap_or('%'), spec, out)?;
        }
        Some(())
    }

    fn spec(&self, format: &[char], at: &mut usize) -> Spec {
        let mut spec = Spec { upper: self.upper, ..Spec::default() };
        while let Some(&c) = format.get(*at) {
            match c {
                '_' | '-' | '0' => spec.pad = Some(c),
                '^' => spec.upper = true,
                '#' => spec.change_case = true,
                _ => break,
            }
            *at += 1;
        }
        while let Some(digit) = format.get(*at).and_then(|c| c.to_digit(10)) {
            spec.width =
                (spec.width.saturating_mul(10).saturating_add(digit as usize)).min(i32::MAX as usize);
            *at += 1;
        }
        if let Some(&c @ ('E' | 'O')) = format.get(*at) {
            spec.modifier = Some(c);
            *at += 1;
        }
        spec
    }

    fn directive(&self, directive: char, mut spec: Spec, out: &mut Output) -> Option<()> {
        let moment = self.moment;
        let weekday = WEEKDAYS[moment.weekday() as usize];
        let month = MONTHS[moment.month() as usize - 1];
        let half = if moment.hour() < 12 { "AM" } else { "PM" };
        if spec.change_case {
            match directive {
                'a' | 'A' => spec.upper = true,
                'p' | 'Z' => spec.lower = true,
                _ => {}
            }
        }
        match directive {
            '%' => out.push("%", &spec),
            'n' => out.push("\n", &spec),
            't' => out.push("\t", &spec),
            'a' => out.push(&weekday[..3], &spec),
            'A' => out.push(weekday, &spec),
            'b' | 'h' => out.push(&month[..3], &spec),
            'B' => out.push(month, &spec),
            'p' => out.push(half, &spec),
            'P' => out.push(half, &Spec { lower: true, ..spec }),
            's' => self.epoch(&spec, out),
            // Reached only if the directive has flags; otherwise Python has substituted it.
            'Z' => out.push(if moment.knows_dst() { "UTC" } else { "" }, &spec),
            'z' if moment.knows_dst() => {
                out.push("+", &spec)?;
                number(0, 4, &spec, out)
            }
            'z' => Some(()),
            _ => self.compound_or_number(directive, spec, out),
        }
    }

    fn compound_or_number(&self, directive: char, mut spec: Spec, out: &mut Output) -> Option<()> {
        let inner = match directive {
            'c' => "%a %b %e %H:%M:%S %Y",
            'D' | 'x' => "%m/%d/%y",
            'F' => "%Y-%m-%d",
            'r' => "%I:%M:%S %p",
            'R' => "%H:%M",
            'T' | 'X' => "%H:%M:%S",
            _ => {
                let (value, digits) = self.number(directive);
                if matches!(directive, 'e' | 'k' | 'l') {
                    spec.pad = spec.pad.or(Some('_'));
                }
                return number(value, digits, &spec, out);
            }
        };
        let inner: Vec<char> = inner.chars().collect();
        let mut text = Output { text: String::new(), len: 0, limit: out.limit };
        Run { moment: self.moment, upper: spec.upper }.format(&inner, &mut text)?;
        out.push(&text.text, &spec)
    }

    /// Returns the value of a numeric directive and its minimum number of digits.
    fn number(&self, directive: char) -> (i64, usize) {
        let moment = self.moment;
        let date = moment.civil();
        let hour12 = (moment.hour() + 11) % 12 + 1;
        let year_day = i64::from(date.day_of_year()) - 1;
        let sunday_based = (moment.weekday() + 1) % 7;
        let iso = date.iso_week_date();
        let iso_year = i64::from(iso.year());
        match directive {
            'C' => (moment.year() / 100, 1),
            'd' | 'e' => (moment.day(), 2),
            'g' => (iso_year.rem_euclid(100), 2),
            'G' => (iso_year, 1),
            'H' | 'k' => (moment.hour(), 2),
            'I' | 'l' => (hour12, 2),
            'j' => (year_day + 1, 3),
            'm' => (moment.month(), 2),
            'M' => (moment.minute(), 2),
            'S' => (moment.second(), 2),
            'u' => (moment.weekday() + 1, 1),
            'U' => ((year_day - sunday_based + 7) / 7, 2),
            'V' => (i64::from(iso.week()), 2),
            'w' => (sunday_based, 1),
            'W' => ((year_day - moment.weekday() + 7) / 7, 2),
            'y' => (moment.year() % 100, 2),
            _ => (moment.year(), 1),
        }
    }

    /// Formats seconds since 1970, interpreting the clock as local time.
    fn epoch(&self, spec: &Spec, out: &mut Output) -> Option<()> {
        let days = ordinal(self.moment.civil()) as i64 - EPOCH_ORDINAL;
        let [_, _, _, hour, minute, second, _] = self.moment.fields();
        let seconds = days * 86_400 + ((hour * 60 + minute) * 60 + second) as i64;
        out.push(&seconds.to_string(), spec)
    }
}

/// Formats a number padded with zeros or blanks. The width applies to the number, not to the text.
fn number(value: i64, digits: usize, spec: &Spec, out: &mut Output) -> Option<()> {
    let digits = digits.max(spec.width);
    let text = value.to_string();
    let padding = digits.saturating_sub(text.len());
    match spec.pad {
        Some('-') => out.push(&text, spec),
        _ if padding == 0 => out.push(&text, spec),
        Some('_') => {
            out.reserve(padding)?;
            out.text.extend(std::iter::repeat_n(' ', padding));
            out.push(&text, &Spec { width: spec.width.saturating_sub(padding), ..*spec })
        }
        _ => {
            out.reserve(padding)?;
            out.text.extend(std::iter::repeat_n('0', padding));
            out.push(&text, &Spec { width: 0, ..*spec })
        }
    }
}

fn accepts(directive: char, modifier: Option<char>) -> bool {
    let takes = match modifier {
        None => "%aAbBcCdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ",
        Some('E') => "%cCnpPrRsTtuxXyYzZ",
        Some(_) => "%bBCdehHIjklmMnpPrRSsTtuUVgGwWyzZ",
    };
    takes.contains(directive)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moment::TimeSpan;

    fn text(fields: super::super::Fields, offset: i128, format: &str) -> String {
        let offset = TimeSpan::from_micros(offset * 1_000_000).expect("an offset");
        DateTime::new(fields, offset).and_then(|moment| moment.strftime(format)).expect("a text")
    }

    #[test]
    fn directives() {
        let cases = [
            ("%Y-%m-%d %H:%M:%S.%f", "2017-03-04 05:06:07.000089"),
            ("%y %j %a %A %b %B %I %p %w %%", "17 063 Sat Saturday Mar March 05 AM 6 %"),
            ("%U %W %G-W%V-%u %g", "09 09 2017-W09-6 17"),
            (
                "%c|%x|%X|%r|%D|%F|%T|%R",
                "Sat Mar  4 05:06:07 2017|03/04/17|05:06:07|05:06:07 AM|03/04/17|2017-03-04|05:06:07|05:06",
            ),
            ("%e|%k|%l|%P|%C|%s|%h%n%t", " 4| 5| 5|am|20|1488603967|Mar\n\t"),
            ("%z|%Z", "+032545|"),
            ("%q %i %", "%q %i %"),
            ("%5d|%-d|%_d|%_5d|%-5d|%010p", "00004|4| 4|    4|    4|00000000AM"),
            ("%^a|%#p|%#Z|%^i|%^c", "SAT|am|utc|%^I|SAT MAR  4 05:06:07 2017"),
            ("%Ey|%Ea|%5Ed|%Od|%E5d", "17|%Ea| %5Ed|04|%E5d"),
            ("%10z|%_6z|%20s", "         +0000000000|     +     0|          1488603967"),
            ("%5%|%012D|%10R|%5", "    %|000003/04/17|     05:06|   %5"),
            ("a\0b", "a"),
            ("%9999999999d", ""),
        ];
        for (format, expected) in cases {
            assert_eq!(text([2017, 3, 4, 5, 6, 7, 89], 12345, format), expected, "{format}");
        }
    }

    #[test]
    fn early_years() {
        let cases = [("%Y|%F|%C|%y|%G|%V|%s", "12|12-01-01|0|12|11|52|-61788528000"), ("%10Y", "0000000012")];
        for (format, expected) in cases {
            assert_eq!(text([12, 1, 1, 0, 0, 0, 0], 0, format), expected, "{format}");
        }
    }
}
