/** A span of a trace (W3C Trace Context 1). Ids are lower-case hex; `sampled` means that the trace is to be exported. */
export type TraceContext = { traceId: string; spanId: string; sampled: boolean };

/** The header, and the key of gRPC metadata, that carries a context. */
export const TRACEPARENT = 'traceparent';

/** The form of a header: version, trace id, span id and flags. Later versions may add fields after another dash. */
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Longer headers are ignored. No version of the specification needs as many characters. */
const MAX_LENGTH = 512;

/** Parses a header; `undefined` if it is malformed, because the specification requires that such a header is ignored. */
export function parseTraceparent(header: string | undefined): TraceContext | undefined {
  if (header === undefined || header.length > MAX_LENGTH) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', rest] = FORM.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Formats a context as a header. */
export function formatTraceparent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}
