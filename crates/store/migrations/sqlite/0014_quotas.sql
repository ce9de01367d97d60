-- Quotas of a tenant that override the defaults of the server; NULL: the default applies.
CREATE TABLE tenant_quotas (
    tenant_id INTEGER PRIMARY KEY CONSTRAINT tenant_quotas_tenant REFERENCES tenants (id) ON DELETE CASCADE,
    clusters INTEGER,
    modules INTEGER,
    nodes INTEGER
) STRICT;
