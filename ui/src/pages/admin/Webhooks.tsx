import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { api, data, type Schemas } from "../../api/client";
import { Confirm } from "../../components/Confirm";
import { DataTable } from "../../components/DataTable";
import { LoadingRows } from "../../components/Loading";
import { EmptyState } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { Status } from "../../components/Status";
import { Time } from "../../components/Time";
import { TOPICS } from "../../lib/notifications";

const DELIVERY_STATUS: Record<string, "success" | "failed" | "pending"> = { delivered: "success", failed: "failed" };

/** Webhooks and their latest deliveries. */
export function Webhooks() {
  const queries = useQueryClient();
  const webhooks = useQuery({ queryKey: ["webhooks"], queryFn: () => data(api.GET("/api/v1/webhooks")) });
  const [webhookToDelete, setWebhookToDelete] = useState<Schemas["Webhook"]>();
  const [openWebhook, setOpenWebhook] = useState<number>();
  const onSuccess = () => queries.invalidateQueries({ queryKey: ["webhooks"] });
  const enable = useMutation({
    mutationFn: ({ id, enabled }: { id: number; enabled: boolean }) =>
      data(api.PUT("/api/v1/webhooks/{id}", { params: { path: { id } }, body: { enabled } })),
    onSuccess,
  });
  const test = useMutation({
    mutationFn: (id: number) => data(api.POST("/api/v1/webhooks/{id}/test", { params: { path: { id } } })),
    onSuccess: async (_, id) => {
      setOpenWebhook(id);
      await queries.invalidateQueries({ queryKey: ["deliveries", id] });
    },
  });
  const remove = useMutation({
    mutationFn: (id: number) => data(api.DELETE("/api/v1/webhooks/{id}", { params: { path: { id } } })),
    onSuccess: async () => {
      setWebhookToDelete(undefined);
      await onSuccess();
    },
  });
  const error = webhooks.error ?? enable.error ?? test.error;
  return (
    <section className="stack" aria-labelledby="t-webhooks">
      <h2 id="t-webhooks">Webhooks</h2>
      {error && <Problem error={error} />}
      {webhooks.isPending && <LoadingRows rows={2} />}
      {webhooks.data?.length === 0 && <EmptyState title="No webhooks yet">Create a webhook below to send messages about runs and nodes to an HTTP endpoint.</EmptyState>}
      {webhooks.data && webhooks.data.length > 0 && (
        <DataTable
          label="Webhooks"
          rows={webhooks.data}
          rowKey={(webhook) => webhook.id}
          columns={[
            { id: "name", name: "Webhook", sort: (webhook) => webhook.name, cell: (webhook) => <strong>{webhook.name}</strong> },
            { id: "url", name: "URL", cell: (webhook) => <code>{webhook.url}</code> },
            { id: "topics", name: "Topics", cell: (webhook) => webhook.topics.join(", ") || "all" },
            { id: "cluster", name: "Cluster", cell: (webhook) => webhook.cluster ?? "all" },
            {
              id: "enabled",
              name: "Enabled",
              cell: (webhook) => (
                <input
                  type="checkbox"
                  aria-label={`Enable ${webhook.name}`}
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
                  <button type="button" className="button small" aria-label={`Show deliveries of ${webhook.name}`} onClick={() => setOpenWebhook(webhook.id)}>
                    Show deliveries
                  </button>
                  <button type="button" className="button small" aria-label={`Delete ${webhook.name}`} onClick={() => setWebhookToDelete(webhook)}>
                    Delete…
                  </button>
                </div>
              ),
            },
          ]}
        />
      )}
      {openWebhook !== undefined && <Deliveries webhook={openWebhook} />}
      <NewWebhook onCreated={onSuccess} />
      {webhookToDelete && (
        <Confirm
          title={`Delete webhook ${webhookToDelete.name}?`}
          action="Delete webhook"
          isDanger
          error={remove.error}
          onConfirm={() => remove.mutate(webhookToDelete.id)}
          onClose={() => setWebhookToDelete(undefined)}
        >
          Pending deliveries are discarded.
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
  const redeliver = useMutation({
    mutationFn: (delivery: number) =>
      data(api.POST("/api/v1/webhooks/{id}/deliveries/{delivery}/redeliver", { params: { path: { id: webhook, delivery } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["deliveries", webhook] }),
  });
  if (deliveries.isPending) return <LoadingRows rows={2} />;
  const error = deliveries.error ?? redeliver.error;
  if (error) return <Problem error={error} />;
  if (deliveries.data?.length === 0) return <EmptyState title="No deliveries yet">Select Test to send a test message.</EmptyState>;
  return (
    <DataTable
      label="Deliveries"
      rows={deliveries.data ?? []}
      rowKey={(delivery) => delivery.id}
      columns={[
        { id: "id", name: "Delivery", cell: (delivery) => `#${delivery.id}` },
        { id: "topic", name: "Topic", cell: (delivery) => delivery.topic },
        { id: "status", name: "Status", cell: (delivery) => <Status status={DELIVERY_STATUS[delivery.status] ?? "pending"} label={delivery.status} /> },
        { id: "attempts", name: "Attempts", cell: (delivery) => delivery.attempts, isNumber: true },
        { id: "tried", name: "Last attempt", cell: (delivery) => <Time at={delivery.tried_at} /> },
        { id: "problem", name: "Response", cell: (delivery) => delivery.problem ?? delivery.answer ?? "–" },
        {
          id: "actions",
          name: "",
          cell: (delivery) => (
            <button type="button" className="button small" aria-label={`Redeliver delivery ${delivery.id}`} onClick={() => redeliver.mutate(delivery.id)}>
              Redeliver
            </button>
          ),
        },
      ]}
    />
  );
}

function NewWebhook({ onCreated }: { onCreated: () => Promise<unknown> }) {
  const [name, setName] = useState("");
  const [url, setUrl] = useState("");
  const [topics, setTopics] = useState<string[]>([]);
  const create = useMutation({
    mutationFn: () => data(api.POST("/api/v1/webhooks", { body: { name, url, topics } })),
    onSuccess: async () => {
      setName("");
      setUrl("");
      setTopics([]);
      await onCreated();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <form className="card stack tight" aria-label="New webhook" onSubmit={submit} style={{ maxWidth: 640 }}>
      <h3>New webhook</h3>
      <div className="field">
        <label htmlFor="webhook-name">Name</label>
        <input id="webhook-name" type="text" required maxLength={255} value={name} onChange={(event) => setName(event.target.value)} />
      </div>
      <div className="field">
        <label htmlFor="webhook-url">URL</label>
        <input id="webhook-url" required type="url" placeholder="https://chat.example/hooks/stoker" value={url} onChange={(event) => setUrl(event.target.value)} />
      </div>
      <fieldset className="field" style={{ border: 0, margin: 0, padding: 0 }}>
        <legend className="fieldname">Topics</legend>
        <div className="choices">
          {TOPICS.map((topic) => (
            <label className="check" key={topic}>
              <input type="checkbox" checked={topics.includes(topic)} onChange={() => setTopics((names) => (names.includes(topic) ? names.filter((name) => name !== topic) : [...names, topic]))} />
              <span>{topic}</span>
            </label>
          ))}
        </div>
        <span className="hint">Select none to receive all topics.</span>
      </fieldset>
      {create.isError && <Problem title="Webhook not created" error={create.error} />}
      {create.data?.secret && (
        <p role="status">
          Signing secret, shown only once: <code>{create.data.secret}</code>
        </p>
      )}
      <div>
        <button type="submit" className="button primary" disabled={create.isPending}>
          Create webhook
        </button>
      </div>
    </form>
  );
}
