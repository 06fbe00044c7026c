import type { Span } from './tracer.ts';

/**
 * Limits of a span store. Beyond `traces`, the oldest trace is dropped; beyond `spansPerTrace`, further spans of the trace are not stored.
 */
export type SpanStoreBounds = { traces: number; spansPerTrace: number };

/** Stores the spans of the most recent traces. */
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

  /** Returns the spans of a trace, in the order in which they ended; empty if the trace is unknown. */
  spans(traceId: string): readonly Span[] {
    return this.#traces.get(traceId) ?? [];
  }
}
