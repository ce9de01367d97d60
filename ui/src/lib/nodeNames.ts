import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, data } from "../api/client";

/** `master` and stages are called by what they are. */
export function calledOf(uid: string, name = uid): string {
  return uid === "sync" || uid === "-" ? "stages" : name;
}

/** The nodes among those that a plan names: the master and stages have no record. */
export function idsOf(uids: readonly string[]): string[] {
  return [...new Set(uids.filter((uid) => /^\d+$/.test(uid)))].toSorted((a, b) => Number(a) - Number(b));
}

/** What to call some nodes of a plan. Only these are asked for: a cluster may have ten thousand. */
export function useNodeNames(uids: readonly string[]): (uid: string) => string {
  const ids = idsOf(uids).join(",");
  const nodes = useQuery({
    queryKey: ["nodes", "named", ids],
    queryFn: () => data(api.GET("/api/v1/nodes", { params: { query: { ids } } })),
    enabled: ids !== "",
    staleTime: 60_000,
  });
  return useMemo(() => {
    const names = new Map(nodes.data?.map((node) => [String(node.id), node.name]));
    return (uid: string) => calledOf(uid, names.get(uid));
  }, [nodes.data]);
}
