import { PodwrightError, type Span, type SpanStore, type Tracer } from '@podwright/base';
import type { ServiceHandlers } from '@podwright/grpc';
import type { Traces } from '../gen/podwright/v1/traces_pb.js';
import { MAX_REQUESTED_TRACES } from '../limits.ts';

/** Creates the handlers for podwright.v1.Traces, which returns the spans recorded for traced calls. */
export function traces(store: Pick<SpanStore, 'spans'>, tracer: Pick<Tracer, 'open'>): ServiceHandlers<typeof Traces> {
  return {
    listSpans: async ({ traceIds }) => {
      if (traceIds.length > MAX_REQUESTED_TRACES) {
        const asked = `${traceIds.length} trace ids, more than ${MAX_REQUESTED_TRACES}`;
        throw new PodwrightError('invalid_argument', `list spans: ${asked}; request fewer at once`);
      }
      const asked = new Set(traceIds);
      const open = tracer.open().filter(({ traceId }) => asked.has(traceId));
      return { spans: [...[...asked].flatMap((traceId) => store.spans(traceId)), ...open].map(spanMessage) };
    },
  };
}

/** Converts a span to a message. A span still in progress has an `endMs` of 0. */
function spanMessage({ traceId, spanId, parentId = '', name, startMs, endMs = 0, error = '' }: OpenOrEnded) {
  return { traceId, spanId, parentId, name, startMs, endMs, error };
}

type OpenOrEnded = Omit<Span, 'endMs'> & Partial<Pick<Span, 'endMs'>>;
