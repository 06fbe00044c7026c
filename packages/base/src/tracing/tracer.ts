import { AsyncLocalStorage } from 'node:async_hooks';
import { errorMessage } from '../errors.ts';
import type { TraceContext } from './trace-context.ts';

/** A piece of work in time, Unix milliseconds with fractions. */
export type Span = TraceContext & {
  /** The span that it is part of; absent for the first of a trace. */
  parentId?: string;
  name: string;
  startMs: number;
  endMs: number;
  /** Why it failed. */
  error?: string;
  /** What it was about, for the collector of traces. */
  attributes?: Record<string, string>;
  /** It answers a call. */
  isServer?: boolean;
};

/** Which spans go to a collector. */
export type TracingOptions = {
  /** Where they go: `http://HOST:PORT`, or `HOST:PORT` and `unix:///PATH` for gRPC; '' for nowhere. */
  endpoint: string;
  /** How many of a million traces that begin here are sent; those of others are sent if their caller sends his part. */
  samplingRatePerMillion: number;
};

/** Where ended spans go; must not throw. */
export type SpanSink = (span: Span) => void;

/** Runs work as a span of the trace that its caller is in; without one it is only run. */
export type TraceWork = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** Runs work without a trace. */
export const untraced: TraceWork = (_name, work) => work();

/** Names and errors of spans are cut to this many characters. */
const MAX_TEXT = 300;

/** A span that work is in; nothing becomes part of it any more once it has ended. */
type Live = { context: TraceContext; ended: boolean };

/**
 * Knows which trace the work at hand belongs to, across promises and callbacks, and tells of its spans. What a piece of work
 * leaves behind (timers, watchers, loops) is in no trace once the work has ended.
 */
export class Tracer {
  readonly #live = new AsyncLocalStorage<Live>();
  readonly #sink: SpanSink;
  readonly #open = new Set<Omit<Span, 'endMs'>>();

  constructor(sink: SpanSink) {
    this.#sink = sink;
  }

  /** The span that the caller is in. */
  current(): TraceContext | undefined {
    const live = this.#live.getStore();
    return live === undefined || live.ended ? undefined : live.context;
  }

  /** The spans of work that has not ended, in the order in which they began. */
  open(): readonly Omit<Span, 'endMs'>[] {
    return [...this.#open];
  }

  /** Runs work in a span that somebody else tells of. */
  async within<T>(context: TraceContext, work: () => Promise<T>): Promise<T> {
    const live: Live = { context, ended: false };
    try {
      return await this.#live.run(live, work);
    } finally {
      live.ended = true;
    }
  }

  /** Runs work as a span of the trace that the caller is in; without one it is only run. */
  readonly span: TraceWork = (name, work) => {
    const parent = this.current();
    return parent === undefined ? work() : this.record({ parent, name }, work);
  };

  /** Runs work as a span of `parent`, and tells of it when it has ended. */
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

/** The first span of a new trace. */
export function newTrace(sampled: boolean): TraceContext {
  return { traceId: newId() + newId(), spanId: newId(), sampled };
}

/** A new span of the same trace. */
export function childOf({ traceId, sampled }: TraceContext): TraceContext {
  return { traceId, spanId: newId(), sampled };
}

/** 16 digits, not all 0. They tell spans apart and keep no secret: bytes of node:crypto cost several times as much as the rest of a span. */
function newId(): string {
  return hex(1 + Math.floor(Math.random() * 0xffff_fffe)) + hex(Math.floor(Math.random() * 0xffff_ffff));
}

function hex(number: number): string {
  return number.toString(16).padStart(8, '0');
}

/** Unix milliseconds with fractions, by the clock that does not jump. */
function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
