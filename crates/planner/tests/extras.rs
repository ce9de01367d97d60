//! Bytes as the stored extras of a plan, as they are and compressed. Also a fuzz target.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
#[cfg(test)]
use stoker_planner::PlanExtras;
use stoker_planner::{decode_extras, encode_extras};

/// Decoding fails, or gives extras that are stored and read unchanged.
pub(crate) fn check(data: &[u8]) {
    let compressed = compressed(data);
    for bytes in [data, &compressed[..]] {
        if let Ok(extras) = decode_extras(bytes) {
            assert_eq!(decode_extras(&encode_extras(&extras)).ok(), Some(extras));
        }
    }
}

fn compressed(data: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(data).and_then(|()| encoder.finish()).unwrap_or_default()
}

#[test]
fn seed_of_the_fuzz_target_is_valid() {
    let seed = include_bytes!("../../../fuzz/corpus/extras/example");
    let extras = decode_extras(&compressed(seed)).expect("valid extras");
    assert_ne!(extras, PlanExtras::default());
}
