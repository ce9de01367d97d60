import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useDeferredValue, useRef, useState } from "react";
import { useMay } from "../../app/identity";
import { LoadingRows } from "../../components/Loading";
import { Empty } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { Status } from "../../components/Status";
import { count } from "../../lib/format";
import { choices, hasFilter, labelsOf, type Node, type NodeFilter } from "../../lib/nodes";
import { useParam } from "../../lib/params";
import { statusOfNode } from "../../lib/status";
import { AssignDialog, UnassignDialog } from "./AssignDialog";
import { useCluster } from "./Cluster";
import { allNodes, NODE_PAGE, nodeKinds, nodePage } from "./nodeQueries";
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
  const [ticked, setTicked] = useState<ReadonlyMap<number, Node>>(new Map());
  // Those that are not shown have to be asked for; the tick is there at once.
  const [isTicking, setTicking] = useState(false);
  const [doing, setDoing] = useState<Doing>(null);
  const mayOperate = useMay("operate");
  const queries = useQueryClient();
  const of = show === "free" ? "" : cluster.id;
  const kinds = useQuery(nodeKinds(of));
  const sought = useDeferredValue(search);
  const filter: NodeFilter = { cluster: of, search: sought, role, status, online, label };
  const first = useQuery(nodePage(filter, 0));
  const total = first.data?.total ?? 0;
  const chosen = [...ticked.values()];
  const areAllTicked = total > 0 && ticked.size === total;
  const tick = (node: Node) =>
    setTicked((now) => {
      const next = new Map(now);
      if (!next.delete(node.id)) next.set(node.id, node);
      return next;
    });
  const tickAll = async () => {
    if (areAllTicked) return setTicked(new Map());
    setTicking(true);
    try {
      const all = await queries.fetchQuery(allNodes(filter));
      setTicked(new Map(all.map((node) => [node.id, node])));
    } finally {
      setTicking(false);
    }
  };
  const finish = () => {
    setDoing(null);
    setTicked(new Map());
  };
  const choose = (value: string) => {
    setTicked(new Map());
    setShow(value);
  };
  return (
    <div className="stack tight">
      <div className="toolbar" role="search" aria-label="Nodes">
        <select aria-label="Which nodes" value={show} onChange={(event) => choose(event.target.value)}>
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
        <Filter name="Role" value={role} set={setRole} values={choices(kinds.data?.roles)} />
        <Filter name="Status" value={status} set={setStatus} values={choices(kinds.data?.statuses)} />
        <Filter name="Online" value={online} set={setOnline} values={["yes", "no"]} />
        <Filter name="Label" value={label} set={setLabel} values={choices(kinds.data?.labels)} />
        <span className="muted">
          {first.data && count(total, "node")}
          {first.data && kinds.data && total !== kinds.data.total && ` of ${kinds.data.total.toLocaleString("en-US")}`}
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
      {first.isPending && <LoadingRows />}
      {first.isError && <Problem error={first.error} retry={() => void first.refetch()} />}
      {first.isSuccess && total === 0 && (
        <Empty title={hasFilter(filter) ? "No node matches" : "No nodes here"}>
          {hasFilter(filter) ? (
            "Change the filters above."
          ) : show === "own" ? (
            <button type="button" className="button" onClick={() => choose("free")}>
              Show nodes that can be added
            </button>
          ) : (
            "Nodes appear when their agents join: see Admin, Tokens."
          )}
        </Empty>
      )}
      {total > 0 && (
        <NodeTable
          filter={filter}
          total={total}
          ticked={ticked}
          tick={mayOperate ? tick : undefined}
          areAllTicked={areAllTicked || isTicking}
          tickAll={() => void tickAll()}
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

/** Only rows on screen are in the page, and only their pages are asked for, however many nodes there are. */
function NodeTable({ filter, total, ticked, tick, areAllTicked, tickAll }: {
  filter: NodeFilter;
  total: number;
  ticked: ReadonlyMap<number, Node>;
  tick?: (node: Node) => void;
  areAllTicked: boolean;
  tickAll: () => void;
}) {
  const wrap = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({ count: total, getScrollElement: () => wrap.current, estimateSize: () => ROW, overscan: 12 });
  const items = rows.getVirtualItems();
  const pages = [...new Set(items.map((item) => Math.floor(item.index / NODE_PAGE)))];
  const loaded = useQueries({ queries: pages.map((number) => nodePage(filter, number)) });
  const nodeAt = (index: number) => loaded[pages.indexOf(Math.floor(index / NODE_PAGE))]?.data?.items[index % NODE_PAGE];
  const before = items[0]?.start ?? 0;
  const after = rows.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <div className="tablewrap" ref={wrap} style={{ maxHeight: "calc(100vh - 240px)", overflow: "auto" }}>
      <table aria-label="Nodes" aria-rowcount={total}>
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
            const node = nodeAt(item.index);
            if (!node) return <tr key={`row ${item.index}`} aria-hidden="true" style={{ height: ROW }} />;
            return <NodeRow key={node.id} node={node} isTicked={ticked.has(node.id)} tick={tick} />;
          })}
          {after > 0 && <tr aria-hidden="true" style={{ height: after }} />}
        </tbody>
      </table>
    </div>
  );
}

function NodeRow({ node, isTicked, tick }: { node: Node; isTicked: boolean; tick?: (node: Node) => void }) {
  return (
    <tr>
      {tick && (
        <td>
          <input type="checkbox" aria-label={`Tick node ${node.id}`} checked={isTicked} onChange={() => tick(node)} />
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
