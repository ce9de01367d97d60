// Unit tests of view logic.
import { expect, test } from "vitest";
import { eventParser, type Message } from "../api/events";
import { sortRows } from "../components/DataTable";
import { caretAt } from "./caret";
import { summarize } from "./json";
import { compareRuns } from "./compareRuns";
import { diffTasks } from "./diffTasks";
import { ago, duration, parseTime } from "./format";
import { chartOf, ticks } from "./gantt";
import { linesOf } from "./log";
import { safeUrl } from "./links";
import { displayName, nodeIds } from "./nodeNames";
import { filterOptions, hasFilter, nodeQuery } from "./nodes";
import { onlyTriggered, plannedStatus } from "./plans";
import { graphChanges, pluginChange, settingChange, settingValue } from "./releaseMove";
import { conflictReason } from "./roles";
import { SYMBOLS, STATUSES, statusOfLetter, statusOfRecord, statusOfRun } from "./status";
import { alignToChunks, tilesOf, visibleRange } from "./tiles";
import { answersFor, componentLabels, labelAt, panesOf, withAnswer, withAnswers } from "./wizard";
import { worstStatus } from "./worst";
import { yamlTokens, yaqlPrefix } from "./yamlTokens";
import { toYaml } from "./yamlWrite";

test.each([
  [0, "0 ms"],
  [999, "999 ms"],
  [4200, "4.2 s"],
  [83_000, "1 m 23 s"],
  [60_000, "1 m"],
  [3_720_000, "1 h 2 m"],
  [-1, "–"],
])("%i ms is %s", (ms, expected) => expect(duration(ms)).toBe(expected));

test("server times are UTC and formatted as relative times", () => {
  expect(parseTime("2026-01-31T07:00:00.123456")).toBe(Date.UTC(2026, 0, 31, 7, 0, 0, 123));
  expect(parseTime("nonsense")).toBeUndefined();
  expect(parseTime(null)).toBeUndefined();
  expect([ago(0, 1000), ago(0, 61_000), ago(0, 90_000_000), ago(120_000, 0)]).toEqual(["just now", "1 m ago", "1 d ago", "in 2 m"]);
  expect([ago(0, 4999), ago(0, 119_000), ago(43_195_000, 0), ago(46_800_000, 0), ago(20_000, 0), ago(0, 7_199_000)]).toEqual(["5 s ago", "1 m ago", "in 12 h", "in 13 h", "in 20 s", "1 h ago"]);
});

test("map is summarized as names and values", () => {
  expect(summarize({ cluster_id: 1, name: "shop", message: null, n_run: 4, nodes: [1, 2] })).toBe("cluster id: 1, name: shop, run: 4, nodes: [1,2]");
  expect([summarize({}), summarize(null), summarize([]), summarize("text"), summarize(7)]).toEqual(["", "", "", "text", "7"]);
  expect(summarize({ text: "x".repeat(500) })).toHaveLength(120);
});

test("node IDs are distinct and exclude pseudo-nodes", () => {
  expect(nodeIds(["10", "2", "master", "sync", "-", "2"])).toEqual(["2", "10"]);
  expect([displayName("sync"), displayName("-", "x"), displayName("master"), displayName("7", "web-7"), displayName("7", undefined)]).toEqual(["stages", "stages", "master", "web-7", "7"]);
});

test("each status has a distinct symbol", () => {
  expect(new Set(STATUSES.map((status) => SYMBOLS[status])).size).toBe(STATUSES.length);
  expect(statusOfRun({ status: "error", message: "the run was stopped" })).toBe("stopped");
  expect(statusOfRun({ status: "error", outcome: "stopped" })).toBe("stopped");
  expect(statusOfRun({ status: "error", outcome: "partial", message: "Node 3 is offline" })).toBe("interrupted");
  expect(statusOfRun({ status: "error", outcome: "failed" })).toBe("failed");
  expect(statusOfRecord("skipped", "blocked")).toBe("blocked");
  expect([worstStatus("ssf"), worstStatus("sp"), worstStatus("kk"), worstStatus("..")]).toEqual(["failed", "running", "skipped", undefined]);
});

