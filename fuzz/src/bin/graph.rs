//! Input: an uploaded graph, as YAML and as JSON. Parsing must terminate, tasks must round-trip, and the
//! graph must survive merge and check.

#![no_main]

use libfuzzer_sys::fuzz_target;
use stoker_graph::{GraphCheckOptions, Layer, MergeRules, Scope, Source, check, merge};
use stoker_manifest::{Format, graph, task, to_yaml};

fuzz_target!(|text: &str| {
    for format in [Format::Yaml, Format::Json] {
        let parsed = graph::read(text, format);
        let Some(tasks) = parsed.value.and_then(|body| body.tasks) else { continue };
        for task in &tasks {
            let yaml = to_yaml(&task::render(task).into());
            let again = graph::read_task(&yaml, Format::Yaml).into_result().expect("rendered task parses");
            assert_eq!(again.name, task.name);
        }
        let merged = merge(&[Layer::of_tasks(Source::Release, &tasks)], MergeRules::default());
        assert_eq!(merged.tasks.len(), tasks.len());
        check(&merged, &GraphCheckOptions { steps_max: 100_000, ..GraphCheckOptions::new(Scope::Merged) });
    }
});
