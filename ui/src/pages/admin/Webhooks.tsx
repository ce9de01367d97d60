import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { api, data, type Schemas } from "../../api/client";
import { Confirm } from "../../components/Confirm";
import { DataTable } from "../../components/DataTable";
import { LoadingRows } from "../../components/Loading";
import { Empty } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { Status } from "../../components/Status";
import { Time } from "../../components/Time";
import { TOPICS } from "../../lib/notifications";

const STATE: Record<string, "success" | "failed" | "pending"> = { delivered: "success", failed: "failed" };

/** Addresses that are told what happens, and what came of it. */
export function Webhooks() {
  const queries = useQueryClient();
  const webhooks = useQuery({ queryKey: ["webhooks"], queryFn: () => data(api.GET("/api/v1/webhooks")) });
  const [leaving, setLeaving] = useState<Schemas["Webhook"]>();
  const [shown, setShown] = useState<number>();
  const onSuccess = () => queries.invalidateQueries({ queryKey: ["webhooks"] });
  const enable = useMutation({
    mutationFn: ({ id, enabled }: { id: number; enabled: boolean }) =>
      data(api.PUT("/api/v1/webhooks/{id}", { params: { path: { id } }, body: { enabled } })),
    onSuccess,
  });
  const test = useMutation({
    mutationFn: (id: number) => data(api.POST("/api/v1/webhooks/{id}/test", { params: { path: { id } } })),
    onSuccess: async (_, id) => {
      setShown(id);
      await queries.invalidateQueries({ queryKey: ["deliveries", id] });
    },
  });
  const remove = useMutation({
    mutationFn: (id: number) => data(api.DELETE("/api/v1/webhooks/{id}", { params: { path: { id } } })),
    onSuccess: async () => {
      setLeaving(undefined);
      await onSuccess();
    },
  });
  const error = webhooks.error ?? enable.error ?? test.error;
  return (
    <section className="stack" aria-labelledby="t-webhooks">
      <h2 id="t-webhooks">Webhooks</h2>
      {error && <Problem error={error} />}
      {webhooks.isPending && <LoadingRows rows={2} />}
      {webhooks.data?.length === 0 && <Empty title="No webhook">Make one below to have a program told what happens.</Empty>}
      {webhooks.data && webhooks.data.length > 0 && (
        <DataTable
          label="Webhooks"
          rows={webhooks.data}
          rowKey={(webhook) => webhook.id}
          columns={[
            { id: "name", name: "Webhook", sort: (webhook) => webhook.name, cell: (webhook) => <strong>{webhook.name}</strong> },
            { id: "url", name: "Address", cell: (webhook) => <code>{webhook.url}</code> },
            { id: "topics", name: "Told of", cell: (webhook) => webhook.topics.join(", ") || "everything" },
            { id: "cluster", name: "Cluster", cell: (webhook) => webhook.cluster ?? "all" },
            {
              id: "enabled",
              name: "Enabled",
              cell: (webhook) => (
                <input
                  type="checkbox"
                  aria-label={`${webhook.name} is enabled`}
                  checked={webhook.enabled}
                  onChange={(event) => enable.mutate({ id: webhook.id, enabled: event.target.checked })}
                />
              ),
            },
            {
              id: "actions",
              name: "",
              cell: (webhook) => (
                <div className="row">
                  <button type="button" className="button small" disabled={!webhook.enabled} aria-label={`Test ${webhook.name}`} onClick={() => test.mutate(webhook.id)}>
                    Test
                  </button>
                  <button type="button" className="button small" aria-label={`Deliveries of ${webhook.name}`} onClick={() => setShown(webhook.id)}>
                    Deliveries
                  </button>
                  <button type="button" className="button small" aria-label={`Delete ${webhook.name}`} onClick={() => setLeaving(webhook)}>
                    Delete…
                  </button>
                </div>
              ),
            },
          ]}
        />
      )}
      {shown !== undefined && <Deliveries webhook={shown} />}
      <NewWebhook onMade={onSuccess} />
      {leaving && (
        <Confirm
          title={`Delete webhook ${leaving.name}?`}
          action="Delete"
          error={remove.error}
          onConfirm={() => remove.mutate(leaving.id)}
          onClose={() => setLeaving(undefined)}
        >
          It is told nothing any more, what waits for it included.
        </Confirm>
      )}
    </section>
  );
}

