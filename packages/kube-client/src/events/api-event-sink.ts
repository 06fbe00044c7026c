import { background, errorCode, errorMessage, type Logger, pause } from '@podwright/base';
import type { EventRecorder, RecordedEvent } from '@podwright/kube-api';
import { ApiStatusError, isApiStatus } from '../api-status-error.ts';
import type { KubeClient } from '../kube-client.ts';
import { EVENTS } from '../resources.ts';
import { type CorrelatedEvent, EventCorrelator, type EventSource } from './event-correlator.ts';

const EVENT_RETRY_MS = 10_000;

const MAX_EVENT_TRIES = 12;

/**
 * Maximum number of events queued for the API server. Like `EVENT_RETRY_MS` and `MAX_EVENT_TRIES`, from client-go (tools/record/event.go).
 */
const MAX_QUEUED_EVENTS = 1000;

export type ApiEventSinkOptions = {
  /** An API client with its own rate limit, so that events do not delay other requests. */
  client: KubeClient;
  logger: Logger;
  /** Time between retries while the API server is not responding. Default: 10 seconds. */
  retryMs?: number;
};

/** Sends recorded events to the API server one at a time. Events are dropped when the queue is full, as upstream does. */
export class ApiEventSink {
  readonly #options: ApiEventSinkOptions;
  readonly #correlator = new EventCorrelator();
  readonly #queue: { event: RecordedEvent; source: EventSource }[] = [];
  readonly #stopping = new AbortController();
  #isSending = false;

  constructor(options: ApiEventSinkOptions) {
    this.#options = options;
  }

  /** Returns a recorder for events from this source. */
  recorder(source: EventSource): EventRecorder {
    return {
      // biome-ignore lint/complexity/useMaxParams: the signature of upstream's EventRecorder
      event: (about, type, reason, message) => this.add({ about, type, reason, message, atMs: Date.now() }, source),
    };
  }

  add(event: RecordedEvent, source: EventSource): void {
    if (this.#queue.length >= MAX_QUEUED_EVENTS || this.#stopping.signal.aborted) return;
    this.#queue.push({ event, source });
    if (!this.#isSending) background(this.#options.logger, 'events are no longer sent', this.#sendAll());
  }

  stop(): void {
    this.#stopping.abort();
    this.#queue.length = 0;
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      const correlated = this.#correlator.correlate(next.event, next.source);
      if (correlated !== undefined) await this.#send(correlated);
    }
    this.#isSending = false;
  }

  /** Sends an event with retries. The first delay is random, so that nodes do not all hit a recovered API server at once. */
  async #send(correlated: CorrelatedEvent): Promise<void> {
    const { retryMs = EVENT_RETRY_MS } = this.#options;
    for (let tries = 1; !this.#stopping.signal.aborted; tries++) {
      const problem = await this.#trySend(correlated);
      if (problem === undefined) return;
      if (tries >= MAX_EVENT_TRIES) return this.#drop(correlated, problem);
      const waitMs = tries === 1 ? retryMs * Math.random() : retryMs;
      await pause(waitMs, this.#stopping.signal);
    }
  }

  /** Returns the error if the event should be retried, or `undefined` if it was sent or dropped. */
  async #trySend(correlated: CorrelatedEvent): Promise<unknown> {
    try {
      await this.#write(correlated);
      return undefined;
    } catch (error) {
      const isHopeless = error instanceof ApiStatusError || errorCode(error) === 'invalid_argument';
      if (!isHopeless) return error;
      this.#drop(correlated, error);
      return undefined;
    }
  }

  async #write({ event, isRepeat }: CorrelatedEvent): Promise<void> {
    const { client } = this.#options;
    const { signal } = this.#stopping;
    if (isRepeat) {
      const { count, lastTimestamp, message } = event;
      const patch = { type: 'strategic' as const, body: { count, lastTimestamp, message } };
      const isGone = await client.patch(EVENTS, event.metadata, patch, { signal }).then(
        () => false,
        (error) => {
          if (!isApiStatus(error, 404)) throw error;
          return true; // the API server deletes events after an hour
        },
      );
      if (!isGone) return;
    }
    await client.create(EVENTS, event, { signal });
  }

  #drop({ event: { reason, message, involvedObject } }: CorrelatedEvent, error: unknown): void {
    if (this.#stopping.signal.aborted || isExpected(error)) return;
    const { namespace, name } = involvedObject;
    this.#options.logger.warn(
      { namespace, name, reason, message, error: errorMessage(error) },
      'failed to send an event',
    );
  }
}

/** Whether the error is expected: the event already exists, or its namespace is being deleted. */
function isExpected(error: unknown): boolean {
  if (!(error instanceof ApiStatusError)) return false;
  const { reason, causes = [] } = error.status;
  return reason === 'AlreadyExists' || causes.some((cause) => cause.reason === 'NamespaceTerminating');
}
