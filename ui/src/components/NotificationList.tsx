import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, data, page } from "../api/client";
import { usePermission } from "../app/identity";
import { count } from "../lib/format";
import { pathOf, statusOfTopic, TOPICS } from "../lib/notifications";
import { useParam } from "../lib/params";
import { LoadingRows } from "./Loading";
import { EmptyState } from "./PageHead";
import { Problem } from "./Problem";
import { Status } from "./Status";
import { Time } from "./Time";
import { MessageText } from "./MessageText";

const PAGE = 50;

/** Notifications about runs and nodes, newest first, paginated by the server. */
export function NotificationList() {
  const queries = useQueryClient();
  const canMark = usePermission("operate");
  const [topic, setTopic] = useParam("topic", "");
  const [show, setShow] = useParam("show", "");
  const [offset, setOffset] = useParam("offset", "0");
  const start = Number(offset);
  const query = { limit: PAGE, offset: start, ...(topic && { topic }), ...(show && { status: show }) };
  const notifications = useQuery({
    queryKey: ["notifications", query],
    queryFn: () => page(api.GET("/api/v1/notifications", { params: { query } })),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  const mark = useMutation({
    mutationFn: (ids: number[] | undefined) => data(api.PUT("/api/v1/notifications", { body: { status: "read", ...(ids && { ids }) } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["notifications"] }),
  });
  const items = notifications.data?.items ?? [];
  return (
    <section className="stack tight" aria-label="Notifications">
      <div className="toolbar">
        <select aria-label="Topic" value={topic} onChange={(event) => setTopic(event.target.value)}>
          <option value="">All topics</option>
          {TOPICS.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <select aria-label="Read or unread" value={show} onChange={(event) => setShow(event.target.value)}>
          <option value="">Read and unread</option>
          <option value="unread">Unread</option>
          <option value="read">Read</option>
        </select>
        <span className="muted grow">{notifications.data && count(notifications.data.total, "notification")}</span>
        <button type="button" className="button small" disabled={start === 0} onClick={() => setOffset(String(Math.max(0, start - PAGE)))}>
          Newer
        </button>
        <button type="button" className="button small" disabled={!notifications.data || start + PAGE >= notifications.data.total} onClick={() => setOffset(String(start + PAGE))}>
          Older
        </button>
        {canMark && (
          <button type="button" className="button small" disabled={mark.isPending || items.length === 0} onClick={() => mark.mutate(undefined)}>
            Mark all as read
          </button>
        )}
      </div>
      {notifications.isPending && <LoadingRows />}
      {notifications.isError && <Problem error={notifications.error} retry={() => void notifications.refetch()} />}
      {mark.isError && <Problem title="Not marked as read" error={mark.error} />}
      {notifications.data && items.length === 0 && (
        <EmptyState title="No notifications">Runs that start or end, and nodes that are lost or recover, are listed here.</EmptyState>
      )}
      {items.length > 0 && (
        <div className="tablewrap">
          <table aria-label="Notifications">
            <thead>
              <tr>
                <th>Time</th>
                <th>Topic</th>
                <th>Message</th>
                <th aria-label="Actions" />
              </tr>
            </thead>
            <tbody>
              {items.map((item) => {
                const path = pathOf(item);
                const text = <MessageText text={item.message} />;
                const message = item.status === "unread" ? <strong>{text}</strong> : text;
                return (
                  <tr key={item.id}>
                    <td>
                      <Time at={item.at} />
                    </td>
                    <td>
                      <Status status={statusOfTopic(item.topic)} label={item.topic} />
                    </td>
                    <td>{path ? <Link to={path}>{message}</Link> : message}</td>
                    <td>
                      {canMark && item.status === "unread" && (
                        <button type="button" className="button small" aria-label={`Mark notification ${item.id} as read`} onClick={() => mark.mutate([item.id])}>
                          Mark as read
                        </button>
                      )}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
