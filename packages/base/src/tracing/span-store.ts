import type { Span } from './tracer.ts';

/** How much is kept: traces, the oldest going first, and spans of each, the last to end being left out. */
export type SpanStoreBounds = { traces: number; spansPerTrace: number };

/** The spans of the latest traces. */
export class SpanStore {
  readonly #traces = new Map<string, Span[]>();
  readonly #bounds: SpanStoreBounds;

  constructor(bounds: SpanStoreBounds) {
    this.#bounds = bounds;
  }

  add(span: Span): void {
    const spans = this.#traces.get(span.traceId);
    if (spans === undefined) {
      this.#traces.set(span.traceId, [span]);
      if (this.#traces.size > this.#bounds.traces) this.#traces.delete(this.#traces.keys().next().value!);
    } else if (spans.length < this.#bounds.spansPerTrace) spans.push(span);
  }

  /** In the order in which they ended; none of a trace that is not known. */
  spans(traceId: string): readonly Span[] {
    return this.#traces.get(traceId) ?? [];
  }
}
