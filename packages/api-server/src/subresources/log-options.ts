import { badRequest, parseTime } from '@podwright/api-machinery';
import { type FieldError, forbiddenField, invalidValue, notSupported } from '@podwright/kube-kinds';
import { QueryValues } from '../wire/query-values.ts';

/** Query parameters of a log request (core/v1 PodLogOptions). */
export type PodLogOptions = {
  container: string;
  follow: boolean;
  previous: boolean;
  timestamps: boolean;
  skipVerification: boolean;
  sinceSeconds?: number;
  /** The `sinceTime` parameter, as Unix time in milliseconds. */
  sinceTimeMs?: number;
  tailLines?: number;
  limitBytes?: number;
  stream: string;
};

const STREAMS = ['All', 'Stderr', 'Stdout'];
const LAYOUT = '2006-01-02T15:04:05Z07:00';

/** Decodes the query. Throws 400 if a number or time is malformed. */
export function podLogOptions(query: URLSearchParams): PodLogOptions {
  const values = new QueryValues(query);
  return {
    container: values.text('container'),
    follow: values.flag('follow') ?? false,
    previous: values.flag('previous') ?? false,
    timestamps: values.flag('timestamps') ?? false,
    skipVerification: values.flag('insecureSkipTLSVerifyBackend') ?? false,
    sinceSeconds: values.integer('sinceSeconds'),
    sinceTimeMs: timeOf(query.get('sinceTime')),
    tailLines: values.integer('tailLines'),
    limitBytes: values.integer('limitBytes'),
    stream: query.get('stream') ?? 'All',
  };
}

function timeOf(text: string | null): number | undefined {
  if (text === null || text === 'null') return undefined;
  if (text === '') return Date.parse('0001-01-01T00:00:00Z'); // Go's zero time
  const time = parseTime(text);
  if (!Number.isNaN(time)) return time;
  const shown = JSON.stringify(text.slice(0, 100));
  throw badRequest(`parsing time ${shown} as ${JSON.stringify(LAYOUT)}: cannot parse ${shown} as "2006"`);
}

/** Validates the options, with upstream's order and wording of errors. */
export function validateLogOptions(options: PodLogOptions): FieldError[] {
  const { tailLines = 0, limitBytes = 1, sinceSeconds = 1, stream } = options;
  const errors: FieldError[] = [];
  if (tailLines < 0) errors.push(invalidValue('tailLines', tailLines, 'must be greater than or equal to 0'));
  if (limitBytes < 1) errors.push(invalidValue('limitBytes', limitBytes, 'must be greater than 0'));
  if (options.sinceSeconds !== undefined && options.sinceTimeMs !== undefined)
    errors.push(forbiddenField('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  else if (sinceSeconds < 1) errors.push(invalidValue('sinceSeconds', sinceSeconds, 'must be greater than 0'));
  if (!STREAMS.includes(stream)) errors.push(notSupported('stream', stream, STREAMS));
  if (stream !== 'All' && options.tailLines !== undefined)
    errors.push(forbiddenField('[]', '`tailLines` and specific `stream` are mutually exclusive for now'));
  return errors;
}

/**
 * Returns the query for the kubelet's container log path. `stream` is omitted unless it selects a single stream, because not all kubelets
 * accept the parameter.
 */
export function kubeletLogQuery(options: PodLogOptions): string {
  const { sinceTimeMs, stream } = options;
  const sinceTime = sinceTimeMs === undefined ? undefined : new Date(sinceTimeMs).toISOString().replace(/\.\d+Z$/, 'Z');
  const given: Record<string, string | number | boolean | undefined> = {
    follow: options.follow || undefined,
    limitBytes: options.limitBytes,
    previous: options.previous || undefined,
    sinceSeconds: options.sinceSeconds,
    sinceTime,
    stream: stream === 'All' ? undefined : stream,
    tailLines: options.tailLines,
    timestamps: options.timestamps || undefined,
  };
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return new URLSearchParams(Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))).toString();
}
