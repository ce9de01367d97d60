//! Input: YAML, also loaded as a helper file. Loading must terminate, and loaded documents must be writable.

#![no_main]

use libfuzzer_sys::fuzz_target;
use stoker_helpers::{HelperFile, load as load_helpers};
use stoker_yaml::{LoadLimits, emit, load};
use stoker_yaql::Library;

fuzz_target!(|text: &str| {
    let loaded = load(text, &LoadLimits::default());
    for document in &loaded.documents {
        let written = emit::to_yaml(&document.root);
        assert!(!written.is_empty());
    }
    let file = HelperFile { name: "helpers.yaml", text };
    let helpers = load_helpers(&[file], &Library::standard());
    assert!(helpers.library.is_some() || !helpers.problems.is_empty());
});
