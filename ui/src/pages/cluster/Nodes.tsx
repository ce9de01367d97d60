import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";
import { useMay } from "../../app/identity";
import { LoadingRows } from "../../components/Loading";
import { Empty } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { Status } from "../../components/Status";
import { count } from "../../lib/format";
import { choices, labelsOf, matchesNode, type Node } from "../../lib/nodes";
import { useParam } from "../../lib/params";
import { statusOfNode } from "../../lib/status";
import { AssignDialog, UnassignDialog } from "./AssignDialog";
import { useCluster } from "./Cluster";
import { freeNodes, nodesOf } from "./nodeQueries";
import { PlanDialog } from "./PlanDialog";

type Doing = "assign" | "unassign" | "plan" | null;

export default function Nodes() {
  const cluster = useCluster();
  const [show, setShow] = useParam("show", "own");
  const [search, setSearch] = useParam("q", "");
  const [role, setRole] = useParam("role", "");
  const [status, setStatus] = useParam("status", "");
  const [online, setOnline] = useParam("online", "");
  const [label, setLabel] = useParam("label", "");
  const [ticked, setTicked] = useState<ReadonlySet<number>>(new Set());
  const [doing, setDoing] = useState<Doing>(null);
  const own = useQuery(nodesOf(cluster.id));
  const free = useQuery({ ...freeNodes, enabled: show === "free" });
  const mayOperate = useMay("operate");
  const nodes = show === "free" ? free : own;
  const all = useMemo(() => nodes.data ?? [], [nodes.data]);
  const filter = { search, role, status, online, label };
  const shown = all.filter((node) => matchesNode(node, filter));
  const chosen = all.filter((node) => ticked.has(node.id));
  const areAllTicked = shown.length > 0 && shown.every((node) => ticked.has(node.id));
  const tick = (id: number) =>
    setTicked((now) => {
      const next = new Set(now);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  const finish = () => {
    setDoing(null);
    setTicked(new Set());
  };
  return (
    <div className="stack tight">
      <div className="toolbar" role="search" aria-label="Nodes">
        <select aria-label="Which nodes" value={show} onChange={(event) => setShow(event.target.value)}>
          <option value="own">Of this cluster</option>
          <option value="free">Of no cluster</option>
        </select>
        <input
          type="search"
          aria-label="Search nodes"
          placeholder="Name, address, role, label"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        <Filter name="Role" value={role} set={setRole} values={choices(all, (node) => [...node.roles, ...node.pending_roles])} />
        <Filter name="Status" value={status} set={setStatus} values={choices(all, (node) => [node.status])} />
        <Filter name="Online" value={online} set={setOnline} values={["yes", "no"]} />
        <Filter name="Label" value={label} set={setLabel} values={choices(all, labelsOf)} />
        <span className="muted">
          {count(shown.length, "node")}
          {shown.length !== all.length && ` of ${all.length}`}
          {chosen.length > 0 && `, ${chosen.length} chosen`}
        </span>
        {mayOperate && (
          <div className="row">
            <Action name={show === "free" ? "Add to cluster…" : "Change roles…"} n={chosen.length} onClick={() => setDoing("assign")} />
            {show === "own" && <Action name="Plan on these…" n={chosen.length} onClick={() => setDoing("plan")} />}
            {show === "own" && <Action name="Take out…" n={chosen.length} onClick={() => setDoing("unassign")} />}
          </div>
        )}
      </div>
      {nodes.isPending && <LoadingRows />}
      {nodes.isError && <Problem error={nodes.error} retry={() => void nodes.refetch()} />}
      {nodes.isSuccess && shown.length === 0 && (
        <Empty title={all.length === 0 ? "No nodes here" : "No node matches"}>
          {all.length > 0 ? (
            "Change the filters above."
          ) : show === "own" ? (
            <button type="button" className="button" onClick={() => setShow("free")}>
              Show nodes that can be added
            </button>
          ) : (
            "Nodes appear when their agents join: see Admin, Tokens."
          )}
        </Empty>
      )}
      {shown.length > 0 && (
        <NodeTable
          nodes={shown}
          ticked={ticked}
          tick={mayOperate ? tick : undefined}
          areAllTicked={areAllTicked}
          tickAll={() => setTicked(new Set(areAllTicked ? [] : shown.map((node) => node.id)))}
        />
      )}
      {doing === "assign" && <AssignDialog cluster={cluster} nodes={chosen} onDone={finish} onClose={() => setDoing(null)} />}
      {doing === "unassign" && <UnassignDialog cluster={cluster} nodes={chosen} onDone={finish} onClose={() => setDoing(null)} />}
      {doing === "plan" && <PlanDialog cluster={cluster} nodes={chosen.map((node) => node.id)} onClose={() => setDoing(null)} />}
    </div>
  );
}

function Filter({ name, value, set, values }: { name: string; value: string; set: (value: string) => void; values: string[] }) {
  return (
    <select aria-label={name} value={value} onChange={(event) => set(event.target.value)}>
      <option value="">{name}: any</option>
      {values.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  );
}

function Action({ name, n, onClick }: { name: string; n: number; onClick: () => void }) {
  return (
    <button type="button" className="button small" disabled={n === 0} title={n === 0 ? "Tick nodes first" : undefined} onClick={onClick}>
      {name}
    </button>
  );
}

const ROW = 37;

/** Only rows on screen are in the page, however many nodes there are. */
function NodeTable({ nodes, ticked, tick, areAllTicked, tickAll }: {
  nodes: Node[];
  ticked: ReadonlySet<number>;
  tick?: (id: number) => void;
  areAllTicked: boolean;
  tickAll: () => void;
}) {
  const wrap = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({ count: nodes.length, getScrollElement: () => wrap.current, estimateSize: () => ROW, overscan: 12 });
  const items = rows.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = rows.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <div className="tablewrap" ref={wrap} style={{ maxHeight: "calc(100vh - 240px)", overflow: "auto" }}>
      <table aria-label="Nodes" aria-rowcount={nodes.length}>
        <thead style={{ position: "sticky", top: 0, zIndex: 1 }}>
          <tr>
            {tick && (
              <th>
                <input type="checkbox" aria-label="Tick all shown nodes" checked={areAllTicked} onChange={tickAll} />
              </th>
            )}
            <th>Node</th>
            <th>State</th>
            <th>Online</th>
            <th>Roles</th>
            <th>Labels</th>
            <th>Address</th>
          </tr>
        </thead>
        <tbody>
          {before > 0 && <tr aria-hidden="true" style={{ height: before }} />}
          {items.map((item) => {
            const node = nodes[item.index];
            return node && <NodeRow key={node.id} node={node} isTicked={ticked.has(node.id)} tick={tick} />;
          })}
          {after > 0 && <tr aria-hidden="true" style={{ height: after }} />}
        </tbody>
      </table>
    </div>
  );
}

function NodeRow({ node, isTicked, tick }: { node: Node; isTicked: boolean; tick?: (id: number) => void }) {
  return (
    <tr>
      {tick && (
        <td>
          <input type="checkbox" aria-label={`Tick node ${node.id}`} checked={isTicked} onChange={() => tick(node.id)} />
        </td>
      )}
      <td>
        <strong>{node.name}</strong> <span className="muted">#{node.id}</span>
      </td>
      <td>
        <Status status={statusOfNode(node.status)} word={node.status} />
        {node.error_msg && <span className="muted"> {node.error_msg}</span>}
      </td>
      <td>{node.online ? "yes" : <strong>no</strong>}</td>
      <td>
        <span className="row">
          {node.roles.map((role) => (
            <span key={role} className="chip">
              {role}
            </span>
          ))}
          {node.pending_roles.map((role) => (
            <span key={role} className="chip pending-chip" title="From the next run on">
              {role}
            </span>
          ))}
        </span>
      </td>
      <td>
        <span className="row">
          {labelsOf(node).map((label) => (
            <span key={label} className="chip">
              {label}
            </span>
          ))}
        </span>
      </td>
      <td className="mono">{node.ip ?? node.mac}</td>
    </tr>
  );
}
