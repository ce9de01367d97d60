//! The list of task types.

use crate::task_type::TaskType;

/// Declares the module of each type and lists it.
macro_rules! task_types {
    ($($name:ident,)+) => {
        $(mod $name;)+

        /// All task types, sorted by name.
        pub const TASK_TYPES: &[&TaskType] = &[$(&$name::TYPE),+];
    };
}

mod files;
mod hooks;
pub(crate) mod modules;

task_types! {
    // sorted
    ansible,
    cobbler_sync,
    copy_files,
    erase_node,
    group,
    master_shell,
    move_to_bootstrap,
    noop,
    puppet,
    reboot,
    shell,
    skipped,
    stage,
    sync,
    upload_file,
    upload_files,
    // end sorted
}
