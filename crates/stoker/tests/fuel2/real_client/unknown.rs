//! Commands for features that the server does not have are rejected with 404 in one line.

use crate::harness::Fuel;

#[test]
fn commands_of_unsupported_features_are_rejected() {
    let fuel = Fuel::with_cluster();
    fuel.write("x.yaml", "{configuration: {}, adv_net_template: {}}");
    // One command checks for the first file and reads the second.
    fuel.write("x", "");
    fuel.write("environment_1/network.yaml", "{}");
    fuel.write("node_1/disks.yaml", "[]");
    fuel.write("node_1/interfaces.yaml", "[]");
    for line in [
        "openstack-config list --env 1",
        "openstack-config upload --env 1 --file x.yaml",
        "openstack-config download 1 --file y.yaml",
        "openstack-config delete 1",
        "openstack-config execute --env 1",
        "network-group list",
        "network-group create -N 1 -C 192.0.2.0/24 x",
        "network-group show 1",
        "network-group update 1 -n x",
        "network-group delete 1",
        "network-template upload 1 --file x.yaml",
        "network-template download 1",
        "network-template delete 1",
        "vip create -e 1 -N x -n 1 -a 192.0.2.9",
        "vip download -e 1",
        "vip upload -e 1 -f x",
        "env network download 1 -f yaml",
        "env network upload 1 -f yaml",
        "env network verify 1",
        "node disks download 1 -f yaml",
        "node disks get-default 1 -f yaml",
        "node disks upload 1 -f yaml",
        "node interfaces download 1 -f yaml",
        "node interfaces get-default 1 -f yaml",
        "node interfaces upload 1 -f yaml",
        "node list-vms-conf 1",
        "node create-vms-conf 1 --conf '{\"id\": 1}'",
        "snapshot create",
        "snapshot get-default-config -f yaml",
        "snapshot get-link 1",
        "health list -e 1",
        "health start -e 1 --force",
        "health stop 1",
        "health restart 1",
        "health status list",
        "health status show 1",
    ] {
        let output = fuel.run(line);
        assert_eq!(output.code, 1, "{line}: {output:?}");
        assert!(
            output.stderr.starts_with("404 ") && !output.stderr.contains("Traceback"),
            "{line}: {output:?}"
        );
    }
}
