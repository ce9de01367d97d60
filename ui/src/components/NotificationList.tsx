import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, data, page } from "../api/client";
import { useMay } from "../app/identity";
import { count } from "../lib/format";
import { placeOf, statusOfTopic, TOPICS } from "../lib/notifications";
import { useParam } from "../lib/params";
import { LoadingRows } from "./Loading";
import { Empty } from "./PageHead";
import { Problem } from "./Problem";
import { Status } from "./Status";
import { Time } from "./Time";
import { Words } from "./Words";

const PAGE = 50;

/** What happened to runs and nodes, the newest first. */
export function NotificationList() {
  const queries = useQueryClient();
  const mayMark = useMay("operate");
  const [topic, setTopic] = useParam("topic", "");
  const [show, setShow] = useParam("show", "");
  const [offset, setOffset] = useParam("offset", "0");
  const start = Number(offset);
  const query = { limit: PAGE, offset: start, ...(topic && { topic }), ...(show && { status: show }) };
  const news = useQuery({
    queryKey: ["notifications", query],
    queryFn: () => page(api.GET("/api/v1/notifications", { params: { query } })),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  const mark = useMutation({
    mutationFn: (ids: number[] | undefined) => data(api.PUT("/api/v1/notifications", { body: { status: "read", ...(ids && { ids }) } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["notifications"] }),
  });
  const items = news.data?.items ?? [];
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
        <span className="muted grow">{news.data && count(news.data.total, "notification")}</span>
        <button type="button" className="button small" disabled={start === 0} onClick={() => setOffset(String(Math.max(0, start - PAGE)))}>
          Newer
        </button>
        <button type="button" className="button small" disabled={!news.data || start + PAGE >= news.data.total} onClick={() => setOffset(String(start + PAGE))}>
          Older
        </button>
        {mayMark && (
          <button type="button" className="button small" disabled={mark.isPending || items.length === 0} onClick={() => mark.mutate(undefined)}>
            Mark all as read
          </button>
        )}
      </div>
      {news.isPending && <LoadingRows />}
      {news.isError && <Problem error={news.error} retry={() => void news.refetch()} />}
      {mark.isError && <Problem title="Not marked" error={mark.error} />}
      {news.data && items.length === 0 && (
        <Empty title="Nothing happened">Runs that start and end, and nodes that are lost or back, are told here.</Empty>
      )}
      {items.length > 0 && (
        <div className="tablewrap">
          <table aria-label="Notifications">
            <thead>
              <tr>
                <th>When</th>
                <th>What</th>
                <th>Message</th>
                <th aria-label="Actions" />
              </tr>
            </thead>
            <tbody>
              {items.map((item) => {
                const place = placeOf(item);
                const words = <Words text={item.message} />;
                const message = item.status === "unread" ? <strong>{words}</strong> : words;
                return (
                  <tr key={item.id}>
                    <td>
                      <Time at={item.at} />
                    </td>
                    <td>
                      <Status status={statusOfTopic(item.topic)} word={item.topic} />
                    </td>
                    <td>{place ? <Link to={place}>{message}</Link> : message}</td>
                    <td>
                      {mayMark && item.status === "unread" && (
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
