//! Focused cases: calls with edge-case values, numbers as text, dates as text, patterns.

use crate::generate::Generator;
use crate::literals;
use crate::rng::Rng;
use crate::tree::{Form, Node};
use crate::types::Ty;

/// Short expressions for values of every kind, including edge cases.
const EDGE_CASES: [&str; 58] = [
    "null",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "2",
    "3.5",
    "0.0",
    "-0.0",
    "1.0",
    "float(nan)",
    "float(inf)",
    "float('-inf')",
    "9223372036854775808",
    "pow(10, 30)",
    "''",
    "a",
    "'b c'",
    "'αβ'",
    "'😀'",
    "'1'",
    "[]",
    "[1]",
    "[1, 2, 3]",
    "[[1, a], [2, b]]",
    "[a, null]",
    "[[1], []]",
    "'a b'.split()",
    "''.split()",
    "{}",
    "{a => 1}",
    "{a => {b => 2}}",
    "{1 => a, true => b}",
    "{[1] => 2}",
    "{a => 1}.delete(b)",
    "[1, 2].toDict($)",
    "set()",
    "set(1, a)",
    "set([1], null)",
    "{a => 1}.keys()",
    "{a => 1, b => 2}.values()",
    "{a => 1}.items()",
    "[1].toDict($).keys()",
    "[a].toDict($).items()",
    "range(3)",
    "[1, 2].select($)",
    "[].where($)",
    "[2, 1].orderBy($)",
    "[1, 2].memorize()",
    "datetime(2017, 3, 4)",
    "datetime(2017, 3, 4, offset => timespan(hours => 2))",
    "timespan()",
    "timespan(days => -1, microseconds => 1)",
    "regex('a(.)')",
    "let(k => 1)",
    "$",
    "$.a",
];

fn edge_case(rng: &mut Rng) -> Node {
    Node::atom(rng.pick(&EDGE_CASES)).tight()
}

