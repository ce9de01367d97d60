import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { api, data, type Schemas } from "../../api/client";
import { usePermission } from "../../app/identity";
import { Loading, LoadingRows } from "../../components/Loading";
import { EmptyState, PageHead } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { useParam } from "../../lib/params";
import { answersFor, componentLabels, labelAt, panesOf, withAnswer, withAnswers } from "../../lib/wizard";
import { Compatibility } from "./Compatibility";
import { PaneCard } from "./PaneCard";

/** Wizard that creates a cluster from a release. Disabled options show the reason. */
export default function NewCluster() {
  const releases = useQuery({ queryKey: ["releases"], queryFn: () => data(api.GET("/api/v1/releases")) });
  const canOperate = usePermission("operate");
  const [selected, setSelected] = useParam("release", "");
  if (releases.isPending) return <Loading />;
  const deployable = (releases.data ?? []).filter((release) => release.is_deployable);
  const release = deployable.find((candidate) => String(candidate.id) === selected) ?? deployable[0];
  return (
    <div className="page">
      <PageHead title="New cluster" crumbs={[["Clusters", "/clusters"]]} />
      {releases.isError && <Problem error={releases.error} retry={() => void releases.refetch()} />}
      {releases.isSuccess && !release && <EmptyState title="No deployable release">Add a release first: <code>stoker release create --file release.yaml</code></EmptyState>}
      {release && !canOperate && <EmptyState title="Operator role required">Ask an administrator for the operator role to create clusters.</EmptyState>}
      {release && canOperate && <Wizard release={release} releases={deployable} setRelease={setSelected} />}
    </div>
  );
}

function Wizard({ release, releases, setRelease }: { release: Schemas["Release"]; releases: Schemas["Release"][]; setRelease: (id: string) => void }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [name, setName] = useState("");
  // Name and answers are kept when another release is selected.
  const [allAnswers, setAnswers] = useState<Record<string, unknown>>({});
  const [isMatrixOpen, setMatrixOpen] = useState(false);
  const path = { params: { path: { id: release.id } } };
  const definition = useQuery({ queryKey: ["releases", release.id, "wizard"], queryFn: () => data(api.GET("/api/v1/releases/{id}/wizard", path)) });
  const answers = answersFor(definition.data ?? {}, allAnswers);
  const evaluation = useQuery({
    queryKey: ["releases", release.id, "wizard", answers],
    queryFn: () => data(api.POST("/api/v1/releases/{id}/wizard/evaluate", { ...path, body: { answers } })),
    // The evaluation of another release does not fit the definition of this one.
    placeholderData: (previous, query) => (query?.queryKey[1] === release.id ? keepPreviousData(previous) : undefined),
    enabled: definition.isSuccess,
  });
  const create = useMutation({
    mutationFn: () => {
      const wizard = evaluation.data?.answers ?? {};
      return data(api.POST("/api/v1/clusters", { body: { name, release_id: release.id, ...(Object.keys(wizard).length > 0 && { wizard }) } }));
    },
    onSuccess: async (cluster) => {
      await queries.invalidateQueries({ queryKey: ["clusters"] });
      await navigate(`/clusters/${cluster.id}`);
    },
  });
  const evaluated = definition.data && evaluation.data ? panesOf(definition.data, evaluation.data, answers) : undefined;
  const panes = evaluated && evaluation.isPlaceholderData ? withAnswers(evaluated, answers) : evaluated;
  const problems = evaluation.data?.problems ?? [];
  const conflicts = (evaluation.data?.conflicts ?? []) as { message?: string }[];
  const hasConflicts = conflicts.length > 0;
  const labels = componentLabels(definition.data ?? {});
  return (
    <div className="withpanel open" style={{ alignItems: "start", alignContent: "start" }}>
      <form
        className="stack"
        aria-label="New cluster"
        aria-busy={!panes || evaluation.isFetching}
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
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
              {releases.map((option) => (
                <option key={option.id} value={option.id}>
                  {option.name} {option.version} ({option.operating_system})
                </option>
              ))}
            </select>
            {release.description && <span className="hint">{release.description}</span>}
          </div>
        </section>
        {definition.isError && <Problem title="Cannot load the wizard of this release" error={definition.error} />}
        {evaluation.isError && <Problem error={evaluation.error} retry={() => void evaluation.refetch()} />}
        {!panes && !definition.isError && !evaluation.isError && <LoadingRows />}
        {panes?.map((pane) => (
          <PaneCard
            key={pane.name}
            pane={pane}
            set={(control, value) => setAnswers((previous) => withAnswer(previous, pane.name, control, value))}
          />
        ))}
        {panes?.length === 0 && <p className="muted">This release has no further options.</p>}
        {create.isError && <Problem title="Cluster not created" error={create.error} />}
        <div className="row">
          <button type="submit" className="button primary" disabled={name === "" || hasConflicts || create.isPending || evaluation.isFetching}>
            Create cluster
          </button>
          <button type="button" className="button" onClick={() => setMatrixOpen((isOpen) => !isOpen)} aria-expanded={isMatrixOpen}>
            Compatibility matrix
          </button>
        </div>
        {isMatrixOpen && <Compatibility releaseId={release.id} />}
      </form>
      <aside className="panel summary" aria-label="Summary">
        <h2>Summary</h2>
        <dl className="facts">
          <dt>Components</dt>
          <dd>{evaluation.data?.components.map((component) => labels.get(component) ?? component).join(", ") || "–"}</dd>
          <dt>Plugins</dt>
          <dd>{evaluation.data?.plugins.join(", ") || "–"}</dd>
        </dl>
        <div aria-live="polite" className="stack tight">
          {conflicts.map((conflict, index) => (
            <p key={index} className="problem">
              {String(conflict.message ?? "the selected components are not compatible")}
            </p>
          ))}
          {problems.map((problem) => (
            <p key={`${problem.path} ${problem.message}`} className="problem warning">
              {labelAt(panes ?? [], problem.path)}: {problem.message}
            </p>
          ))}
          {!hasConflicts && problems.length === 0 && evaluation.data && evaluation.data.components.length > 0 && <p className="muted">All selected components are compatible.</p>}
        </div>
      </aside>
    </div>
  );
}
