import { newTrace, type Span, Tracer } from '@podwright/base';
import type { SpanExporter } from '@podwright/cri';

const MAX_SPAN_DETAIL_LENGTH = 300;

const MAX_SPANS_PER_POD = 500;

/** Pods and steps a pod that are remembered at most; the oldest go first. */
const MAX_TRACED_PODS = 500;

/** A step of a pod's way, times in Unix milliseconds with fractions. */
export type TraceSpan = {
  name: string;
  startMs: number;
  /** Of a step that is under way (`open`) the time of the answer. */
  endMs: number;
  open?: true;
  detail?: string;
  /** Which trace it is of, and which span; what took no time is of none. */
  traceId?: string;
  id?: string;
  /** The step that it is part of, if that is told of too. */
  parentId?: string;
};

/** The UID of the pod that a span is about, by OpenTelemetry's name. */
const POD_UID = 'k8s.pod.uid';

/**
 * Remembers when each step of a pod began and ended, for `podwright trace`. Each sync of a pod is a trace, which the runtime is told of
 * in the calls that are made meanwhile.
 */
export class PodTracer {
  /** Knows the trace that a call to the runtime is part of. */
  readonly tracer = new Tracer((span) => this.#ended(span));
  /** Knows the sync that a step is part of. Calls that belong to no step, as those of a probe that begins meanwhile, are in no trace. */
  readonly #syncs = new Tracer(() => undefined);
  readonly #pods = new Map<string, TraceSpan[]>();
  readonly #exporter: SpanExporter;
  #observe: (podUid: string, span: TraceSpan) => void = () => undefined;

  constructor(exporter: SpanExporter) {
    this.#exporter = exporter;
  }

  /** Hears of each step that has ended, from now on. */
  observe(observe: (podUid: string, span: TraceSpan) => void): void {
    this.#observe = observe;
  }

  /** Runs a pod's sync, whose steps are of one trace. A sync without steps is not told of. */
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

  /** Runs `work` as a step of the pod. A step that fails says so. */
  span<T>(podUid: string, name: string, work: () => Promise<T>): Promise<T> {
    const parent = this.tracer.current() ?? this.#syncs.current() ?? newTrace(this.#exporter.samples());
    return this.tracer.record({ parent, name, attributes: { [POD_UID]: podUid } }, work);
  }

  /** Records something that took no time. */
  mark(podUid: string, name: string, detail?: string): void {
    const atMs = nowMs();
    this.#add(podUid, { name, startMs: atMs, endMs: atMs, ...(detail === undefined ? {} : { detail }) });
  }

  /** The pod's steps, in the order in which they ended, then those that are under way. */
  spans(podUid: string): TraceSpan[] {
    const open = this.tracer.open().filter(({ attributes }) => attributes?.[POD_UID] === podUid);
    return [...(this.#pods.get(podUid) ?? []), ...open.map((span) => underWay(stepOf({ ...span, endMs: 0 })))];
  }

  /** Sends what the exporter still has. */
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

/** A step that has not ended, as far as it is now. */
export function underWay(step: TraceSpan): TraceSpan {
  return { ...step, endMs: nowMs(), open: true };
}

/** What a step that failed says of it. */
export function failure(error: string | undefined): Pick<TraceSpan, 'detail'> {
  return error === undefined || error === '' ? {} : { detail: `failed: ${error}`.slice(0, MAX_SPAN_DETAIL_LENGTH) };
}

function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