test("handlers that run only if triggered are told apart in a plan", () => {
  expect([onlyTriggered({ verdicts: { if_triggered: 1200, condition_holds: 3 } }), onlyTriggered({ verdicts: {} })]).toEqual([" (1,200 of them only if triggered)", ""]);
  expect([["run", "if_triggered"], ["run", "condition_holds"], ["skip", "not_triggered"]].map(([action = "", verdict = ""]) => plannedStatus({ action, verdict }))).toEqual(["ready", "pending", "skipped"]);
  expect(statusOfLetter("h")).toBe("ready");
});

test("changes of a release are put into words", () => {
  const graph = { type: "default", added: ["new"], removed: [], changed: [{ id: "install", fields: ["parameters", "condition"] }] };
  expect(graphChanges(graph)).toEqual([
    { title: "Added", tasks: [{ id: "new" }] },
    { title: "Changed", tasks: [{ id: "install", fields: "parameters, condition" }] },
  ]);
  expect(settingChange({ path: "common.size.value", change: "replaced", reason: "it is not a number" })).toBe("set to the default: it is not a number");
  expect([settingChange({ path: "p", change: "kept" }), settingChange({ path: "p", change: "unheard" })]).toEqual(["value is kept", "unheard"]);
  expect([settingValue(null), settingValue(undefined), settingValue(false), settingValue(["a"]), settingValue("text")]).toEqual(["–", "–", "false", '["a"]', "text"]);
  const plugin = { name: "gridnet", version: "1.0.0" };
  expect([pluginChange({ ...plugin, change: "replaced", new_version: "2.0.0" }), pluginChange({ ...plugin, change: "kept" })]).toEqual(["replaced by 2.0.0", "stays enabled"]);
});

test("event stream is parsed for any chunk boundary", () => {
  const text = ":hello\n\nid: 7\nevent: started\ndata: {\"a\":\ndata: 1}\n\nid: 8\r\ndata: x\r\n\r\ndata: unfinished\n";
  for (let cut = 0; cut <= text.length; cut += 1) {
    const messages: Message[] = [];
    const feed = eventParser((message) => messages.push(message));
    feed(text.slice(0, cut));
    feed(text.slice(cut));
    expect(messages).toEqual([
      { id: "7", event: "started", data: '{"a":\n1}' },
      { id: "8", event: "message", data: "x" },
    ]);
  }
});

test("rows without a value are sorted last in both directions", () => {
  const rows = [{ n: "node-10" }, { n: undefined }, { n: "node-9" }];
  const columns = [{ id: "n", sort: (row: { n?: string }) => row.n }];
  expect(sortRows(rows, columns, "n").map((row) => row.n)).toEqual(["node-9", "node-10", undefined]);
  expect(sortRows(rows, columns, "-n").map((row) => row.n)).toEqual(["node-10", "node-9", undefined]);
  expect(sortRows(rows, columns, "unknown")).toEqual(rows);
});

test("visibleRange range determines the tiles", () => {
  expect(visibleRange(0, 240, 24, 1000, 0)).toEqual({ first: 0, end: 10 });
  expect(visibleRange(23_900, 240, 24, 1000, 4)).toEqual({ first: 991, end: 1000 });
  expect(visibleRange(0, 240, 24, 0)).toEqual({ first: 0, end: 0 });
  expect(tilesOf({ first: 90, end: 210 }, 100)).toEqual([0, 1, 2]);
  expect(tilesOf({ first: 0, end: 0 }, 100)).toEqual([0]);
  expect(alignToChunks({ first: 17, end: 33 }, 16, 40)).toEqual({ first: 16, end: 40 });
});

