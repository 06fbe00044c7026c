import type { LogQuery } from '@podwright/kubelet';
import { isSet } from './http/query.ts';

/** A decoded log query: the requested part of the log of a container's current or previous attempt, or why the query is invalid. */
export type LogOptions =
  | { kind: 'log'; query: LogQuery; previous: boolean }
  | { kind: 'unreadable' | 'senseless'; problem: string };

const STREAMS = { All: undefined, Stdout: 'stdout', Stderr: 'stderr' } as const;
const LEAST = { tailLines: 0, limitBytes: 1, sinceSeconds: 1 };

/** Decodes and validates PodLogOptions (core/v1) like upstream's kubelet. `tail` is an older name for `tailLines`. Pure. */
export function logOptions(query: URLSearchParams, nowMs: number): LogOptions {
  const tail = query.get('tail') || null;
  const texts = { tailLines: tail === 'all' ? null : (tail ?? query.get('tailLines')) };
  const numbers: Partial<Record<keyof typeof LEAST, number>> = {};
  for (const [name, text] of Object.entries({ ...read(query, ['limitBytes', 'sinceSeconds']), ...texts })) {
    if (!text) continue;
    if (!/^[-+]?\d{1,15}$/.test(text)) return unreadable(name, 'a whole number', text);
    numbers[name as keyof typeof LEAST] = Number(text);
  }
  const sinceTime = query.get('sinceTime') || undefined;
  const timeMs = sinceTime === undefined ? undefined : timeOf(sinceTime);
  if (Number.isNaN(timeMs)) return unreadable('sinceTime', 'an RFC 3339 time', sinceTime!);
  const stream = query.get('stream') ?? 'All';
  const problem = contradiction(numbers, { timeMs, stream });
  if (problem !== undefined) return { kind: 'senseless', problem };
  const { sinceSeconds, ...limits } = numbers;
  return {
    kind: 'log',
    previous: isSet(query, 'previous'),
    query: {
      ...limits,
      follow: isSet(query, 'follow'),
      timestamps: isSet(query, 'timestamps'),
      sinceMs: sinceSeconds === undefined ? timeMs : nowMs - sinceSeconds * 1000,
      stream: STREAMS[stream as keyof typeof STREAMS],
    },
  };
}

const unreadable = (name: string, needed: string, text: string): LogOptions => ({
  kind: 'unreadable',
  problem: `${name}: ${needed} is needed, got "${text.slice(0, 40)}"`,
});

const read = (query: URLSearchParams, names: string[]) =>
  Object.fromEntries(names.map((name) => [name, query.get(name)]));

function contradiction(
  numbers: Partial<Record<keyof typeof LEAST, number>>,
  { timeMs, stream }: { timeMs: number | undefined; stream: string },
): string | undefined {
  const small = Object.entries(LEAST).find(([name, least]) => numbers[name as keyof typeof LEAST]! < least);
  if (small !== undefined) return `${small[0]}: must be at least ${small[1]}`;
  if (numbers.sinceSeconds !== undefined && timeMs !== undefined) return 'sinceSeconds: sinceTime is given, too';
  if (!Object.hasOwn(STREAMS, stream)) return `stream: must be one of ${Object.keys(STREAMS).join(', ')}`;
  if (stream !== 'All' && numbers.tailLines !== undefined) return 'tailLines: only for the stream All';
  return undefined;
}

/** Parses an RFC 3339 time that includes a time zone. Returns NaN for any other text. */
function timeOf(text: string): number {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
}
