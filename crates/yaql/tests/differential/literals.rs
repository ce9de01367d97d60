//! Literals of every type, including edge cases.

use crate::rng::Rng;
use crate::tree::Node;

const WORDS: [&str; 16] = [
    "a",
    "b",
    "node",
    "x",
    "ready",
    "ab",
    "abc",
    "primary",
    "A",
    "True",
    "z9",
    "_u",
    "é",
    "Ω",
    "aXb",
    "controller",
];

const STRINGS: [&str; 40] = [
    "''",
    "' '",
    "'a b c'",
    "'a,b,,c'",
    "'  padded\\t'",
    "'42'",
    "' 7 '",
    "'-1_000'",
    "'1.5'",
    "'1e3'",
    "'nan'",
    "'-inf'",
    "'0x1F'",
    "'straße'",
    "'ΑΣ ΣΑ'",
    "'ﬁne ǆ'",
    "'a😀b'",
    "'it\\'s \"q\"'",
    "\"line\\nbreak\"",
    "'\\u200b\\x00\\x7f'",
    "'a\\\\b'",
    "'node-1.example.com'",
    "'banana'",
    "'aaaa'",
    "'١٢'",
    "'%d/%m/%Y'",
    "'2017-03-04'",
    "'2017-03-04T10:20:30.5+02:00'",
    "'Mar 4, 2017 5:06pm'",
    "'04/03/2017 23:59'",
    "'$yaql'",
    "'a.b*c'",
    "'x=1;y=2'",
    "'İI'",
    "'\\N{BULLET}'",
    "'tab\\tsep'",
    "'A b  C'",
    "'a\\u00a0b'",
    "`raw \\d \\``",
    "'\\0\\101'",
];

const PATTERNS: [&str; 34] = [
    "a",
    "b+",
    "(a)(n)?",
    ".",
    "",
    "^a",
    "c$",
    "\\d+",
    "\\w+",
    "\\s",
    "[a-c]+",
    "[^b]",
    "a|bc",
    "(?:ab)*",
    "(a|b)*c",
    "a{2,3}",
    "a{,2}?",
    "\\bnode",
    "(?i)AB",
    "(?=a).",
    "(?<=a)b",
    "(?<!a)n",
    "(?P<x>a)(?P=x)?",
    "(a)?(?(1)b|c)",
    "\\.",
    "[\\d.-]+",
    "(?s).+",
    "(?m)^.",
    "x*",
    "(-)",
    "a++",
    "(?>a|ab)c",
    "[[]",
    "\\u00e9",
];

const BAD_PATTERNS: [&str; 12] =
    ["(", "*", "a**", "[", "\\z", "(?<n>a)", "\\p{L}", "a{3,2}", "(?P<1>a)", "\\2", "(?<=a*)b", "a(?i)"];

const FORMATS: [&str; 16] = [
    "%Y-%m-%d",
    "%d.%m.%y %H:%M",
    "%I%p",
    "%j",
    "%a %b",
    "%A %B",
    "%c",
    "%f",
    "%z",
    "%Z",
    "%%",
    "%U %W %w %u",
    "%G-%V",
    "%s",
    "%q%",
    "%x %X",
];

const TEMPLATES: [&str; 12] =
    ["", "-", "\\1", "\\g<0>", "[\\g<1>]", "\\n", "\\\\", "$1", "\\2\\1", "\\g<x>", "\\q", "\\g<"];

const INTS: [&str; 20] = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "8",
    "10",
    "12",
    "31",
    "59",
    "100",
    "255",
    "2017",
    "2147483648",
    "9007199254740993",
    "9223372036854775808",
    "123456789012345678901234567890",
];

const FLOATS: [&str; 18] = [
    "0.0",
    "1.0",
    "0.5",
    "2.5",
    "1.5",
    "3.14",
    "0.1",
    "2.675",
    "100.0",
    "1000000.5",
    "0.00001",
    "123456789.123456789",
    "10000000000000000.0",
    "9007199254740993.0",
    "0.1234567890123456789",
    "12.3456",
    "3.5",
    "1500000000.25",
];

pub(crate) fn int(rng: &mut Rng) -> Node {
    let text = if rng.chance(75) { INTS[rng.below(11)] } else { rng.pick(&INTS) };
    signed(rng, text)
}

