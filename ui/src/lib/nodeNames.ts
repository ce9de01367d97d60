import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { nodesOf } from "../pages/cluster/nodeQueries";

/** What to call a node of a plan: its name where it is known, `master` and stages by what they are. */
export function useNodeNames(clusterId: number | null | undefined): (uid: string) => string {
  const nodes = useQuery({ ...nodesOf(clusterId ?? 0), enabled: clusterId != null, staleTime: 60_000 });
  const names = useMemo(() => new Map(nodes.data?.map((node) => [String(node.id), node.name])), [nodes.data]);
  return useCallback((uid: string) => (uid === "sync" || uid === "-" ? "stages" : (names.get(uid) ?? uid)), [names]);
}
