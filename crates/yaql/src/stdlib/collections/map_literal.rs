use super::dict::from_pairs;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "The literal `{key => value, …}`: creates a map. Keys are expressions; a bare word is a string. If equal keys occur repeatedly (1, 1.0 and true are equal), the map keeps the position and form of the first key and the last value. Fails with TypeError if a key is unhashable.",
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
