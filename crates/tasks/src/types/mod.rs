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
    archive,
    cobbler_sync,
    command,
    copy_files,
    directory,
    erase_node,
    file,
    git,
    group,
    line,
    link,
    master_shell,
    mount,
    move_to_bootstrap,
    noop,
    package,
    puppet,
    reboot,
    repository,
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
    wait_for,
    // end sorted
}
