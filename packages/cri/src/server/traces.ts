import { PodwrightError, type Span, type SpanStore } from '@podwright/base';
import type { Traces } from '../gen/podwright/v1/traces_pb.js';
import { MAX_ASKED_TRACES } from '../limits.ts';
import type { ServiceHandlers } from './handlers.ts';

/** podwright.v1.Traces: what was done for traced calls. */
export function traces(store: Pick<SpanStore, 'spans'>): ServiceHandlers<typeof Traces> {
  return {
    listSpans: async ({ traceIds }) => {
      if (traceIds.length > MAX_ASKED_TRACES) {
        const asked = `${traceIds.length} trace ids, more than ${MAX_ASKED_TRACES}`;
        throw new PodwrightError('invalid_argument', `list spans: ${asked}; ask for fewer at once`);
      }
      return { spans: [...new Set(traceIds)].flatMap((traceId) => store.spans(traceId).map(spanMessage)) };
    },
  };
}

function spanMessage({ traceId, spanId, parentId = '', name, startMs, endMs, error = '' }: Span) {
  return { traceId, spanId, parentId, name, startMs, endMs, error };
}
