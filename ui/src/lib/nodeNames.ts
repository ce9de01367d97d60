import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, data } from "../api/client";

/** Display name of a node of a plan. Stages have the pseudo-node `sync` (`-` in history). */
export function displayName(uid: string, name = uid): string {
  return uid === "sync" || uid === "-" ? "stages" : name;
}

/**
 * Distinct numeric node IDs. The pseudo-nodes of the master and of stages are left out: they have no record.
 */
export function nodeIds(uids: readonly string[]): string[] {
  return [...new Set(uids.filter((uid) => /^\d+$/.test(uid)))].toSorted((a, b) => Number(a) - Number(b));
}

/** Names of some nodes of a plan. Fetches only these: a cluster may have ten thousand nodes. */
export function useNodeNames(uids: readonly string[]): (uid: string) => string {
  const ids = nodeIds(uids).join(",");
  const nodes = useQuery({
    queryKey: ["nodes", "named", ids],
    queryFn: () => data(api.GET("/api/v1/nodes", { params: { query: { ids } } })),
    enabled: ids !== "",
    staleTime: 60_000,
  });
  return useMemo(() => {
    const names = new Map(nodes.data?.map((node) => [String(node.id), node.name]));
    return (uid: string) => displayName(uid, names.get(uid));
  }, [nodes.data]);
}
