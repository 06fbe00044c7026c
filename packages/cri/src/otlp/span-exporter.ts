import { errorCode, errorMessage, type Logger, type Span, type TracingOptions, withTimeout } from '@podwright/base';
import { SPAN_BATCH, SPAN_QUEUE, SPAN_RETRY_MS, SPAN_SEND_TIMEOUT_MS, SPANS_GATHERED_MS } from '../limits.ts';
import { type CollectorEndpoint, parseCollectorEndpoint } from './collector-endpoint.ts';
import type { SpanResource } from './otlp-request.ts';

/** Sends spans to a collector, or discards them. */
export type SpanExporter = {
  /** Queues the span if its trace is sampled; ignores it otherwise. Never throws. */
  add(span: Span): void;
  /** Decides whether to sample a trace that is starting. */
  samples(): boolean;
  /** Sends the queued spans, but only for a limited time. */
  close(): Promise<void>;
};

/** Discards all spans; used if no collector is configured. */
export const noSpanExporter: SpanExporter = {
  add: () => undefined,
  samples: () => false,
  close: async () => undefined,
};

type Collector = {
  send(batch: { spans: readonly Span[]; resource: SpanResource; signal: AbortSignal }): Promise<void>;
  close(): void;
};

/**
 * Creates an exporter for one process. The code that sends spans is loaded with the first span. With an empty endpoint, all spans are
 * discarded. Throws `invalid_argument` for an invalid endpoint.
 */
export function createSpanExporter(
  { endpoint, samplingRatePerMillion }: TracingOptions = { endpoint: '', samplingRatePerMillion: 0 },
  { resource, logger }: { resource: SpanResource; logger: Logger },
): SpanExporter {
  if (endpoint === '') return noSpanExporter;
  const queue = new SpanQueue({ endpoint: parseCollectorEndpoint(endpoint), resource, logger });
  return {
    add: (span) => {
      if (span.sampled) queue.add(span);
    },
    samples: () => Math.random() * 1_000_000 < samplingRatePerMillion,
    close: () => queue.close(),
  };
}

type QueueOptions = { endpoint: CollectorEndpoint; resource: SpanResource; logger: Logger };

/** Queues spans and sends them one batch at a time. A batch that fails with a retryable error is sent again later. */
class SpanQueue {
  readonly #options: QueueOptions;
  readonly #spans: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #collector: Promise<Collector> | undefined;
  #dropped = 0;
  #hasWarned = false;
  #closed = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  add(span: Span): void {
    if (this.#closed) return;
    if (this.#spans.length >= SPAN_QUEUE) this.#dropped++;
    else this.#spans.push(span);
    this.#schedule(SPANS_GATHERED_MS);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#sending;
    let left = Number.POSITIVE_INFINITY;
    while (this.#spans.length > 0 && this.#spans.length < left) {
      left = this.#spans.length;
      await this.#send();
    }
    (await this.#collector?.catch(() => undefined))?.close();
  }

  #schedule(delayMs: number): void {
    if (this.#timer !== undefined || this.#sending !== undefined || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#sending = this.#send().then((delivered) => {
        this.#sending = undefined;
        if (this.#spans.length > 0) this.#schedule(delivered ? SPANS_GATHERED_MS : SPAN_RETRY_MS);
      });
    }, delayMs);
    this.#timer.unref();
  }

  /** Sends the next batch. Returns whether it has left the queue, either because it was sent or because it was dropped as not retryable. */
  async #send(): Promise<boolean> {
    const { endpoint, resource, logger } = this.#options;
    const spans = this.#spans.slice(0, SPAN_BATCH);
    try {
      this.#collector ??= connect(endpoint);
      using signal = withTimeout(undefined, SPAN_SEND_TIMEOUT_MS, 'send spans');
      await (await this.#collector).send({ spans, resource, signal });
      this.#hasWarned = false;
    } catch (error) {
      const fields = { error: errorMessage(error), dropped: this.#dropped };
      logger[this.#hasWarned ? 'debug' : 'warn'](fields, 'sending spans to the trace collector failed');
      this.#hasWarned = true;
      if (errorCode(error) !== 'invalid_argument') return false;
    }
    this.#spans.splice(0, spans.length);
    return true;
  }
}

async function connect(endpoint: CollectorEndpoint): Promise<Collector> {
  if (endpoint.kind === 'grpc') return (await import('./send-over-grpc.ts')).grpcCollector(endpoint.endpoint);
  const { sendOverHttp } = await import('./send-over-http.ts');
  return { send: (batch) => sendOverHttp(endpoint.url, batch), close: () => undefined };
}
