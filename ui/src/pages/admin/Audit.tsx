import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, page } from "../../api/client";
import { LoadingRows } from "../../components/Loading";
import { EmptyState } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { Time } from "../../components/Time";
import { count } from "../../lib/format";
import { summarize } from "../../lib/json";
import { useParam } from "../../lib/params";

const PAGE = 100;

export default function Audit() {
  const [action, setAction] = useParam("action", "");
  const [target, setTarget] = useParam("target", "");
  const [offset, setOffset] = useParam("offset", "0");
  const start = Number(offset);
  const entries = useQuery({
    queryKey: ["audit", action, target, start],
    queryFn: () =>
      page(api.GET("/api/v1/audit", { params: { query: { limit: PAGE, offset: start, ...(action && { action }), ...(target && { target }) } } })),
    placeholderData: keepPreviousData,
  });
  return (
    <div className="stack tight">
      <div className="toolbar">
        <input type="search" aria-label="Filter by action" placeholder="Action, e.g. cluster.create" value={action} onChange={(event) => setAction(event.target.value)} />
        <input type="search" aria-label="Filter by target" placeholder="Target, e.g. cluster 1" value={target} onChange={(event) => setTarget(event.target.value)} />
        <span className="muted grow">{entries.data && count(entries.data.total, "entry", "entries")}</span>
        <button type="button" className="button small" disabled={start === 0} onClick={() => setOffset(String(Math.max(0, start - PAGE)))}>
          Newer
        </button>
        <button type="button" className="button small" disabled={!entries.data || start + PAGE >= entries.data.total} onClick={() => setOffset(String(start + PAGE))}>
          Older
        </button>
      </div>
      {entries.isPending && <LoadingRows />}
      {entries.isError && <Problem error={entries.error} retry={() => void entries.refetch()} />}
      {entries.data?.items.length === 0 && <EmptyState title="No matching entries">Change or clear the filters above.</EmptyState>}
      {entries.data && entries.data.items.length > 0 && (
        <div className="tablewrap">
          <table aria-label="Audit log">
            <thead>
              <tr>
                <th>Time</th>
                <th>User</th>
                <th>Action</th>
                <th>Target</th>
                <th>Details</th>
                <th>Source address</th>
              </tr>
            </thead>
            <tbody>
              {entries.data.items.map((entry) => (
                <tr key={entry.id}>
                  <td>
                    <Time at={entry.at} />
                  </td>
                  <td>{entry.user_name}</td>
                  <td>
                    <code>{entry.action}</code>
                  </td>
                  <td>{entry.target}</td>
                  <td className="muted" title={JSON.stringify(entry.detail)}>
                    {summarize(entry.detail)}
                  </td>
                  <td className="muted">{entry.address}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}
