import { queryOptions } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import type { HistoryRow } from "../../lib/gantt";

/** Records of a part of a run; which ones, the query says. */
export const historyOf = (partId: number, query: { nodes?: string; statuses?: string; tasks_names?: string; include_summary?: string }) =>
  queryOptions({
    queryKey: ["runs", "one", partId, "history", query],
    queryFn: async () =>
      (await data(api.GET("/api/v1/transactions/{id}/deployment_history", { params: { path: { id: partId }, query } }))) as unknown as HistoryRow[],
  });
