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

mod accounts;
mod files;
mod hooks;
pub(crate) mod modules;

task_types! {
    // sorted
    ansible,
    cobbler_sync,
    command,
    copy_files,
    directory,
    erase_node,
    file,
    group,
    line,
    link,
    master_shell,
    move_to_bootstrap,
    noop,
    package,
    puppet,
    reboot,
    service,
    shell,
    skipped,
    stage,
    sync,
    sysctl,
    systemd_unit,
    upload_file,
    upload_files,
    user,
    user_group,
    // end sorted
}
