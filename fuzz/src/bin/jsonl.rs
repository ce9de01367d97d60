//! Input: protocol lines. The response to every line must be one line of valid JSON.

#![no_main]

use libfuzzer_sys::fuzz_target;
use stoker_yaql::json::parse;
use stoker_yaql::protocol::Responder;
use stoker_yaql::{FixedHost, Limits};

const HOST: FixedHost = FixedHost { now_micros: 1_700_000_000_000_000, random_bits: 7 };
const LIMITS: Limits = Limits { steps: 100_000, depth: 300, memory: 16 << 20 };

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let mut responder = Responder::new(&HOST, LIMITS);
    for line in text.lines().take(4) {
        let response = responder.respond(line);
        assert!(!response.contains('\n'), "response has several lines: {response}");
        assert!(parse(&response).is_ok(), "response is not JSON: {response}");
    }
});