test("concurrent tasks of a node are on different lines", () => {
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString().slice(0, -1);
  const row = (task_name: string, start: number, end: number | null) => ({ task_name, node_id: "2", status: end === null ? "running" : "ready", time_start: at(start), time_end: end === null ? null : at(end) });
  const chart = chartOf([row("a", 0, 10), row("b", 5, 12), row("c", 10, null), { ...row("d", 0, 1), time_start: null }], Date.UTC(2026, 0, 1, 0, 0, 20));
  expect(chart.lanes[0]?.bars.map((bar) => [bar.task, bar.line])).toEqual([["a", 0], ["b", 1], ["c", 0]]);
  expect([chart.lanes[0]?.nLines, chart.end - chart.start]).toEqual([2, 20_000]);
  expect(chartOf([], 5)).toEqual({ lanes: [], start: 5, end: 5 });
  expect(ticks(20_000, 5).length).toBeLessThanOrEqual(6);
});

test("output chunks are joined into lines and gaps are reported", () => {
  const piece = (stream: string, start: number, text: string) => ({ instance: 1, attempt: 1, stream, start, text });
  expect(linesOf([piece("out", 0, "one\ntw"), piece("err", 0, "bad\n"), piece("out", 6, "o\n"), piece("out", 20, "after\n")]).map((line) => line.text)).toEqual(["one", "two", "bad", "… 12 bytes of output missing", "after"]);
});

test("node query contains only active filters", () => {
  const filter = { cluster: 3, search: " ", role: "", status: "", online: "", label: "" } as const;
  expect(nodeQuery(filter)).toEqual({ cluster_id: "3" });
  expect(hasFilter(filter)).toBe(false);
  const full = { cluster: "", search: " alpha web ", role: "db", status: "ready", online: "no", label: "rack=4" } as const;
  expect(nodeQuery(full)).toEqual({ cluster_id: "", search: "alpha web", roles: "db", status: "ready", online: "0", labels: "rack=4" });
  expect(hasFilter(full)).toBe(true);
  expect(filterOptions({ "rack=10": 1, "rack=9": 2 })).toEqual(["rack=9", "rack=10"]);
});

test("only HTTP URLs and local paths are safe", () => {
  for (const url of ["https://grafana.example/", "http://10.0.0.1:3000", "/dashboard/"]) expect(safeUrl(url)).toBe(url);
  for (const url of ["javascript:alert(1)", "//evil.example", "data:text/html,x", "grafana", ""]) expect(safeUrl(url)).toBeUndefined();
});

test("role conflicts are symmetric", () => {
  const role = (name: string, conflicts?: string[]) => ({ name, meta: { name, conflicts }, volumes_roles_mapping: [] });
  const all = [role("a", ["b"]), role("b"), role("alone", ["*"])];
  const reasonFor = (name: string, selected: string[]) => conflictReason(all.find((candidate) => candidate.name === name) ?? role(name), all, selected);
  expect(reasonFor("b", ["a"])).toBe("conflicts with a");
  expect(reasonFor("a", ["b"])).toBe("conflicts with b");
  expect(reasonFor("b", ["alone"])).toBe("conflicts with alone");
  expect(reasonFor("a", ["a"])).toBeUndefined();
});

test("layers and runs are compared", () => {
  const changes = diffTasks([{ id: "a", x: 1 }, { id: "gone", type: "shell" }], [{ id: "a", x: 2, provenance: {} }, { id: "new" }]);
  expect(changes.map((change) => [change.id, change.kind])).toEqual([["a", "changed"], ["gone", "removed"], ["new", "added"]]);
  const row = (task_name: string, status: string, ms: number) => ({ task_name, node_id: "1", status, time_start: "2026-01-01T00:00:00.000", time_end: `2026-01-01T00:00:0${ms / 1000}.000` });
  const runs = compareRuns([row("a", "ready", 1000), row("b", "ready", 1000)], [row("a", "error", 1000), row("b", "ready", 4000)]);
  expect(runs.map((difference) => [difference.task, difference.a, difference.b, difference.longerMs])).toEqual([["a", "success", "failed", undefined], ["b", "success", "success", 3000]]);
});

test("YAML tokens cover the whole line", () => {
  for (const line of ["- id: a # why", "  cmd: 'x # y'", "yaql_exp: $.a", "  - 12", "", "a: b: c", "{x: 1}", "timeout: 60"]) {
    expect(yamlTokens(line).map((token) => token.text).join("")).toBe(line);
  }
  expect(yamlTokens("- id: a # why").map((token) => token.kind)).toEqual(["mark", "key", "mark", "plain", "comment"]);
  expect(yamlTokens("timeout: 60").at(-1)?.kind).toBe("number");
});

