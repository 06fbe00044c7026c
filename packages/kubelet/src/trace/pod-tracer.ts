import { newTrace, type Span, Tracer } from '@podwright/base';
import type { SpanExporter } from '@podwright/cri';

const MAX_SPAN_DETAIL_LENGTH = 300;

const MAX_SPANS_PER_POD = 500;

/** Maximum number of traced pods; the one that was traced first is dropped first. `MAX_SPANS_PER_POD` likewise limits each pod's spans. */
const MAX_TRACED_PODS = 500;

/** A span in the life of a pod. Times are in Unix milliseconds, with fractions. */
export type TraceSpan = {
  name: string;
  startMs: number;
  /** When the step ended; for an unfinished step (`open`), the time of the query. */
  endMs: number;
  open?: true;
  detail?: string;
  /** Trace and span IDs; absent for marks, which have no duration. */
  traceId?: string;
  id?: string;
  parentId?: string;
};

/** OpenTelemetry's attribute for a pod's UID. */
const POD_UID = 'k8s.pod.uid';

/**
 * Records when each step in the life of a pod starts and ends, for `podwright trace`. Each pod sync is a trace, whose context is passed to
 * the container runtime with CRI calls.
 */
export class PodTracer {
  /** The trace context of calls to the container runtime. */
  readonly tracer = new Tracer((span) => this.#ended(span));
  /** The trace context of syncs, which are the parents of steps. Calls made outside of steps, such as those for probes, are not traced. */
  readonly #syncs = new Tracer(() => undefined);
  readonly #pods = new Map<string, TraceSpan[]>();
  readonly #exporter: SpanExporter;
  #observe: (podUid: string, span: TraceSpan) => void = () => undefined;

  constructor(exporter: SpanExporter) {
    this.#exporter = exporter;
  }

  /** Sets the observer that is called with each finished step. */
  observe(observe: (podUid: string, span: TraceSpan) => void): void {
    this.#observe = observe;
  }

  /** Runs a pod sync whose steps form one trace. A sync without steps is not exported. */
  async sync<T>(podUid: string, name: string, work: () => Promise<T>): Promise<T> {
    const root = newTrace(this.#exporter.samples());
    const startMs = nowMs();
    try {
      return await this.#syncs.within(root, work);
    } finally {
      const hasSteps = this.#pods.get(podUid)?.at(-1)?.traceId === root.traceId;
      const span = { ...root, name, startMs, endMs: nowMs(), attributes: { [POD_UID]: podUid } };
      if (hasSteps) this.#exporter.add(span);
    }
  }

  /** Runs `work` as a step of the pod. If the step fails, its error is recorded. */
  span<T>(podUid: string, name: string, work: () => Promise<T>): Promise<T> {
    const parent = this.tracer.current() ?? this.#syncs.current() ?? newTrace(this.#exporter.samples());
    return this.tracer.record({ parent, name, attributes: { [POD_UID]: podUid } }, work);
  }

  /** Records an event that has no duration. */
  mark(podUid: string, name: string, detail?: string): void {
    const atMs = nowMs();
    this.#add(podUid, { name, startMs: atMs, endMs: atMs, ...(detail === undefined ? {} : { detail }) });
  }

  /** Returns the pod's finished steps in the order in which they ended, followed by the unfinished ones. */
  spans(podUid: string): TraceSpan[] {
    const open = this.tracer.open().filter(({ attributes }) => attributes?.[POD_UID] === podUid);
    return [...(this.#pods.get(podUid) ?? []), ...open.map((span) => underWay(stepOf({ ...span, endMs: 0 })))];
  }

  /** Flushes and closes the exporter. */
  close(): Promise<void> {
    return this.#exporter.close();
  }

  #ended(span: Span): void {
    this.#exporter.add(span);
    this.#add(span.attributes![POD_UID]!, stepOf(span));
  }

  #add(podUid: string, span: TraceSpan): void {
    const spans = this.#pods.get(podUid) ?? [];
    this.#pods.set(podUid, spans);
    spans.push(span);
    this.#observe(podUid, span);
    if (spans.length > MAX_SPANS_PER_POD) spans.shift();
    if (this.#pods.size > MAX_TRACED_PODS) this.#pods.delete(this.#pods.keys().next().value!);
  }
}

function stepOf({ traceId, spanId: id, parentId, name, startMs, endMs, error }: Span): TraceSpan {
  return { name, startMs, endMs, ...failure(error), traceId, id, ...(parentId === undefined ? {} : { parentId }) };
}

/** Returns a copy of the unfinished step with `open` set and the current time as its end. */
export function underWay(step: TraceSpan): TraceSpan {
  return { ...step, endMs: nowMs(), open: true };
}

/** Returns the span detail of a failed step; empty if there was no error. */
export function failure(error: string | undefined): Pick<TraceSpan, 'detail'> {
  return error === undefined || error === '' ? {} : { detail: `failed: ${error}`.slice(0, MAX_SPAN_DETAIL_LENGTH) };
}

function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
