import type { CriClient } from '@podwright/cri';
import { failure, type TraceSpan, underWay } from './pod-tracer.ts';

const RUNTIME_SPANS_TIMEOUT_MS = 2000;

/** Traces that the runtime is asked for at once; it takes no more than 1000. */
const MAX_ASKED_TRACES = 500;

/** What the runtime did for these steps; nothing of a runtime that does not tell, or is away. */
export async function runtimeSpans(cri: Pick<CriClient, 'traces'>, steps: TraceSpan[]): Promise<TraceSpan[]> {
  const traceIds = [...new Set(steps.flatMap(({ traceId }) => traceId ?? []))].slice(-MAX_ASKED_TRACES);
  if (traceIds.length === 0) return [];
  const told = await cri.traces.listSpans({ traceIds }, { timeoutMs: RUNTIME_SPANS_TIMEOUT_MS }).catch(() => undefined);
  return (told?.spans ?? []).map(({ traceId, spanId: id, parentId, name, startMs, endMs, error }) => {
    const step = { name, startMs, endMs, ...failure(error), traceId, id, parentId };
    return endMs === 0 ? underWay(step) : step;
  });
}