function Deliveries({ webhook }: { webhook: number }) {
  const queries = useQueryClient();
  const deliveries = useQuery({
    queryKey: ["deliveries", webhook],
    queryFn: () => data(api.GET("/api/v1/webhooks/{id}/deliveries", { params: { path: { id: webhook }, query: { limit: 20 } } })),
    refetchInterval: 2_000,
  });
  const again = useMutation({
    mutationFn: (delivery: number) =>
      data(api.POST("/api/v1/webhooks/{id}/deliveries/{delivery}/redeliver", { params: { path: { id: webhook, delivery } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["deliveries", webhook] }),
  });
  if (deliveries.isPending) return <LoadingRows rows={2} />;
  const error = deliveries.error ?? again.error;
  if (error) return <Problem error={error} />;
  if (deliveries.data?.length === 0) return <Empty title="It was told nothing yet">Test it to see whether it works.</Empty>;
  return (
    <DataTable
      label="Deliveries"
      rows={deliveries.data ?? []}
      rowKey={(delivery) => delivery.id}
      columns={[
        { id: "id", name: "Delivery", cell: (delivery) => `#${delivery.id}` },
        { id: "topic", name: "Topic", cell: (delivery) => delivery.topic },
        { id: "status", name: "State", cell: (delivery) => <Status status={STATE[delivery.status] ?? "pending"} word={delivery.status} /> },
        { id: "attempts", name: "Tries", cell: (delivery) => delivery.attempts, isNumber: true },
        { id: "tried", name: "Last try", cell: (delivery) => <Time at={delivery.tried_at} /> },
        { id: "problem", name: "Answer", cell: (delivery) => delivery.problem ?? delivery.answer ?? "–" },
        {
          id: "actions",
          name: "",
          cell: (delivery) => (
            <button type="button" className="button small" aria-label={`Send delivery ${delivery.id} again`} onClick={() => again.mutate(delivery.id)}>
              Send again
            </button>
          ),
        },
      ]}
    />
  );
}

function NewWebhook({ onMade }: { onMade: () => Promise<unknown> }) {
  const [name, setName] = useState("");
  const [url, setUrl] = useState("");
  const [topics, setTopics] = useState<string[]>([]);
  const make = useMutation({
    mutationFn: () => data(api.POST("/api/v1/webhooks", { body: { name, url, topics } })),
    onSuccess: async () => {
      setName("");
      setUrl("");
      setTopics([]);
      await onMade();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <form className="card stack tight" aria-label="New webhook" onSubmit={submit} style={{ maxWidth: 640 }}>
      <h3>New webhook</h3>
      <div className="field">
        <label htmlFor="webhook-name">Name</label>
        <input id="webhook-name" type="text" required maxLength={255} value={name} onChange={(event) => setName(event.target.value)} />
      </div>
      <div className="field">
        <label htmlFor="webhook-url">Address</label>
        <input id="webhook-url" required type="url" placeholder="https://chat.example/hooks/stoker" value={url} onChange={(event) => setUrl(event.target.value)} />
      </div>
      <fieldset className="field" style={{ border: 0, margin: 0, padding: 0 }}>
        <legend className="fieldname">Told of</legend>
        <div className="choices">
          {TOPICS.map((topic) => (
            <label className="check" key={topic}>
              <input type="checkbox" checked={topics.includes(topic)} onChange={() => setTopics((now) => (now.includes(topic) ? now.filter((one) => one !== topic) : [...now, topic]))} />
              <span>{topic}</span>
            </label>
          ))}
        </div>
        <span className="hint">Nothing ticked: everything.</span>
      </fieldset>
      {make.isError && <Problem title="Not made" error={make.error} />}
      {make.data?.secret && (
        <p role="status">
          Its secret, which is shown only once: <code>{make.data.secret}</code>
        </p>
      )}
      <div>
        <button type="submit" className="button primary" disabled={make.isPending}>
          Make webhook
        </button>
      </div>
    </form>
  );
}
