import type { TraceSpan } from '@podwright/kubelet';
import { NodeClient } from '../client/node-client.ts';
import { podName } from '../client/object-names.ts';
import { type OutputFormat, printAs } from '../output/format.ts';
import { escapeTerminal } from '../output/terminal-text.ts';
import { formatDuration } from '../output/units.ts';
import { firstLine } from '../run/pod-rows.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type TraceOptions = { namespace: string; output: OutputFormat };

/** `podwright trace POD`: when each step of the pod's start, and what the runtime did for it, began and how long it took, as bars. */
export async function trace({ config }: CommandContext, name: string, options: TraceOptions): Promise<void> {
  const client = new NodeClient(config.apiSocket);
  const pod = await client.pod(options.namespace, podName(name));
  const spans = await client.traces(pod.metadata.uid);
  await printAs(options.output, spans, () => escapeTerminal(waterfall(spans, process.stdout.columns || 100)));
}

/** One line a step, those that are part of it below it: name, start, duration, and a bar at its place in time; below it what it says. */
export function waterfall(spans: TraceSpan[], width: number): string {
  if (spans.length === 0) return 'nothing was recorded; the node has been restarted since the pod started';
  const rows = nested(spans.toSorted((a, b) => a.startMs - b.startMs || b.endMs - a.endMs));
  const beginMs = Math.min(...rows.map(({ span }) => span.startMs));
  const totalMs = Math.max(1, ...rows.map(({ span }) => span.endMs - beginMs));
  const nameWidth = Math.min(48, Math.max(...rows.map(({ name }) => name.length)));
  const barWidth = Math.max(10, width - nameWidth - 22);
  return rows
    .map(({ name, span }) => {
      const from = Math.floor(((span.startMs - beginMs) / totalMs) * barWidth);
      const length = Math.max(1, Math.round(((span.endMs - span.startMs) / totalMs) * barWidth));
      const bar =
        ' '.repeat(Math.min(from, barWidth - 1)) +
        '█'.repeat(Math.min(length, barWidth - Math.min(from, barWidth - 1)));
      const at = `+${formatDuration(span.startMs - beginMs)}`.padStart(9);
      const took = formatDuration(span.endMs - span.startMs).padStart(8);
      const detail =
        span.detail === undefined ? '' : `\n${' '.repeat(name.length - span.name.length + 2)}${firstLine(span.detail)}`;
      return `${name.slice(0, nameWidth).padEnd(nameWidth)} ${at} ${took}  ${bar}${detail}`;
    })
    .join('\n');
}

type Row = { span: TraceSpan; name: string };

/** Each span followed by those that are part of it, indented; what is part of none that is here stands at the left. */
function nested(ordered: TraceSpan[]): Row[] {
  const ids = new Set(ordered.map(({ id }) => id));
  const parts = Map.groupBy(ordered, ({ parentId }) => (ids.has(parentId) ? parentId : undefined));
  const rowsOf = (parentId: string | undefined, depth: number): Row[] =>
    (parts.get(parentId) ?? []).flatMap((span) => [
      { span, name: '  '.repeat(depth) + span.name },
      ...(span.id === undefined ? [] : rowsOf(span.id, depth + 1)),
    ]);
  return rowsOf(undefined, 0);
}
