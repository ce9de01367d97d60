use super::dict::from_pairs;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "The literal `{key => value, …}`. Keys are expressions, a bare word being a string. Of equal keys, which 1, 1.0 and true are, the last value wins in the place and spelling of the first. A key that cannot be hashed is a TypeError.",
    overloads: &[("f #map(args: pair...) pairs", from_pairs)],
    examples: &[
        ("{}", "{}"),
        ("{name => web, 'tcp port' => 80}", "{\"name\": \"web\", \"tcp port\": 80}"),
        ("{a => 1, b => 2, a => 3}", "{\"a\": 3, \"b\": 2}"),
        ("{x + y => 1}", "{\"xy\": 1}"),
        ("{{}.keys() => 1}", "TypeError"),
        ("{5}", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};
