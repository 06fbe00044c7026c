import { MAX_SPAN_DETAIL_LENGTH, MAX_SPANS_PER_POD, MAX_TRACED_PODS } from '../limits.ts';
/** A step of a pod's way, times in Unix milliseconds with fractions. */
export type TraceSpan = { name: string; startMs: number; endMs: number; detail?: string };

/** Remembers when each step of a pod began and ended, for `podwright trace`. `observe` hears of each step that has ended. */
export class PodTracer {
  readonly #pods = new Map<string, TraceSpan[]>();
  readonly #observe: (podUid: string, span: TraceSpan) => void;

  constructor(observe: (podUid: string, span: TraceSpan) => void = () => undefined) {
    this.#observe = observe;
  }

  /** Runs `work` as a step of the pod. A step that fails says so. */
  async span<T>(podUid: string, name: string, work: () => Promise<T>): Promise<T> {
    const startMs = performance.timeOrigin + performance.now();
    let detail: string | undefined;
    try {
      return await work();
    } catch (error) {
      detail = `failed: ${error instanceof Error ? error.message : String(error)}`.slice(0, MAX_SPAN_DETAIL_LENGTH);
      throw error;
    } finally {
      const endMs = performance.timeOrigin + performance.now();
      this.#add(podUid, { name, startMs, endMs, ...(detail === undefined ? {} : { detail }) });
    }
  }

  /** Records something that took no time. */
  mark(podUid: string, name: string, detail?: string): void {
    const atMs = performance.timeOrigin + performance.now();
    this.#add(podUid, { name, startMs: atMs, endMs: atMs, ...(detail === undefined ? {} : { detail }) });
  }

  /** The pod's steps, in the order in which they ended. */
  spans(podUid: string): TraceSpan[] {
    return [...(this.#pods.get(podUid) ?? [])];
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
