-- How much a tenant may have, where that is something else than for all of them.
CREATE TABLE tenant_quotas (
    tenant_id BIGINT PRIMARY KEY CONSTRAINT tenant_quotas_tenant REFERENCES tenants (id) ON DELETE CASCADE,
    clusters BIGINT,
    modules BIGINT,
    nodes BIGINT
);
