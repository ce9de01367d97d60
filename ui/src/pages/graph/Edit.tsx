import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { asFailure, sendYaml } from "../../api/client";
import { Editor } from "../../components/Editor";
import { Loading } from "../../components/Loading";
import { PageHead } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { useClusterName } from "../../lib/clusterNames";
import { asMap } from "../../lib/json";
import { toYaml } from "../../lib/yamlWrite";
import { functionNames } from "../yaql/functions";
import { mergedTasks } from "./queries";

const JUDGE_MS = 600;
const EMPTY = `# Tasks that this cluster adds, or attributes of tasks of its release that it changes.
- id: my-task
  type: shell
  version: 2.1.0
  roles: ["*"]
  requires: [deploy_start]
  required_for: [deploy_end]
  parameters:
    cmd: echo hello
    timeout: 60
`;

/** The cluster's own layer as text. It is judged while it is written, and stored when somebody says so. */
export default function Edit() {
  const { id: idText, type = "default" } = useParams();
  const id = Number(idText);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const own = useQuery(mergedTasks(id, type, "cluster"));
  const names = useQuery(functionNames);
  const clusterName = useClusterName(id);
  const [text, setText] = useState<string>();
  const [judged, setJudged] = useState<unknown>();
  const initial = useMemo(() => (own.data ? (own.data.length === 0 ? EMPTY : toYaml(own.data.map(clean))) : undefined), [own.data]);
  const shown = text ?? initial ?? "";
  const path = `/api/v1/clusters/${id}/deployment_tasks?graph_type=${encodeURIComponent(type)}`;

  useEffect(() => {
    if (text === undefined) return undefined;
    const timer = setTimeout(async () => {
      try {
        await sendYaml("PUT", `${path}&dry_run=1`, text);
        setJudged(undefined);
      } catch (error) {
        setJudged(error);
      }
    }, JUDGE_MS);
    return () => clearTimeout(timer);
  }, [text, path]);

  const save = useMutation({
    mutationFn: () => sendYaml("PUT", path, shown),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["graph", id] });
      await queries.invalidateQueries({ queryKey: ["graphs"] });
      await navigate(`/clusters/${id}/graphs/${encodeURIComponent(type)}`);
    },
    onError: setJudged,
  });
  if (own.isPending) return <Loading />;
  if (own.isError) {
    return (
      <div className="page">
        <Problem error={own.error} retry={() => void own.refetch()} />
      </div>
    );
  }
  const failure = judged === undefined ? undefined : asFailure(judged);
  const problems = new Map(failure?.items.filter((item) => item.line != null).map((item) => [item.line as number, item.message]));
  return (
    <div className="page">
      <PageHead
        title={`Own layer of ${type}`}
        crumbs={[
          ["Clusters", "/clusters"],
          [clusterName, `/clusters/${id}`],
          ["Graphs", `/clusters/${id}/graphs`],
          [type, `/clusters/${id}/graphs/${encodeURIComponent(type)}`],
        ]}
      >
        <Link className="button" to=".." relative="path">
          Cancel
        </Link>
        <button type="button" className="button primary" disabled={save.isPending || failure !== undefined} title={failure && "Mend the problems first"} onClick={() => save.mutate()}>
          Store
        </button>
      </PageHead>
      <p className="muted">A list of tasks in YAML. Attributes that are set here win over those of the release, one by one.</p>
      <div aria-live="polite">
        {failure ? <Problem title="Cannot be stored" error={failure} /> : text !== undefined && <p className="muted">No problems found.</p>}
      </div>
      <Editor label={`Tasks of graph ${type} in YAML`} value={shown} onChange={setText} problems={problems} names={names.data ?? []} />
    </div>
  );
}

/** What this layer says itself: the server shows defaults too, and writing them down would set them. */
function clean(task: unknown): Record<string, unknown> {
  const given = asMap(task);
  const said = asMap(given.provenance);
  return Object.fromEntries(Object.entries(given).filter(([name]) => name === "id" || name in said));
}
