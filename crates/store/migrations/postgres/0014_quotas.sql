-- Quotas of a tenant that override the defaults of the server; NULL: the default applies.
CREATE TABLE tenant_quotas (
    tenant_id BIGINT PRIMARY KEY CONSTRAINT tenant_quotas_tenant REFERENCES tenants (id) ON DELETE CASCADE,
    clusters BIGINT,
    modules BIGINT,
    nodes BIGINT
);
