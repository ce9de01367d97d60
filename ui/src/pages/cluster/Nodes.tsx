import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useDeferredValue, useRef, useState } from "react";
import { usePermission } from "../../app/identity";
import { LoadingRows } from "../../components/Loading";
import { EmptyState } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { Status } from "../../components/Status";
import { count } from "../../lib/format";
import { filterOptions, hasFilter, labelsOf, type Node, type NodeFilter } from "../../lib/nodes";
import { useParam } from "../../lib/params";
import { statusOfNode } from "../../lib/status";
import { AssignDialog, ReplaceDialog, UnassignDialog } from "./AssignDialog";
import { useCluster } from "./Cluster";
import { allNodes, NODE_PAGE, nodeStats, nodePage } from "./nodeQueries";
import { PlanDialog } from "./PlanDialog";

type OpenDialog = "assign" | "unassign" | "replace" | "plan" | null;

export default function Nodes() {
  const cluster = useCluster();
  const [show, setShow] = useParam("show", "own");
  const [search, setSearch] = useParam("q", "");
  const [role, setRole] = useParam("role", "");
  const [status, setStatus] = useParam("status", "");
  const [online, setOnline] = useParam("online", "");
  const [label, setLabel] = useParam("label", "");
  const [selected, setSelected] = useState<ReadonlyMap<number, Node>>(new Map());
  // While all matching nodes are fetched, the checkbox is already checked.
  const [isSelectingAll, setSelectingAll] = useState(false);
  const [openDialog, setOpenDialog] = useState<OpenDialog>(null);
  const canOperate = usePermission("operate");
  const queries = useQueryClient();
  const clusterFilter = show === "free" ? "" : cluster.id;
  const stats = useQuery(nodeStats(clusterFilter));
  const deferredSearch = useDeferredValue(search);
  const filter: NodeFilter = { cluster: clusterFilter, search: deferredSearch, role, status, online, label };
  const first = useQuery(nodePage(filter, 0));
  const total = first.data?.total ?? 0;
  const selectedNodes = [...selected.values()];
  const areAllSelected = total > 0 && selected.size === total;
  const toggle = (node: Node) =>
    setSelected((previous) => {
      const next = new Map(previous);
      if (!next.delete(node.id)) next.set(node.id, node);
      return next;
    });
  const toggleAll = async () => {
    if (areAllSelected) return setSelected(new Map());
    setSelectingAll(true);
    try {
      const nodes = await queries.fetchQuery(allNodes(filter));
      setSelected(new Map(nodes.map((node) => [node.id, node])));
    } finally {
      setSelectingAll(false);
    }
  };
  const closeDialog = () => {
    setOpenDialog(null);
    setSelected(new Map());
  };
  const switchList = (value: string) => {
    setSelected(new Map());
    setShow(value);
  };
  return (
    <div className="stack tight">
      <div className="toolbar" role="search" aria-label="Nodes">
        <select aria-label="Nodes to list" value={show} onChange={(event) => switchList(event.target.value)}>
          <option value="own">In this cluster</option>
          <option value="free">Unassigned</option>
        </select>
        <input
          type="search"
          aria-label="Search nodes"
          placeholder="Name, address, role, label"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        <Filter name="Role" value={role} set={setRole} values={filterOptions(stats.data?.roles)} />
        <Filter name="Status" value={status} set={setStatus} values={filterOptions(stats.data?.statuses)} />
        <Filter name="Online" value={online} set={setOnline} values={["yes", "no"]} />
        <Filter name="Label" value={label} set={setLabel} values={filterOptions(stats.data?.labels)} />
        <span className="muted">
          {first.data && count(total, "node")}
          {first.data && stats.data && total !== stats.data.total && ` of ${stats.data.total.toLocaleString("en-US")}`}
          {selectedNodes.length > 0 && `, ${selectedNodes.length} selected`}
        </span>
        {canOperate && (
          <div className="row">
            <Action name={show === "free" ? "Add to cluster…" : "Change roles…"} n={selectedNodes.length} onClick={() => setOpenDialog("assign")} />
            {show === "own" && <Action name="Plan on selected nodes…" n={selectedNodes.length} onClick={() => setOpenDialog("plan")} />}
            {show === "own" && <Action name="Replace machine…" n={selectedNodes.length} onClick={() => setOpenDialog("replace")} />}
            {show === "own" && <Action name="Remove from cluster…" n={selectedNodes.length} onClick={() => setOpenDialog("unassign")} />}
          </div>
        )}
      </div>
      {first.isPending && <LoadingRows />}
      {first.isError && <Problem error={first.error} retry={() => void first.refetch()} />}
      {first.isSuccess && total === 0 && (
        <EmptyState title={hasFilter(filter) ? "No matching nodes" : show === "own" ? "No nodes in this cluster" : "No unassigned nodes"}>
          {hasFilter(filter) ? (
            "Change or clear the filters above."
          ) : show === "own" ? (
            <button type="button" className="button" onClick={() => switchList("free")}>
              Show unassigned nodes
            </button>
          ) : (
            "Nodes appear here when their agents join. Create a join token in Admin, Tokens."
          )}
        </EmptyState>
      )}
      {total > 0 && (
        <NodeTable
          filter={filter}
          total={total}
          selected={selected}
          toggle={canOperate ? toggle : undefined}
          areAllSelected={areAllSelected || isSelectingAll}
          toggleAll={() => void toggleAll()}
        />
      )}
      {openDialog === "assign" && <AssignDialog cluster={cluster} nodes={selectedNodes} onDone={closeDialog} onClose={() => setOpenDialog(null)} />}
      {openDialog === "unassign" && <UnassignDialog cluster={cluster} nodes={selectedNodes} onDone={closeDialog} onClose={() => setOpenDialog(null)} />}
      {openDialog === "replace" && <ReplaceDialog nodes={selectedNodes} onDone={closeDialog} onClose={() => setOpenDialog(null)} />}
      {openDialog === "plan" && <PlanDialog cluster={cluster} nodes={selectedNodes.map((node) => node.id)} onClose={() => setOpenDialog(null)} />}
    </div>
  );
}

