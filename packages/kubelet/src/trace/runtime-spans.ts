import type { CriClient } from '@podwright/cri';
import { failure, type TraceSpan, underWay } from './pod-tracer.ts';

const RUNTIME_SPANS_TIMEOUT_MS = 2000;

/** Maximum number of traces per ListSpans call; the container runtime accepts up to 1000. */
const MAX_TRACES_PER_CALL = 500;

/** Returns the container runtime's spans within these steps; empty if the runtime does not support tracing or is unavailable. */
export async function runtimeSpans(cri: Pick<CriClient, 'traces'>, steps: TraceSpan[]): Promise<TraceSpan[]> {
  const traceIds = [...new Set(steps.flatMap(({ traceId }) => traceId ?? []))].slice(-MAX_TRACES_PER_CALL);
  if (traceIds.length === 0) return [];
  const response = await cri.traces
    .listSpans({ traceIds }, { timeoutMs: RUNTIME_SPANS_TIMEOUT_MS })
    .catch(() => undefined);
  return (response?.spans ?? []).map(({ traceId, spanId: id, parentId, name, startMs, endMs, error }) => {
    const step = { name, startMs, endMs, ...failure(error), traceId, id, parentId };
    return endMs === 0 ? underWay(step) : step;
  });
}
