import { AsyncLocalStorage } from 'node:async_hooks';
import { errorMessage } from '../errors.ts';
import type { TraceContext } from './trace-context.ts';

/** A unit of work with its start and end, in fractional Unix milliseconds. */
export type Span = TraceContext & {
  /** Span ID of the parent span; unset for a trace's root span. */
  parentId?: string;
  name: string;
  startMs: number;
  endMs: number;
  /** The error's message, if the span's work failed. */
  error?: string;
  /** Attributes for the trace collector. */
  attributes?: Record<string, string>;
  /** Whether the span serves a remote call (OpenTelemetry's span kind SERVER). */
  isServer?: boolean;
};

/** Which spans to export to a collector. */
export type TracingOptions = {
  /** The collector's endpoint: `http://HOST:PORT` for HTTP; `HOST:PORT` or `unix:///PATH` for gRPC. If empty, nothing is exported. */
  endpoint: string;
  /**
   * How many out of a million traces started by this process are exported. A trace started by a remote caller is exported if the caller
   * sampled it.
   */
  samplingRatePerMillion: number;
};

/** Receives each span when it ends. Must not throw. */
export type SpanSink = (span: Span) => void;

/** Runs work as a span of the caller's current trace, or untraced if there is none. */
export type TraceWork = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** Runs work without tracing it. */
export const untraced: TraceWork = (_name, work) => work();

/** Maximum length of span names and error messages; longer ones are truncated. */
const MAX_TEXT = 300;

/** The span of work in progress. Once `ended` is set, work that still runs in its context no longer adds child spans. */
type Live = { context: TraceContext; ended: boolean };

/**
 * Tracks the current trace across promises and callbacks, and passes ended spans to the sink. Timers, watchers and loops that outlive the
 * work that started them no longer belong to its trace.
 */
export class Tracer {
  readonly #live = new AsyncLocalStorage<Live>();
  readonly #sink: SpanSink;
  readonly #open = new Set<Omit<Span, 'endMs'>>();

  constructor(sink: SpanSink) {
    this.#sink = sink;
  }

  /** Returns the caller's current span, or `undefined` if it is not part of a trace. */
  current(): TraceContext | undefined {
    const live = this.#live.getStore();
    return live === undefined || live.ended ? undefined : live.context;
  }

  /** Returns the spans of work in progress, oldest first. */
  open(): readonly Omit<Span, 'endMs'>[] {
    return [...this.#open];
  }

  /** Runs work in a span with this context. Unlike `record`, does not pass the span to the sink; the caller does. */
  async within<T>(context: TraceContext, work: () => Promise<T>): Promise<T> {
    const live: Live = { context, ended: false };
    try {
      return await this.#live.run(live, work);
    } finally {
      live.ended = true;
    }
  }

  /** Runs work as a span of the caller's current trace, or untraced if there is none. */
  readonly span: TraceWork = (name, work) => {
    const parent = this.current();
    return parent === undefined ? work() : this.record({ parent, name }, work);
  };

  /** Runs work as a child span of `parent`, and passes the span to the sink when the work has ended. */
  async record<T>(
    { parent, name, ...about }: { parent: TraceContext } & Pick<Span, 'name' | 'attributes' | 'isServer'>,
    work: () => Promise<T>,
  ): Promise<T> {
    const context = childOf(parent);
    const span = { ...context, parentId: parent.spanId, ...about, name: name.slice(0, MAX_TEXT), startMs: nowMs() };
    let failure: { error: string } | undefined;
    this.#open.add(span);
    try {
      return await this.within(context, work);
    } catch (error) {
      failure = { error: errorMessage(error).slice(0, MAX_TEXT) };
      throw error;
    } finally {
      this.#open.delete(span);
      this.#sink({ ...span, endMs: nowMs(), ...failure });
    }
  }
}

/** Creates the context of a new trace's root span. */
export function newTrace(sampled: boolean): TraceContext {
  return { traceId: newId() + newId(), spanId: newId(), sampled };
}

/** Creates the context of a new child span in the same trace. */
export function childOf({ traceId, sampled }: TraceContext): TraceContext {
  return { traceId, spanId: newId(), sampled };
}

/**
 * Returns 16 hex digits, not all of them 0. IDs are not secret, so `Math.random` is good enough; random bytes from node:crypto would cost
 * several times as much as the rest of a span.
 */
function newId(): string {
  return hex(1 + Math.floor(Math.random() * 0xffff_fffe)) + hex(Math.floor(Math.random() * 0xffff_ffff));
}

function hex(number: number): string {
  return number.toString(16).padStart(8, '0');
}

/** Returns the time in fractional Unix milliseconds, from the monotonic clock. */
function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
