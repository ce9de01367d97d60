import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, page } from "../api/client";
import { useNodeNames } from "../lib/nodeNames";

/** So many can be chosen from without a search. */
const OFFERED = 100;

/** One node, of a cluster or of any. Among many it is searched for: a list of ten thousand helps nobody. */
export function NodePicker({ id, label, cluster, node, choose }: {
  id: string;
  label: string;
  cluster?: string;
  node: string;
  choose: (node: string) => void;
}) {
  const [search, setSearch] = useState("");
  const query = { ...(cluster && { cluster_id: cluster }), ...(search && { search }), order_by: "id", limit: OFFERED };
  const found = useQuery({
    queryKey: ["nodes", "offered", query],
    queryFn: () => page(api.GET("/api/v1/nodes", { params: { query } })),
    placeholderData: keepPreviousData,
  });
  const nameOf = useNodeNames(node ? [node] : []);
  const total = found.data?.total ?? 0;
  const offered = (found.data?.items ?? []).filter((one) => one.cluster != null);
  const isOffered = offered.some((one) => String(one.id) === node);
  return (
    <div className="row">
      {(total > OFFERED || search !== "") && (
        <input type="search" aria-label={`Search for ${label.toLowerCase()}`} placeholder="Search" value={search} onChange={(event) => setSearch(event.target.value)} />
      )}
      <select id={id} aria-label={label} value={node} onChange={(event) => choose(event.target.value)}>
        <option value="">{total > OFFERED ? `first ${OFFERED} of ${total.toLocaleString("en-US")}` : "choose a node"}</option>
        {node !== "" && !isOffered && <option value={node}>{nameOf(node)}</option>}
        {offered.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
      </select>
    </div>
  );
}