test("function names are completed only in expressions", () => {
  const prefix = (text: string) => yaqlPrefix(text, text.length);
  expect(prefix("condition: {yaql_exp: 'chan")).toBe("chan");
  expect(prefix("yaql_exp: >\n    chang")).toBe("chang");
  expect(prefix("yaql_exp: '$.chan")).toBeUndefined();
  expect(prefix("cmd: chan")).toBeUndefined();
});

test("values are written as equivalent YAML", () => {
  expect(toYaml([{ id: "a", roles: ["*"], empty: {}, none: null, yes: "yes", count: 3, exp: "one\ntwo" }])).toBe(
    '- id: a\n  roles:\n  - "*"\n  empty: {}\n  none: null\n  "yes": "yes"\n  count: 3\n  exp: |-\n    one\n    two\n',
  );
});

test("caret marks a span after multi-byte characters and line breaks", () => {
  expect(caretAt("'ö' + x", 7, 8)).toBe("'ö' + x\n      ^");
  expect(caretAt("a\nbc +", 5, 6)).toBe("bc +\n   ^");
});

test("wizard shows the reason of a disabled option and unconfirmed answers", () => {
  const definition = { Net: { metadata: { label: "Network" }, manager: { type: "radio", label: "Manager", values: [{ data: "a", label: "A" }, { data: "b" }] } } };
  const state = { pane: "Net", control: "manager", value: "a", dropped: false, hidden: false, disabled: false, messages: [] };
  const options = [
    { data: "a", hidden: false, disabled: false, messages: [] },
    { data: "b", hidden: false, disabled: true, messages: ["B is not compatible with X"] },
  ];
  const evaluation = { controls: [{ ...state, options }, { ...state, control: "gone", hidden: true, options: [] }], answers: {}, problems: [], components: [], plugins: [], compatible: true, conflicts: [] };
  const panes = panesOf(definition, evaluation as unknown as Parameters<typeof panesOf>[1]);
  expect(panes.map((pane) => [pane.label, pane.controls.map((control) => control.label)])).toEqual([["Network", ["Manager"]]]);
  expect(panes[0]?.controls[0]?.options.map((option) => [option.label, option.reason])).toEqual([["A", undefined], ["b", "B is not compatible with X"]]);
  expect([labelAt(panes, "Net.manager"), labelAt(panes, "Net.other")]).toEqual(["Manager", "Net.other"]);
  const answers = withAnswer({ Other: { x: 1 } }, "Net", "manager", "b");
  const dropped = { ...evaluation, controls: [{ ...state, dropped: true, options }] } as unknown as Parameters<typeof panesOf>[1];
  const droppedMessage = (previous: Record<string, unknown>) => panesOf(definition, dropped, previous)[0]?.controls[0]?.dropped;
  expect([droppedMessage({ Net: { manager: "a" } }), droppedMessage({})]).toEqual(["A is no longer available.", "The selected option is no longer available."]);
  expect(answers).toEqual({ Other: { x: 1 }, Net: { manager: "b" } });
  expect(withAnswers(panes, answers)[0]?.controls[0]?.value).toBe("b");
});

test("answers are kept for controls that the wizard of another release has, too", () => {
  const definition = { Compute: { kvm: { type: "checkbox", label: "KVM", component: "hypervisor:kvm" } }, Net: { manager: { values: [{ data: "a", label: "A", component: "network:a" }, { data: "b" }] } } };
  const answers = { Compute: { kvm: true, xen: true }, Net: { manager: "c" }, Storage: { ceph: true } };
  expect(answersFor(definition, answers)).toEqual({ Compute: { kvm: true }, Net: { manager: "c" } });
  expect(answersFor({}, answers)).toEqual({});
  expect([...componentLabels(definition)]).toEqual([["hypervisor:kvm", "KVM"], ["network:a", "A"]]);
});