function Filter({ name, value, set, values }: { name: string; value: string; set: (value: string) => void; values: string[] }) {
  return (
    <select aria-label={name} value={value} onChange={(event) => set(event.target.value)}>
      <option value="">{name}: any</option>
      {values.map((option) => (
        <option key={option} value={option}>
          {option}
        </option>
      ))}
    </select>
  );
}

function Action({ name, n, onClick }: { name: string; n: number; onClick: () => void }) {
  return (
    <button type="button" className="button small" disabled={n === 0} title={n === 0 ? "Select nodes first" : undefined} onClick={onClick}>
      {name}
    </button>
  );
}

/** Height of a row in pixels. */
const ROW = 37;

/** Virtualized table: only visible rows are rendered, and only their pages are fetched. */
function NodeTable({ filter, total, selected, toggle, areAllSelected, toggleAll }: {
  filter: NodeFilter;
  total: number;
  selected: ReadonlyMap<number, Node>;
  toggle?: (node: Node) => void;
  areAllSelected: boolean;
  toggleAll: () => void;
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
    <div className="tablewrap" ref={wrap} role="region" aria-label="Node list" tabIndex={0} style={{ maxHeight: "calc(100vh - 240px)", overflow: "auto" }}>
      <table aria-label="Nodes" aria-rowcount={total}>
        <thead style={{ position: "sticky", top: 0, zIndex: 1 }}>
          <tr>
            {toggle && (
              <th className="checkbox">
                <input type="checkbox" aria-label="Select all listed nodes" checked={areAllSelected} onChange={toggleAll} />
              </th>
            )}
            <th>Node</th>
            <th>Status</th>
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
            return <NodeRow key={node.id} node={node} isSelected={selected.has(node.id)} toggle={toggle} />;
          })}
          {after > 0 && <tr aria-hidden="true" style={{ height: after }} />}
        </tbody>
      </table>
    </div>
  );
}

function NodeRow({ node, isSelected, toggle }: { node: Node; isSelected: boolean; toggle?: (node: Node) => void }) {
  return (
    <tr>
      {toggle && (
        <td className="checkbox">
          <input type="checkbox" aria-label={`Select node ${node.id}`} checked={isSelected} onChange={() => toggle(node)} />
        </td>
      )}
      <td>
        <strong>{node.name}</strong> <span className="muted">#{node.id}</span>
      </td>
      <td>
        <Status status={statusOfNode(node.status)} label={node.status} />
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
            <span key={role} className="chip pending-chip" title="Takes effect with the next run">
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
