//! Human-readable labels: texts for the translation keys of real releases, and labels derived from names.

use std::borrow::Cow;

/// Roots of the translation keys that releases contain instead of texts.
const ROOTS: &[&str] = &["cluster", "common", "dialog"];

/// Texts by translation key without its root and scope, such as `compute.qemu`.
const TEXTS: &[(&str, &str)] = &[
    ("additional.install_ceilometer", "Ceilometer"),
    ("additional.install_ceilometer_description", "Metering and monitoring of resources"),
    ("additional.install_ironic", "Ironic"),
    ("additional.install_ironic_description", "Provisioning of bare-metal machines; needs VLAN segmentation"),
    ("additional.install_murano", "Murano"),
    ("additional.install_murano_description", "Application catalog"),
    ("additional.install_sahara", "Sahara"),
    ("additional.install_sahara_description", "Data processing clusters such as Hadoop and Spark"),
    ("additional.ironic_network_mode_alert", "Ironic needs VLAN segmentation"),
    ("additional.network_mode_alert", "not available with nova-network"),
    ("compute.kvm", "KVM"),
    ("compute.kvm_description", "Hardware virtualization; needs CPUs that support it"),
    ("compute.qemu", "QEMU-KVM"),
    ("compute.qemu_description", "Emulation, with hardware virtualization where CPUs support it"),
    ("compute.vcenter", "vCenter"),
    ("compute.vcenter_description", "Virtual machines in an existing VMware vCenter"),
    (
        "compute.vcenter_requires_network_backend",
        "vCenter needs a network with vCenter support; select it in the network pane",
    ),
    (
        "compute.vcenter_requires_network_plugins",
        "vCenter needs a network plugin that supports it; install one first",
    ),
    ("compute.vcenter_warning", "vCenter needs QEMU-KVM beside it"),
    ("mode.ha_compact", "High availability"),
    ("network.hypervisor_alert", "not available with vCenter"),
    ("network.neutr_gre", "Neutron with GRE segmentation"),
    ("network.neutr_gre_description", "Tenant networks in GRE tunnels"),
    ("network.neutr_vlan", "Neutron with VLAN segmentation"),
    ("network.neutr_vlan_description", "Tenant networks in VLANs of the switches"),
    ("network.neutron_ml2", "Neutron with ML2 plugin"),
    ("network.neutron_ml2_description", "Modular layer 2: the framework of the segmentation types"),
    ("network.neutron_tun", "Neutron with tunneling segmentation"),
    ("network.neutron_tun_description", "Tenant networks in tunnels; needs no VLANs of the switches"),
    ("network.neutron_vlan", "Neutron with VLAN segmentation"),
    ("network.neutron_vlan_description", "Tenant networks in VLANs of the switches"),
    ("network.nova_network", "nova-network"),
    ("network.nova_network_description", "Legacy networking for vCenter"),
    ("network.nova_network_vcenter_alert", "nova-network is available with vCenter only"),
    ("network.nove_network_vcenter_alert", "nova-network is available with vCenter only"),
    ("network.vlan_tun_alert", "VLAN and tunneling segmentation exclude each other"),
    ("storage.ceph", "Ceph"),
    ("storage.ceph_block", "Block storage in Ceph"),
    ("storage.ceph_disable", "No, use the default providers"),
    ("storage.ceph_enable", "Yes, use Ceph"),
    ("storage.ceph_ephemeral", "Disks of virtual machines in Ceph"),
    ("storage.ceph_image", "Image storage in Ceph"),
    ("storage.ceph_object", "Object storage in Ceph"),
    ("storage.default_provider", "Default provider"),
    ("storage.lvm", "LVM"),
];

/// Returns the text for a translation key; other texts are returned unchanged. Unknown keys become the words of their
/// last segment.
pub fn readable(text: &str) -> Cow<'_, str> {
    let Some((scope, name)) = translation_key(text) else { return Cow::Borrowed(text) };
    let key = format!("{scope}.{name}");
    match TEXTS.binary_search_by(|(known, _)| (*known).cmp(&key)) {
        Ok(idx) => Cow::Borrowed(TEXTS[idx].1),
        Err(_) => Cow::Owned(words(name)),
    }
}

/// Splits a translation key such as `dialog.create_cluster_wizard.compute.qemu` into the last scope and the name.
fn translation_key(text: &str) -> Option<(&str, &str)> {
    let is_segment = |segment: &str| {
        let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        !segment.is_empty() && segment.bytes().all(is_allowed)
    };
    let (rest, name) = text.rsplit_once('.')?;
    let (root, scope) = rest.split_once('.')?;
    let is_key = ROOTS.contains(&root) && is_segment(name) && scope.split('.').all(is_segment);
    is_key.then(|| (scope.rsplit('.').next().unwrap_or(scope), name))
}

/// Converts an identifier to words: `neutron_ml2` becomes `Neutron ml2`.
pub(crate) fn words(name: &str) -> String {
    let text = name.replace(['_', '-'], " ");
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translation_keys_become_texts() {
        assert!(TEXTS.is_sorted(), "binary search");
        assert_eq!(readable("dialog.create_cluster_wizard.compute.qemu"), "QEMU-KVM");
        assert_eq!(readable("common.network.neutron_vlan"), "Neutron with VLAN segmentation");
        assert_eq!(readable("dialog.create_cluster_wizard.moon.big_rocket"), "Big rocket");
        for text in
            ["LVM not compatible with Ceph", "www.example.com", "dialog", "dialog.x", "dialog.A.b", ""]
        {
            assert_eq!(readable(text), text);
        }
    }
}
