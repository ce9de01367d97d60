//! Integration tests of `stoker-registry` in one binary, which is linked once instead of once per file.

mod cases;
#[path = "components/main.rs"]
mod components;
mod contributions;
mod hostile;
#[path = "package/main.rs"]
mod package;
mod settings;
mod stage_graph;
mod stage_layers;
mod stage_order;
mod stage_real;
#[path = "wizard/main.rs"]
mod wizard;
