import { useQuery } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { LoadingRows } from "../../components/Loading";
import { Problem } from "../../components/Problem";
import { Status } from "../../components/Status";

export default function About() {
  const version = useQuery({ queryKey: ["version"], queryFn: () => data(api.GET("/api/v1/version")) });
  const health = useQuery({ queryKey: ["health"], queryFn: () => data(api.GET("/api/v1/health")), refetchInterval: 15_000 });
  if (version.isPending) return <LoadingRows rows={3} />;
  if (version.isError) return <Problem error={version.error} retry={() => void version.refetch()} />;
  return (
    <section className="card" aria-label="About" style={{ maxWidth: 640 }}>
      <dl className="facts">
        <dt>Stoker</dt>
        <dd>{version.data.stoker}</dd>
        <dt>Compatible API</dt>
        <dd>Fuel {version.data.release}</dd>
        <dt>Features</dt>
        <dd>{version.data.feature_groups.join(", ") || "–"}</dd>
        <dt>Database</dt>
        <dd>{health.data ? <Status status={health.data.database === "ok" ? "success" : "failed"} label={health.data.database} /> : "…"}</dd>
        <dt>Documentation</dt>
        <dd>
          <a href="/api/v1/docs">API reference</a>, <a href="/api/v1/openapi.json">OpenAPI document</a>
        </dd>
        <dt>Licence</dt>
        <dd>Apache-2.0</dd>
      </dl>
    </section>
  );
}
