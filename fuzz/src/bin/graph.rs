//! Any text as the upload of a graph, in YAML and in JSON: reading ends, what was read comes back as it was, and it can
//! be merged and checked.

#![no_main]

use libfuzzer_sys::fuzz_target;
use stoker_graph::{CheckOptions, Layer, MergeRules, Scope, Source, check, merge};
use stoker_manifest::{Format, graph, task, to_yaml};

fuzz_target!(|text: &str| {
    for format in [Format::Yaml, Format::Json] {
        let judged = graph::read(text, format);
        let Some(tasks) = judged.value.and_then(|body| body.tasks) else { continue };
        for read in &tasks {
            let shown = to_yaml(&task::render(read).into());
            let again =
                graph::read_task(&shown, Format::Yaml).into_result().expect("what was shown can be read");
            assert_eq!(again.name, read.name);
        }
        let merged = merge(&[Layer::of_tasks(Source::Release, &tasks)], MergeRules::default());
        assert_eq!(merged.tasks.len(), tasks.len());
        check(&merged, &CheckOptions { steps_max: 100_000, ..CheckOptions::new(Scope::Whole) });
    }
});