/// Generates a number that is plausible as a position or count.
pub(crate) fn small(rng: &mut Rng) -> Node {
    let number = if rng.chance(85) { rng.range(0, 4) } else { rng.range(-4, 12) };
    if number < 0 {
        Node::unary("-", Node::atom((-number).to_string()))
    } else {
        Node::atom(number.to_string())
    }
}

pub(crate) fn float(rng: &mut Rng) -> Node {
    let text = rng.pick(&FLOATS);
    signed(rng, text)
}

fn signed(rng: &mut Rng, text: &str) -> Node {
    let atom = Node::atom(text);
    if rng.chance(15) { Node::unary("-", atom) } else { atom }
}

pub(crate) fn word(rng: &mut Rng) -> &'static str {
    rng.pick(&WORDS)
}

pub(crate) fn string(rng: &mut Rng) -> Node {
    Node::atom(if rng.chance(40) { word(rng) } else { rng.pick(&STRINGS) })
}

/// Creates a raw string literal.
fn raw(text: &str) -> Node {
    Node::atom(format!("`{text}`"))
}

pub(crate) fn pattern(rng: &mut Rng) -> Node {
    if rng.chance(6) {
        return raw(rng.pick(&BAD_PATTERNS));
    }
    if rng.chance(60) {
        return raw(rng.pick(&PATTERNS));
    }
    raw(&(0..=rng.below(3)).map(|_| piece(rng, 2)).collect::<String>())
}

fn piece(rng: &mut Rng, depth: usize) -> String {
    const ATOMS: [&str; 14] =
        ["a", "b", "n", ".", "\\d", "\\w", "[ab]", "[^a]", "\\s", "x", "1", "é", "\\b", "[\\w-]"];
    const REPEATS: [&str; 9] = ["", "", "", "*", "+", "?", "*?", "{1,2}", "+?"];
    let atom = if depth > 0 && rng.chance(35) {
        let inner = piece(rng, depth - 1) + &piece(rng, depth - 1);
        match rng.below(5) {
            0 => format!("(?:{inner})"),
            1 => format!("({inner}|{})", piece(rng, depth - 1)),
            2 => format!("(?={inner})"),
            _ => format!("({inner})"),
        }
    } else {
        rng.pick(&ATOMS).to_owned()
    };
    format!("{atom}{}", rng.pick(&REPEATS))
}

pub(crate) fn template(rng: &mut Rng) -> Node {
    raw(rng.pick(&TEMPLATES))
}

pub(crate) fn format(rng: &mut Rng) -> Node {
    Node::atom(format!("'{}'", rng.pick(&FORMATS)))
}

pub(crate) fn datetime(rng: &mut Rng) -> Node {
    let number = |rng: &mut Rng, from, to| Node::atom(rng.range(from, to).to_string());
    match rng.below(8) {
        0 => Node::call("datetime", vec![Node::atom("'2017-03-04T10:20:30.5+02:00'")]),
        1 => Node::call("datetime", vec![number(rng, 0, 2_000_000_000)]),
        2 => Node::call("datetime", vec![Node::atom("'Mar 4, 2017 5:06pm'")]),
        _ => {
            let mut args = vec![number(rng, 1990, 2030), number(rng, 1, 12), number(rng, 1, 28)];
            for top in [23, 59, 59, 999_999].into_iter().take(rng.below(5)) {
                args.push(number(rng, 0, top));
            }
            if rng.chance(30) {
                args.push(Node::pair(Node::atom("offset"), timespan(rng)));
            }
            Node::call("datetime", args)
        }
    }
}

pub(crate) fn timespan(rng: &mut Rng) -> Node {
    const UNITS: [&str; 6] = ["days", "hours", "minutes", "seconds", "milliseconds", "microseconds"];
    let mut args = Vec::new();
    let first = rng.below(UNITS.len());
    for unit in UNITS.iter().skip(first).take(rng.below(3)) {
        let number = Node::atom(rng.range(0, 30).to_string());
        let number = if rng.chance(20) { Node::unary("-", number) } else { number };
        args.push(Node::pair(Node::atom(*unit), number));
    }
    Node::call("timespan", args)
}
