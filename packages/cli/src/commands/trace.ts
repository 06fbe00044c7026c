import { isNotFound, PodwrightError } from '@podwright/base';
import { pathOf } from '@podwright/kube-api';
import type { TraceSpan } from '@podwright/kubelet';
import { decodePod, decodeSpans } from '../client/answers.ts';
import type { ClusterChoice } from '../client/cluster-choice.ts';
import { NodeClient } from '../client/node-client.ts';
import { podName } from '../client/object-names.ts';
import { type ObjectSource, openSource } from '../client/object-source.ts';
import { TRACE_PERIOD_MS } from '../limits.ts';
import { type OutputFormat, printAs } from '../output/format.ts';
import { redraw } from '../output/redraw.ts';
import { escapeTerminal } from '../output/terminal-text.ts';
import { formatDuration } from '../output/units.ts';
import { firstLine } from '../run/pod-rows.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type TraceOptions = ClusterChoice & { namespace?: string; output: OutputFormat; watch?: boolean };

/**
 * `podwright trace POD`: shows a waterfall chart of the pod's startup, with the start and duration of each step, including the container
 * runtime's spans. With `--watch`, redraws the chart while steps are in progress, until the process ends.
 */
export async function trace({ config }: CommandContext, name: string, options: TraceOptions): Promise<void> {
  const source = await openSource(config.apiSocket, options);
  try {
    const place = { namespace: options.namespace ?? source.namespace, name: podName(name) };
    const read = source.isNode ? await nodeTraces(config.apiSocket, place) : await clusterTraces(source, place);
    if (options.watch) {
      const draw = async () => waterfall(await read(), process.stdout.columns || 100);
      await redraw(draw, { periodMs: TRACE_PERIOD_MS, shown: 'last' });
    }
    const spans = await read();
    await printAs(options.output, spans, () => escapeTerminal(waterfall(spans, process.stdout.columns || 100)));
  } finally {
    source.close();
  }
}

const PODS = { group: '', version: 'v1', plural: 'pods', namespaced: true };
const NODES = { group: '', version: 'v1', plural: 'nodes', namespaced: false };

type PodPlace = { namespace: string; name: string };
type ReadSpans = () => Promise<TraceSpan[]>;

async function nodeTraces(apiSocket: string, { namespace, name }: PodPlace): Promise<ReadSpans> {
  const client = new NodeClient(apiSocket);
  const { uid } = (await client.pod(namespace, name)).metadata;
  return () => client.traces(uid);
}

/** Reads the steps of a pod's startup from the kubelet of the pod's node, through the API server. Requires Podwright's kubelet. */
async function clusterTraces(source: ObjectSource, place: PodPlace): Promise<ReadSpans> {
  const { metadata, spec } = decodePod(await source.json(pathOf(PODS, place)));
  const { nodeName } = spec;
  if (nodeName === undefined)
    throw new PodwrightError(
      'failed_precondition',
      `pod ${place.name} is not assigned to a node: \`podwright why\` says why`,
    );
  const path = pathOf(NODES, { name: nodeName, subresource: `proxy/podwright/v1/traces/${metadata.uid}` });
  return async () => {
    try {
      return decodeSpans(await source.json(path));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      throw new PodwrightError(
        'unimplemented',
        `node ${nodeName} has no traces: its kubelet is not Podwright's, or is older`,
      );
    }
  };
}

/**
 * A pause longer than this between steps marks a new startup of the pod, such as when a container is restarted. Each startup has its own
 * time axis.
 */
const PAUSE_MS = 5000;

/** Renders a chart for each startup of a pod. All but the first are headed by their time. */
export function waterfall(spans: TraceSpan[], width: number): string {
  if (spans.length === 0) return 'nothing was recorded; the node has been restarted since the pod started';
  const rows = nested(spans.toSorted((a, b) => a.startMs - b.startMs || b.endMs - a.endMs));
  const nameWidth = Math.min(48, Math.max(...rows.map(({ name }) => name.length)));
  const charts = starts(rows).map((start) =>
    chart(start, { nameWidth, barWidth: Math.max(10, width - nameWidth - 22) }),
  );
  const [first] = charts;
  const texts = charts.map(({ text, beginMs }, index) => {
    const later = formatDuration(beginMs - first!.beginMs);
    return index === 0 ? text : `${new Date(beginMs).toISOString()}, ${later} later:\n${text}`;
  });
  return texts.join('\n\n');
}

/** Splits the rows into startups, wherever there is a long pause between top-level steps. */
function starts(rows: Row[]): Row[][] {
  const groups: Row[][] = [];
  let untilMs = Number.NEGATIVE_INFINITY;
  for (const row of rows) {
    if (row.depth === 0 && row.span.startMs - untilMs > PAUSE_MS) groups.push([]);
    groups.at(-1)!.push(row);
    untilMs = Math.max(untilMs, row.span.endMs);
  }
  return groups;
}

/** Renders one line per step: its name, start, duration and bar, followed by its detail. Child steps are listed below their parent. */
function chart(rows: Row[], { nameWidth, barWidth }: { nameWidth: number; barWidth: number }) {
  const beginMs = Math.min(...rows.map(({ span }) => span.startMs));
  const totalMs = Math.max(1, ...rows.map(({ span }) => span.endMs - beginMs));
  const lines = rows.map(({ name, span, depth }) => {
    const from = Math.min(Math.floor(((span.startMs - beginMs) / totalMs) * barWidth), barWidth - 1);
    const length = Math.max(1, Math.round(((span.endMs - span.startMs) / totalMs) * barWidth));
    const bar = ' '.repeat(from) + (span.open ? '▒' : '█').repeat(Math.min(length, barWidth - from));
    const at = `+${formatDuration(span.startMs - beginMs)}`.padStart(9);
    const took = formatDuration(span.endMs - span.startMs).padStart(8);
    const note = span.open ? 'in progress' : span.detail;
    const detail = note === undefined ? '' : `\n${'  '.repeat(depth + 1)}${firstLine(note)}`;
    return `${name.slice(0, nameWidth).padEnd(nameWidth)} ${at} ${took}  ${bar}${detail}`;
  });
  return { text: lines.join('\n'), beginMs };
}

type Row = { span: TraceSpan; name: string; depth: number };

/** Returns each span followed by its children, which are indented. Spans with an unknown parent are at the top level. */
function nested(ordered: TraceSpan[]): Row[] {
  const ids = new Set(ordered.map(({ id }) => id));
  const parts = Map.groupBy(ordered, ({ parentId }) => (ids.has(parentId) ? parentId : undefined));
  const rowsOf = (parentId: string | undefined, depth: number): Row[] =>
    (parts.get(parentId) ?? []).flatMap((span) => [
      { span, name: '  '.repeat(depth) + span.name, depth },
      ...(span.id === undefined ? [] : rowsOf(span.id, depth + 1)),
    ]);
  return rowsOf(undefined, 0);
}
