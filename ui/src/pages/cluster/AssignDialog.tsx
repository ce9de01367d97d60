import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import { Confirm } from "../../components/Confirm";
import { LoadingRows } from "../../components/Loading";
import { conflictsOf } from "../../lib/roles";
import { count } from "../../lib/format";

interface Props {
  cluster: Schemas["Cluster"];
  nodes: Schemas["Node"][];
  onDone: () => void;
  onClose: () => void;
}

/** Roles for several nodes at once. What cannot be together cannot be ticked together. */
export function AssignDialog({ cluster, nodes, onDone, onClose }: Props) {
  const queries = useQueryClient();
  const roles = useQuery({
    queryKey: ["clusters", cluster.id, "roles"],
    queryFn: () => data(api.GET("/api/v1/clusters/{id}/roles", { params: { path: { id: cluster.id } } })),
  });
  const [chosen, setChosen] = useState<string[]>(() => common(nodes));
  const assign = useMutation({
    mutationFn: () =>
      data(
        api.POST("/api/v1/clusters/{id}/assignment", {
          params: { path: { id: cluster.id } },
          body: nodes.map((node) => ({ id: node.id, roles: chosen })),
        }),
      ),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["nodes"] });
      onDone();
    },
  });
  const toggle = (name: string) =>
    setChosen((now) => (now.includes(name) ? now.filter((one) => one !== name) : [...now, name]));
  return (
    <Confirm
      title={`Roles of ${count(nodes.length, "node")} of ${cluster.name}`}
      action={chosen.length === 0 ? "Choose a role" : `Assign ${chosen.join(", ")}`}
      isBusy={assign.isPending || chosen.length === 0}
      error={assign.error ?? undefined}
      onConfirm={() => assign.mutate()}
      onClose={onClose}
    >
      {roles.isPending && <LoadingRows rows={3} />}
      <fieldset style={{ border: 0, padding: 0, margin: 0 }} className="stack tight">
        <legend className="sr">Roles</legend>
        {roles.data?.map((role) => {
          const why = conflictsOf(role, roles.data, chosen);
          return (
            <label className="check" key={role.name}>
              <input
                type="checkbox"
                checked={chosen.includes(role.name)}
                disabled={why !== undefined && !chosen.includes(role.name)}
                onChange={() => toggle(role.name)}
              />
              <span>
                {String(role.meta.name ?? role.name)}
                <br />
                <span className="muted small-text">{why ?? String(role.meta.description ?? "")}</span>
              </span>
            </label>
          );
        })}
      </fieldset>
    </Confirm>
  );
}

function common(nodes: Schemas["Node"][]): string[] {
  const [first, ...others] = nodes.map((node) => [...node.roles, ...node.pending_roles]);
  return (first ?? []).filter((role) => others.every((roles) => roles.includes(role)));
}

export function UnassignDialog({ cluster, nodes, onDone, onClose }: Props) {
  const queries = useQueryClient();
  const unassign = useMutation({
    mutationFn: () =>
      data(
        api.POST("/api/v1/clusters/{id}/unassignment", {
          params: { path: { id: cluster.id } },
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
      title={`Take ${count(nodes.length, "node")} out of ${cluster.name}?`}
      action={`Take out ${count(nodes.length, "node")}`}
      isDanger
      isBusy={unassign.isPending}
      error={unassign.error ?? undefined}
      onConfirm={() => unassign.mutate()}
      onClose={onClose}
    >
      <p>
        {nodes.slice(0, 12).map((node) => node.name).join(", ")}
        {nodes.length > 12 && ` and ${nodes.length - 12} more`}
      </p>
      <p className="muted">Nodes that are deployed leave with the next run; others at once.</p>
    </Confirm>
  );
}
