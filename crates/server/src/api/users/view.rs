//! Conversion between users and their API types.

use stoker_api_types::users::UserView;
use stoker_model::{Tenant, User};

use stoker_services::clock;

pub(super) fn render_user(user: &User, tenant: Option<&Tenant>) -> UserView {
    UserView {
        id: user.id.0,
        name: user.name.clone(),
        tenant: tenant.map(|tenant| tenant.name.clone()),
        tenant_id: user.tenant_id.0,
        roles: user.roles.iter().map(|role| role.as_str().to_owned()).collect(),
        enabled: user.enabled,
        created_at: clock::plain(user.created_at),
    }
}