impl Generator<'_> {
    pub(crate) fn focused(&mut self) -> Node {
        match self.rng.below(10) {
            0..=4 => self.edge_case_call(),
            5 => self.edge_case_operator(),
            6 => self.number_text(),
            7 => self.date_text(),
            8 => self.text_call(),
            _ => self.pattern_call(),
        }
    }

    /// Generates a call of a library function in which many arguments are edge cases or of the wrong type.
    fn edge_case_call(&mut self) -> Node {
        let table = self.table;
        let entry = self.rng.choose(&table.entries);
        let mut call = self.call(entry, &Ty::Any, 0);
        for kid in &mut call.kids {
            if self.rng.chance(45) {
                match kid.form {
                    Form::Pair => kid.kids[1] = edge_case(&mut self.rng),
                    _ => *kid = edge_case(&mut self.rng),
                }
            }
        }
        self.wrapped(call)
    }

    /// Wraps a node in an expression whose result depends on the kind of the value.
    fn wrapped(&mut self, node: Node) -> Node {
        match self.rng.below(24) {
            0 => Node::call("str", vec![node]),
            1 => Node::call("set", vec![node]),
            2 => Node::binary("=", node, edge_case(&mut self.rng)),
            3 => Node::new(Form::List, vec![node.clone(), node]),
            4 => Node::call("bool", vec![node]),
            5 => Node::method(node, "len", Vec::new()),
            6 => Node::index(node, vec![edge_case(&mut self.rng)]),
            7 => Node::new(Form::Map, vec![Node::pair(node, Node::atom("1"))]),
            8 => Node::method(node, "toList", Vec::new()),
            9 => Node::call("isList", vec![node]),
            10 => Node::binary("in", edge_case(&mut self.rng), node),
            11 => Node::binary("+", node, edge_case(&mut self.rng)),
            12 => Node::method(Node::new(Form::List, vec![node]), "join", vec![Node::atom("'-'")]),
            _ => node,
        }
    }

    fn edge_case_operator(&mut self) -> Node {
        const OPERATORS: [&str; 17] =
            ["+", "-", "*", "/", "mod", "<", ">", "<=", ">=", "=", "!=", "in", "and", "or", "=~", "!~", "->"];
        let operator = self.rng.pick(&OPERATORS);
        let node = Node::binary(operator, edge_case(&mut self.rng), edge_case(&mut self.rng));
        let node = if self.rng.chance(20) {
            Node::unary(self.rng.pick(&["-", "+", "not"]), node.paren())
        } else {
            node
        };
        if self.rng.chance(50) { node } else { self.wrapped(node) }
    }

    /// Generates conversions and arithmetic on random digits: `int`, `float`, `round`, `str` and operators.
    fn number_text(&mut self) -> Node {
        let digits = |rng: &mut Rng, most: usize| -> String {
            (0..=rng.below(most)).map(|_| char::from(b'0' + rng.below(10) as u8)).collect()
        };
        let rng = &mut self.rng;
        if rng.chance(35) {
            const PIECES: [&str; 20] = [
                "1", "0", "42", "_", "+", "-", ".", "e", "E", "5", "inf", "nan", " ", "\\t", "٣", "x",
                "infinity", "00", "e-3", ".5",
            ];
            let text: String = (0..=rng.below(4)).map(|_| rng.pick(&PIECES)).collect();
            return Node::call(rng.pick(&["int", "float"]), vec![Node::atom(format!("'{text}'"))]);
        }
        let number = |rng: &mut Rng| {
            let float = format!("{}.{}", digits(rng, 18), digits(rng, 18));
            let text = if rng.chance(75) { float } else { digits(rng, 25) };
            Node::atom(if rng.chance(20) { format!("(-{text})") } else { text })
        };
        let first = number(rng);
        match rng.below(8) {
            0 => Node::call("round", vec![first, Node::atom(rng.range(-5, 18).to_string())]),
            1 => Node::call("str", vec![first]),
            2 => Node::call("int", vec![first]),
            3 => Node::call("pow", vec![first, literals::small(rng)]),
            4 => Node::call("sign", vec![first]),
            5 => Node::call("hex", vec![first]),
            6 => Node::binary(rng.pick(&["<", "=", ">="]), first.clone(), Node::call("float", vec![first])),
            _ => Node::binary(rng.pick(&["+", "-", "*", "/", "mod"]), first, number(rng)),
        }
    }

    fn date_text(&mut self) -> Node {
        const PIECES: [&str; 40] = [
            "2017",
            "17",
            "03",
            "3",
            "4",
            "04",
            "31",
            "12",
            "Mar",
            "march",
            "Sat",
            "Saturday",
            "-",
            "/",
            ".",
            ":",
            " ",
            " ",
            ",",
            "T",
            "Z",
            "+02:00",
            "+0230",
            "-5",
            "UTC",
            "EST",
            "10:20",
            "23:59:59",
            "10:20:30.5",
            "pm",
            "AM",
            "5",
            "2017-03-04",
            "20170304",
            "102030",
            "of",
            "st",
            "th",
            "1999",
            "00",
        ];
        let rng = &mut self.rng;
        let text: String = if rng.chance(40) {
            let (year, month, day) = (rng.range(1, 2100), rng.range(0, 13), rng.range(0, 32));
            let separator = rng.pick(&["-", "/", ".", "", " "]);
            let time = rng.pick(&[
                "",
                "T10:20",
                " 10:20:30",
                "T102030.123456789",
                " 5pm",
                "T24:00",
                "T10:20:30,5+02",
                "Z",
            ]);
            format!("{year:04}{separator}{month:02}{separator}{day:02}{time}")
        } else {
            (0..=rng.below(7)).map(|_| rng.pick(&PIECES)).collect()
        };
        let text = Node::atom(format!("'{text}'"));
        if rng.chance(30) {
            let format = literals::format(rng);
            let moment = literals::datetime(rng);
            let printed = Node::method(moment, "format", vec![format.clone()]);
            return if rng.chance(50) { printed } else { Node::call("datetime", vec![printed, format]) };
        }
        let read = Node::call("datetime", vec![text]);
        match rng.below(4) {
            0 => Node::call("str", vec![read]),
            1 => Node::new(
                Form::List,
                vec![Node::member(read.clone(), "offset"), Node::member(read, "timestamp")],
            ),
            _ => read,
        }
    }

    /// Generates string functions on text with characters that have special Unicode rules.
    fn text_call(&mut self) -> Node {
        const NAMES: [&str; 16] = [
            "toUpper",
            "toLower",
            "trim",
            "trimLeft",
            "trimRight",
            "norm",
            "isEmpty",
            "split",
            "rightSplit",
            "replace",
            "substring",
            "indexOf",
            "lastIndexOf",
            "startsWith",
            "endsWith",
            "toCharArray",
        ];
        const LETTERS: [&str; 24] = [
            "a", "b", "A", " ", "ß", "Σ", "σ", "İ", "ı", "ﬁ", "ǅ", "é", "e\\u0301", "\\u00a0", "\\u2028",
            "\\x1c", "\\t", "😀", "א", "٣", ",", "aa", "ŉ", "ᾳ",
        ];
        let text = |rng: &mut Rng| {
            let letters: String = (0..rng.below(7)).map(|_| rng.pick(&LETTERS)).collect();
            Node::atom(format!("'{letters}'"))
        };
        let name = self.rng.pick(&NAMES);
        let receiver = text(&mut self.rng);
        let mut args = Vec::new();
        for _ in 0..self.rng.below(4) {
            args.push(if self.rng.chance(60) { text(&mut self.rng) } else { literals::small(&mut self.rng) });
        }
        let call = Node::method(receiver, name, args);
        self.wrapped(call)
    }

    fn pattern_call(&mut self) -> Node {
        const LETTERS: [&str; 14] =
            ["a", "b", "n", "x", "1", "é", " ", "-", "_", "\\n", "A", "ab", "aa", "c"];
        let rng = &mut self.rng;
        let letters: String = (0..rng.below(9)).map(|_| rng.pick(&LETTERS)).collect();
        let text = Node::atom(format!("'{letters}'"));
        let mut regex_args = vec![literals::pattern(rng)];
        for flag in ["ignoreCase", "multiLine", "dotAll"] {
            if rng.chance(20) {
                regex_args.push(Node::pair(Node::atom(flag), Node::atom("true")));
            }
        }
        let regex = Node::call("regex", regex_args);
        let whole = Node::atom("[$, $2, $3]");
        match rng.below(9) {
            0 => Node::method(regex, "matches", vec![text]),
            1 => Node::method(regex, "search", vec![text, whole]),
            2 => Node::method(regex, "searchAll", vec![text]),
            3 => Node::method(regex, "searchAll", vec![text, Node::atom("[$.start, $.end, $2?.value]")]),
            4 => Node::method(regex, "split", vec![text, literals::small(rng)]),
            5 => Node::method(regex, "split", vec![text]),
            6 => Node::method(regex, "replace", vec![text, literals::template(rng), literals::small(rng)]),
            7 => Node::method(regex, "replaceBy", vec![text, Node::atom("$.value + '.'")]),
            _ => Node::call("str", vec![regex]),
        }
    }
}
