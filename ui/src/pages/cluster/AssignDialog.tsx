import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import { Confirm } from "../../components/Confirm";
import { LoadingRows } from "../../components/Loading";
import { conflictReason } from "../../lib/roles";
import { count } from "../../lib/format";

interface Props {
  cluster: Schemas["Cluster"];
  nodes: Schemas["Node"][];
  onDone: () => void;
  onClose: () => void;
}

/** Assigns roles to several nodes. Roles that conflict with the selected ones are disabled. */
export function AssignDialog({ cluster, nodes, onDone, onClose }: Props) {
  const queries = useQueryClient();
  const roles = useQuery({
    queryKey: ["clusters", cluster.id, "roles"],
    queryFn: () => data(api.GET("/api/v1/clusters/{id}/roles", { params: { path: { id: cluster.id } } })),
  });
  const [selected, setSelected] = useState<string[]>(() => commonRoles(nodes));
  const [warnings, setWarnings] = useState<string[]>([]);
  const assign = useMutation({
    mutationFn: () =>
      data(
        api.POST("/api/v1/clusters/{id}/assignment", {
          params: { path: { id: cluster.id } },
          body: nodes.map((node) => ({ id: node.id, roles: selected })),
        }),
      ),
    onSuccess: async (result) => {
      await queries.invalidateQueries({ queryKey: ["nodes"] });
      const messages = (result?.warnings ?? []).map((warning) => warning.message);
      if (messages.length === 0) onDone();
      else setWarnings(messages);
    },
  });
  if (warnings.length > 0) {
    return (
      <Confirm
        title="Roles assigned with warnings"
        action="Close"
        cancel={null}
        isBusy={false}
        error={undefined}
        onConfirm={onDone}
        onClose={onDone}
      >
        <ul>
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      </Confirm>
    );
  }
  const toggle = (name: string) =>
    setSelected((roles) => (roles.includes(name) ? roles.filter((role) => role !== name) : [...roles, name]));
  return (
    <Confirm
      title={`Roles of ${count(nodes.length, "node")} in ${cluster.name}`}
      action={selected.length === 0 ? "Select a role" : `Assign ${selected.join(", ")}`}
      isBusy={assign.isPending || selected.length === 0}
      error={assign.error ?? undefined}
      onConfirm={() => assign.mutate()}
      onClose={onClose}
    >
      {roles.isPending && <LoadingRows rows={3} />}
      <fieldset style={{ border: 0, padding: 0, margin: 0 }} className="stack tight">
        <legend className="sr">Roles</legend>
        {roles.data?.map((role) => {
          const conflict = conflictReason(role, roles.data, selected);
          return (
            <label className="check" key={role.name}>
              <input
                type="checkbox"
                checked={selected.includes(role.name)}
                disabled={conflict !== undefined && !selected.includes(role.name)}
                onChange={() => toggle(role.name)}
              />
              <span>
                {String(role.meta.name ?? role.name)}
                <br />
                <span className="muted small-text">{conflict ?? String(role.meta.description ?? "")}</span>
              </span>
            </label>
          );
        })}
      </fieldset>
    </Confirm>
  );
}

/** Roles that all nodes have in common. */
function commonRoles(nodes: Schemas["Node"][]): string[] {
  const [first, ...others] = nodes.map((node) => [...node.roles, ...node.pending_roles]);
  return (first ?? []).filter((role) => others.every((roles) => roles.includes(role)));
}

/** The first names of a selection. */
function Names({ nodes }: { nodes: Schemas["Node"][] }) {
  return (
    <p>
      {nodes.slice(0, 12).map((node) => node.name).join(", ")}
      {nodes.length > 12 && ` and ${nodes.length - 12} more`}
    </p>
  );
}

export function UnassignDialog({ cluster, nodes, onDone, onClose }: Props) {
  const queries = useQueryClient();
  const [isNow, setNow] = useState(false);
  const unassign = useMutation({
    mutationFn: () =>
      data(
        api.POST("/api/v1/clusters/{id}/unassignment", {
          params: { path: { id: cluster.id }, query: isNow ? { now: "1" } : {} },
          body: nodes.map((node) => ({ id: node.id })),
        }),
      ),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["nodes"] });
      onDone();
    },
  });
  return (
    <Confirm
      title={`Remove ${count(nodes.length, "node")} from ${cluster.name}?`}
      action={`Remove ${count(nodes.length, "node")}`}
      isDanger
      isBusy={unassign.isPending}
      error={unassign.error ?? undefined}
      onConfirm={() => unassign.mutate()}
      onClose={onClose}
    >
      <Names nodes={nodes} />
      <p className="muted">Deployed nodes are removed by the next run, after the graph “deletion”; other nodes immediately.</p>
      <label className="row">
        <input type="checkbox" checked={isNow} onChange={(event) => setNow(event.target.checked)} />
        Remove all immediately, without the graph “deletion”
      </label>
    </Confirm>
  );
}

/** Prepares nodes for other machines. */
export function ReplaceDialog({ nodes, onDone, onClose }: Omit<Props, "cluster">) {
  const queries = useQueryClient();
  const replace = useMutation({
    mutationFn: async () => {
      for (const node of nodes) await data(api.POST("/api/v1/nodes/{id}/replace", { params: { path: { id: node.id } } }));
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["nodes"] }),
    onSuccess: onDone,
  });
  return (
    <Confirm
      title={`Replace the ${nodes.length === 1 ? "machine" : "machines"} of ${count(nodes.length, "node")}?`}
      action={`Replace ${count(nodes.length, "machine")}`}
      isDanger
      isBusy={replace.isPending}
      error={replace.error ?? undefined}
      onConfirm={() => replace.mutate()}
      onClose={onClose}
    >
      <Names nodes={nodes} />
      <p className="muted">
        The present agents are revoked, and the next run executes all tasks of the nodes. The new machines join under the same names, with a join
        token that allows replacing agents.
      </p>
    </Confirm>
  );
}
