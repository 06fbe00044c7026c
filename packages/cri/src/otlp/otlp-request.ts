import { type Span, VERSION } from '@podwright/base';

/**
 * Attributes of the program that emits the spans, named according to OpenTelemetry's semantic conventions (`service.name`, `host.name`).
 */
export type SpanResource = Record<string, string>;

/** `SPAN_KIND_INTERNAL`, `SPAN_KIND_SERVER` and `STATUS_CODE_ERROR` from OTLP's trace.proto. */
const KIND = { internal: 1, server: 2 };
const STATUS_ERROR = 2;

/**
 * Encodes an `ExportTraceServiceRequest` as JSON. `encodeId` encodes trace and span IDs: in OTLP's JSON they are hexadecimal, in protobuf's
 * base64.
 */
export function otlpRequest(spans: readonly Span[], resource: SpanResource, encodeId: (hex: string) => string) {
  const scope = { name: 'podwright', version: VERSION };
  const scopeSpans = [{ scope, spans: spans.map((span) => otlpSpan(span, encodeId)) }];
  return { resourceSpans: [{ resource: { attributes: keyValues(resource) }, scopeSpans }] };
}

function otlpSpan(span: Span, encodeId: (hex: string) => string) {
  const { traceId, spanId, parentId, name, startMs, endMs, error, attributes = {}, isServer } = span;
  return {
    traceId: encodeId(traceId),
    spanId: encodeId(spanId),
    ...(parentId === undefined ? {} : { parentSpanId: encodeId(parentId) }),
    name,
    kind: isServer ? KIND.server : KIND.internal,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: keyValues(attributes),
    ...(error === undefined ? {} : { status: { code: STATUS_ERROR, message: error } }),
  };
}

function keyValues(texts: Record<string, string>) {
  return Object.entries(texts).map(([key, stringValue]) => ({ key, value: { stringValue } }));
}

/**
 * Converts milliseconds to nanoseconds as a decimal string, which is how OTLP's JSON represents 64-bit integers. A double of this magnitude
 * is accurate to a quarter of a microsecond.
 */
function nanoseconds(ms: number): string {
  return `${Math.floor(ms)}${String(Math.floor((ms % 1) * 1e6)).padStart(6, '0')}`;
}
