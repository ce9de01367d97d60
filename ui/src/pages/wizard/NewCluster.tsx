import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { api, data, type Schemas } from "../../api/client";
import { useMay } from "../../app/identity";
import { Loading, LoadingRows } from "../../components/Loading";
import { Empty, PageHead } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { useParam } from "../../lib/params";
import { answered, labelAt, panesOf, withAnswers } from "../../lib/wizard";
import { Compatibility } from "./Compatibility";
import { PaneCard } from "./PaneCard";

/** A cluster from a release: decisions in their order, what cannot be chosen says why. */
export default function NewCluster() {
  const releases = useQuery({ queryKey: ["releases"], queryFn: () => data(api.GET("/api/v1/releases")) });
  const mayOperate = useMay("operate");
  const [chosen, setChosen] = useParam("release", "");
  if (releases.isPending) return <Loading />;
  const usable = (releases.data ?? []).filter((release) => release.is_deployable);
  const release = usable.find((one) => String(one.id) === chosen) ?? usable[0];
  return (
    <div className="page">
      <PageHead title="New cluster" crumbs={[["Clusters", "/clusters"]]} />
      {releases.isError && <Problem error={releases.error} retry={() => void releases.refetch()} />}
      {releases.isSuccess && !release && <Empty title="There is no release to deploy">Add one first: <code>stoker release create --file release.yaml</code></Empty>}
      {release && !mayOperate && <Empty title="Making clusters takes the role of an operator" />}
      {release && mayOperate && <Wizard key={release.id} release={release} releases={usable} setRelease={setChosen} />}
    </div>
  );
}

function Wizard({ release, releases, setRelease }: { release: Schemas["Release"]; releases: Schemas["Release"][]; setRelease: (id: string) => void }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [answers, setAnswers] = useState<Record<string, unknown>>({});
  const [isMatrixOpen, setMatrixOpen] = useState(false);
  const path = { params: { path: { id: release.id } } };
  const definition = useQuery({ queryKey: ["releases", release.id, "wizard"], queryFn: () => data(api.GET("/api/v1/releases/{id}/wizard", path)) });
  const evaluation = useQuery({
    queryKey: ["releases", release.id, "wizard", answers],
    queryFn: () => data(api.POST("/api/v1/releases/{id}/wizard/evaluate", { ...path, body: { answers } })),
    placeholderData: keepPreviousData,
  });
  const make = useMutation({
    mutationFn: () => {
      const wizard = evaluation.data?.answers ?? {};
      return data(api.POST("/api/v1/clusters", { body: { name, release_id: release.id, ...(Object.keys(wizard).length > 0 && { wizard }) } }));
    },
    onSuccess: async (cluster) => {
      await queries.invalidateQueries({ queryKey: ["clusters"] });
      await navigate(`/clusters/${cluster.id}`);
    },
  });
  const judged = definition.data && evaluation.data ? panesOf(definition.data, evaluation.data, answers) : undefined;
  const panes = judged && evaluation.isPlaceholderData ? withAnswers(judged, answers) : judged;
  const problems = evaluation.data?.problems ?? [];
  const conflicts = (evaluation.data?.conflicts ?? []) as { message?: string }[];
  const isWrong = conflicts.length > 0;
  return (
    <div className="withpanel open" style={{ alignItems: "start", alignContent: "start" }}>
      <form
        className="stack"
        aria-label="New cluster"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <section className="card stack tight" aria-labelledby="pane-name">
          <h2 id="pane-name">Name and release</h2>
          <div className="field">
            <label htmlFor="cluster-name">Name</label>
            <input id="cluster-name" type="text" autoFocus required value={name} onChange={(event) => setName(event.target.value)} />
          </div>
          <div className="field">
            <label htmlFor="cluster-release">Release</label>
            <select id="cluster-release" value={release.id} onChange={(event) => setRelease(event.target.value)}>
              {releases.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.name} {one.version} ({one.operating_system})
                </option>
              ))}
            </select>
            {release.description && <span className="hint">{release.description}</span>}
          </div>
        </section>
        {definition.isError && <Problem title="The wizard of this release cannot be used" error={definition.error} />}
        {evaluation.isError && <Problem error={evaluation.error} retry={() => void evaluation.refetch()} />}
        {!panes && !definition.isError && !evaluation.isError && <LoadingRows />}
        {panes?.map((pane) => (
          <PaneCard
            key={pane.name}
            pane={pane}
            set={(control, value) => setAnswers((now) => answered(now, pane.name, control, value))}
          />
        ))}
        {panes?.length === 0 && <p className="muted">This release asks nothing more.</p>}
        {make.isError && <Problem title="Not made" error={make.error} />}
        <div className="row">
          <button type="submit" className="button primary" disabled={name === "" || isWrong || make.isPending || evaluation.isFetching}>
            Make cluster
          </button>
          <button type="button" className="button" onClick={() => setMatrixOpen((now) => !now)} aria-expanded={isMatrixOpen}>
            What goes together
          </button>
        </div>
        {isMatrixOpen && <Compatibility releaseId={release.id} />}
      </form>
      <aside className="panel summary" aria-label="What the cluster will have">
        <h2>What the cluster will have</h2>
        <dl className="facts">
          <dt>Components</dt>
          <dd>{evaluation.data?.components.join(", ") || "–"}</dd>
          <dt>Plugins</dt>
          <dd>{evaluation.data?.plugins.join(", ") || "–"}</dd>
        </dl>
        <div aria-live="polite" className="stack tight">
          {conflicts.map((conflict, place) => (
            <p key={place} className="problem">
              {String(conflict.message ?? "these do not go together")}
            </p>
          ))}
          {problems.map((problem) => (
            <p key={`${problem.path} ${problem.message}`} className="problem warning">
              {labelAt(panes ?? [], problem.path)}: {problem.message}
            </p>
          ))}
          {!isWrong && problems.length === 0 && evaluation.data && <p className="muted">Everything goes together.</p>}
        </div>
      </aside>
    </div>
  );
}
