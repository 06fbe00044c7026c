/** Identifies a span of a trace (W3C Trace Context 1). IDs are lowercase hex. `sampled`: whether the trace should be exported. */
export type TraceContext = { traceId: string; spanId: string; sampled: boolean };

/** The HTTP header and gRPC metadata key that carries the trace context. */
export const TRACEPARENT = 'traceparent';

/** Format of a traceparent header: version, trace ID, span ID and flags. Later versions may append fields after another dash. */
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Maximum length of a traceparent header; longer ones are ignored. No version of the specification needs as many characters. */
const MAX_LENGTH = 512;

/** Parses a traceparent header. Returns `undefined` if it is malformed, because the specification requires ignoring such headers. */
export function parseTraceparent(header: string | undefined): TraceContext | undefined {
  if (header === undefined || header.length > MAX_LENGTH) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', rest] = FORM.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Formats a trace context as a traceparent header. */
export function formatTraceparent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}
