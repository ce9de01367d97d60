import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { DataTable } from "../../components/DataTable";
import { LoadingRows } from "../../components/Loading";
import { EmptyState } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { Status } from "../../components/Status";
import { Time } from "../../components/Time";
import { TokenForm } from "../../components/TokenForm";

/** Joined agents, join tokens and user tokens. */
export default function Tokens() {
  const queries = useQueryClient();
  const tokens = useQuery({ queryKey: ["tokens"], queryFn: () => data(api.GET("/api/v1/tokens", { params: { query: { order_by: "-id" } } })) });
  const users = useQuery({ queryKey: ["users"], queryFn: () => data(api.GET("/api/v1/users")) });
  const joinTokens = useQuery({ queryKey: ["join_tokens"], queryFn: () => data(api.GET("/api/v1/join_tokens")) });
  const agents = useQuery({ queryKey: ["agents"], queryFn: () => data(api.GET("/api/v1/agents")) });
  const revoke = useMutation({
    mutationFn: (id: number) => data(api.DELETE("/api/v1/tokens/{id}", { params: { path: { id } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["tokens"] }),
  });
  const revokeJoinToken = useMutation({
    mutationFn: (id: number) => data(api.DELETE("/api/v1/join_tokens/{id}", { params: { path: { id } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["join_tokens"] }),
  });
  const names = new Map(users.data?.map((user) => [user.id, user.name]));
  const error = tokens.error ?? joinTokens.error ?? agents.error ?? revoke.error ?? revokeJoinToken.error;
  return (
    <div className="stack">
      {error && <Problem error={error} />}
      <section className="stack tight" aria-labelledby="t-agents">
        <h2 id="t-agents">Agents</h2>
        {agents.isPending && <LoadingRows rows={2} />}
        {agents.data?.length === 0 && <EmptyState title="No agents yet">Create a join token below, then start <code>stoker agent</code> with it on a node.</EmptyState>}
        {agents.data && agents.data.length > 0 && (
          <DataTable
            label="Agents"
            rows={agents.data}
            rowKey={(agent) => agent.id}
            columns={[
              { id: "uid", name: "Node", sort: (agent) => agent.uid, cell: (agent) => agent.uid },
              { id: "status", name: "Status", cell: (agent) => <Status status={agent.is_connected ? "success" : "interrupted"} label={agent.is_connected ? "connected" : "disconnected"} /> },
              { id: "version", name: "Version", sort: (agent) => agent.version, cell: (agent) => agent.version },
              { id: "seen", name: "Last seen", cell: (agent) => <Time at={agent.last_seen_at} /> },
            ]}
          />
        )}
      </section>
      <TokenForm
        title="New join token"
        action="Create join token"
        create={async (label, hours) => {
          const created = await data(api.POST("/api/v1/join_tokens", { body: { label, expires_in: hours * 3600 } }));
          await queries.invalidateQueries({ queryKey: ["join_tokens"] });
          return created.token;
        }}
      />
      {joinTokens.data && joinTokens.data.length > 0 && (
        <DataTable
          label="Join tokens"
          rows={joinTokens.data}
          rowKey={(token) => token.id}
          columns={[
            { id: "label", name: "Join token", cell: (token) => token.label ?? `#${token.id}` },
            { id: "uses", name: "Uses left", cell: (token) => token.uses_left ?? "unlimited", isNumber: true },
            { id: "expires", name: "Expires", cell: (token) => <Time at={token.expires_at} /> },
            {
              id: "actions",
              name: "",
              cell: (token) => (
                <button type="button" className="button small" aria-label={`Revoke join token ${token.label ?? token.id}`} onClick={() => revokeJoinToken.mutate(token.id)}>
                  Revoke
                </button>
              ),
            },
          ]}
        />
      )}
      <section className="stack tight" aria-labelledby="t-users">
        <h2 id="t-users">User tokens</h2>
        {tokens.isPending && <LoadingRows />}
        {tokens.data && (
          <DataTable
            label="User tokens"
            rows={tokens.data}
            rowKey={(token) => token.id}
            columns={[
              { id: "user", name: "User", sort: (token) => names.get(token.user_id) ?? "", cell: (token) => names.get(token.user_id) ?? `#${token.user_id}` },
              { id: "label", name: "Description", cell: (token) => token.label ?? "login" },
              { id: "issued", name: "Created", sort: (token) => token.issued_at, cell: (token) => <Time at={token.issued_at} /> },
              { id: "expires", name: "Expires", sort: (token) => token.expires_at, cell: (token) => <Time at={token.expires_at} /> },
              {
                id: "actions",
                name: "",
                cell: (token) => (
                  <button type="button" className="button small" aria-label={`Revoke token ${token.id}`} onClick={() => revoke.mutate(token.id)}>
                    Revoke
                  </button>
                ),
              },
            ]}
          />
        )}
      </section>
    </div>
  );
}
