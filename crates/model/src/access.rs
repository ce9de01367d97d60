//! Access control. Every operation of the API requires one [`Permission`]; a role is a set of permissions.

use crate::{TenantId, UserId, words};

words! {
    /// A role of a user. `planner` previews changes and cannot make them. `member` is the ordinary user of a tenant.
    Role {
        Admin => "admin",
        Operator => "operator",
        Planner => "planner",
        Viewer => "viewer",
        Member => "member",
    }
}

words! {
    /// The permission that an operation requires.
    Permission {
        /// Operations without authentication.
        Public => "public",
        /// Any authenticated user, limited to the user's own password and tokens.
        Own => "own",
        /// Read access. A member sees only resources of its tenant.
        Read => "read",
        /// Creating plans, which are stored but change nothing else.
        Plan => "plan",
        /// Changing deployments: releases, clusters, nodes, plugins, graphs, runs.
        Operate => "operate",
        /// Access to the modules of a tenant under `/v1.0/{tenant}`. The checks of each module operation restrict
        /// it further.
        Modules => "modules",
        /// Users, tenants, tokens of others, the audit log, settings of the server.
        Administer => "administer",
    }
}

impl Role {
    pub const fn allows(self, permission: Permission) -> bool {
        match permission {
            Permission::Public | Permission::Own | Permission::Read => true,
            Permission::Plan => matches!(self, Self::Admin | Self::Operator | Self::Planner),
            Permission::Operate => matches!(self, Self::Admin | Self::Operator),
            Permission::Modules => matches!(self, Self::Admin | Self::Operator | Self::Member),
            Permission::Administer => matches!(self, Self::Admin),
        }
    }

    /// Reports whether the role sees resources of other tenants.
    pub const fn sees_all_tenants(self) -> bool {
        !matches!(self, Self::Member)
    }
}

/// The authenticated sender of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub user_id: UserId,
    pub user_name: String,
    pub tenant_id: TenantId,
    pub tenant_name: String,
    pub roles: Vec<Role>,
}

impl Caller {
    pub fn has_permission(&self, permission: Permission) -> bool {
        self.roles.iter().any(|role| role.allows(permission))
    }

    /// Returns the tenant to restrict results to; `None` if the caller sees all tenants.
    pub fn tenant_limit(&self) -> Option<TenantId> {
        let everything = self.roles.iter().any(|role| role.sees_all_tenants());
        (!everything).then_some(self.tenant_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(roles: &[Role]) -> Caller {
        Caller {
            user_id: UserId(1),
            user_name: "u".into(),
            tenant_id: TenantId(7),
            tenant_name: "t".into(),
            roles: roles.to_vec(),
        }
    }

    #[test]
    fn roles_have_documented_permissions() {
        use Permission::{Administer, Modules, Operate, Own, Plan, Read};
        let table = [
            (Role::Admin, &[Own, Read, Plan, Operate, Modules, Administer][..]),
            (Role::Operator, &[Own, Read, Plan, Operate, Modules]),
            (Role::Planner, &[Own, Read, Plan]),
            (Role::Viewer, &[Own, Read]),
            (Role::Member, &[Own, Read, Modules]),
        ];
        for (role, expected) in table {
            for permission in Permission::ALL {
                let allowed = expected.contains(permission) || *permission == Permission::Public;
                assert_eq!(role.allows(*permission), allowed, "{role} {permission}");
            }
        }
    }

    #[test]
    fn members_are_limited_to_their_tenant() {
        assert_eq!(caller(&[Role::Member]).tenant_limit(), Some(TenantId(7)));
        assert_eq!(caller(&[]).tenant_limit(), Some(TenantId(7)));
        assert_eq!(caller(&[Role::Member, Role::Viewer]).tenant_limit(), None);
        assert!(!caller(&[]).has_permission(Permission::Read));
    }
}
