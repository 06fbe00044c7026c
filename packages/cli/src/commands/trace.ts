import type { TraceSpan } from '@podwright/kubelet';
import { NodeClient } from '../client/node-client.ts';
import { podName } from '../client/object-names.ts';
import { type OutputFormat, printAs } from '../output/format.ts';
import { escapeTerminal } from '../output/terminal-text.ts';
import { formatDuration } from '../output/units.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type TraceOptions = { namespace: string; output: OutputFormat };

/** `podwright trace POD`: when each step of the pod's start began and how long it took, as bars. */
export async function trace({ config }: CommandContext, name: string, options: TraceOptions): Promise<void> {
  const client = new NodeClient(config.apiSocket);
  const pod = await client.pod(options.namespace, podName(name));
  const spans = await client.traces(pod.metadata.uid);
  await printAs(options.output, spans, () => escapeTerminal(waterfall(spans, process.stdout.columns || 100)));
}

/** One line a span: name, start, duration, and a bar at its place in time. */
export function waterfall(spans: TraceSpan[], width: number): string {
  if (spans.length === 0) return 'nothing was recorded; the node has been restarted since the pod started';
  const ordered = spans.toSorted((a, b) => a.startMs - b.startMs || b.endMs - a.endMs);
  const beginMs = ordered[0]!.startMs;
  const totalMs = Math.max(1, ...ordered.map(({ endMs }) => endMs - beginMs));
  const nameWidth = Math.min(44, Math.max(...ordered.map(({ name }) => name.length)));
  const barWidth = Math.max(10, width - nameWidth - 22);
  return ordered
    .map((span) => {
      const from = Math.floor(((span.startMs - beginMs) / totalMs) * barWidth);
      const length = Math.max(1, Math.round(((span.endMs - span.startMs) / totalMs) * barWidth));
      const bar =
        ' '.repeat(Math.min(from, barWidth - 1)) +
        '█'.repeat(Math.min(length, barWidth - Math.min(from, barWidth - 1)));
      const at = `+${formatDuration(span.startMs - beginMs)}`.padStart(9);
      return `${span.name.slice(0, nameWidth).padEnd(nameWidth)} ${at} ${formatDuration(span.endMs - span.startMs).padStart(8)}  ${bar}`;
    })
    .join('\n');
}
