//! Input: an expression, in every grammar. Parsing must terminate, and printing must round-trip.

#![no_main]

use libfuzzer_sys::fuzz_target;
use stoker_yaql::syntax::{Grammar, parse};

fuzz_target!(|text: &str| {
    for (delegates, legacy) in [(false, false), (true, false), (false, true), (true, true)] {
        let grammar = Grammar { delegates, legacy };
        let Ok(tree) = parse(text, grammar) else { continue };
        let printed = tree.to_string();
        match parse(&printed, grammar) {
            Ok(again) => assert_eq!(printed, again.to_string(), "printing is not idempotent"),
            Err(error) => panic!("{printed:?} does not parse: {error}"),
        }
    }
});
