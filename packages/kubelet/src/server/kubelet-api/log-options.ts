import type { LogQuery } from '../../logs/log-reader.ts';
import { isSet, type Refusal, refusal } from './api-route.ts';

/** What of a container's log is wanted, and of which attempt. */
export type WantedLog = { kind: 'log'; query: LogQuery; previous: boolean } | { kind: 'refused'; refusal: Refusal };

const refuse = (status: number, message: string): WantedLog => ({
  kind: 'refused',
  refusal: refusal(status, JSON.stringify({ message }).replace('":"', '": "')),
});

const STREAMS = { All: undefined, Stdout: 'stdout', Stderr: 'stderr' } as const;

/**
 * Decodes and checks PodLogOptions (core/v1, as upstream's kubelet does): 400 for what cannot be read, 422 for what makes no
 * sense. `tail` is an older name of `tailLines`. Pure.
 */
export function wantedLog(query: URLSearchParams, nowMs: number): WantedLog {
  const tail = query.get('tail') || null;
  const tailText = tail === null ? query.get('tailLines') : tail === 'all' ? null : tail;
  const numbers = { tailLines: tailText, limitBytes: query.get('limitBytes'), sinceSeconds: query.get('sinceSeconds') };
  const [tailLines, limitBytes, sinceSeconds] = Object.values(numbers).map(wholeNumber);
  const sinceTime = timeOf(query.get('sinceTime'));
  if ([tailLines, limitBytes, sinceSeconds, sinceTime].includes('unreadable'))
    return refuse(400, 'Unable to decode query.');
  const stream = query.get('stream') ?? 'All';
  const isSane =
    atLeast(tailLines, 0) &&
    atLeast(limitBytes, 1) &&
    atLeast(sinceSeconds, 1) &&
    (sinceSeconds === undefined || sinceTime === undefined) &&
    Object.hasOwn(STREAMS, stream) &&
    (stream === 'All' || tailLines === undefined);
  if (!isSane) return refuse(422, 'Invalid request.');
  return {
    kind: 'log',
    previous: isSet(query, 'previous'),
    query: {
      follow: isSet(query, 'follow'),
      timestamps: isSet(query, 'timestamps'),
      tailLines: tailLines as number | undefined,
      limitBytes: limitBytes as number | undefined,
      sinceMs: sinceSeconds === undefined ? (sinceTime as number | undefined) : nowMs - Number(sinceSeconds) * 1000,
      stream: STREAMS[stream as keyof typeof STREAMS],
    },
  };
}

type Decoded = number | undefined | 'unreadable';

const atLeast = (value: Decoded, least: number) => value === undefined || (value as number) >= least;

function wholeNumber(text: string | null): Decoded {
  if (text === null || text === '') return undefined;
  return /^[-+]?\d{1,15}$/.test(text) ? Number(text) : 'unreadable';
}

/** RFC 3339, which has a zone. */
function timeOf(text: string | null): Decoded {
  if (text === null || text === '') return undefined;
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const ms = isTime ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? 'unreadable' : ms;
}
