import { Backoff, Broadcast, errorMessage, type Logger, type Subscription, sleep } from '@podwright/base';
import type { Engine } from '../engine/engine.ts';
import { followEvents } from '../engine/engine-events.ts';
import { TYPE_LABEL } from '../labels/labels.ts';
import { EVENTS_RETRY } from '../limits.ts';
import { isNews, type KnownContainer, knownContainers, missedEvents, type PodEvent, podEventOf } from './pod-events.ts';

/**
 * Provides an Engine's pod events to any number of subscribers. Follows the Engine only while there are subscribers. After a reconnect, it
 * derives the missed events from a container list, because a restarted Engine has lost its past events.
 */
export class PodEventSource {
  readonly #engine: Pick<Engine, 'http' | 'containers'>;
  readonly #logger: Logger;
  readonly #broadcast = new Broadcast<PodEvent>();
  #subscribers = 0;
  #stop: AbortController | undefined;
  #known: ReadonlyMap<string, KnownContainer> | undefined;

  constructor({ engine, logger }: { engine: Pick<Engine, 'http' | 'containers'>; logger: Logger }) {
    this.#engine = engine;
    this.#logger = logger;
  }

  /** Subscribes to events from now on, until the signal aborts. Events that occur before the Engine is reached are delivered once it is. */
  subscribe(signal: AbortSignal): Subscription<PodEvent> {
    const subscription = this.#broadcast.subscribe(signal);
    if (signal.aborted) return subscription;
    this.#subscribers++;
    signal.addEventListener('abort', () => this.#leave(), { once: true });
    if (this.#stop === undefined) {
      this.#stop = new AbortController();
      void this.#run(Date.now(), this.#stop.signal);
    }
    return subscription;
  }

  /** Publishes an event that the Engine does not send. No-op if the Engine has not reported the container. */
  report(id: string, kind: PodEvent['kind']): void {
    const known = this.#known?.get(id);
    if (known !== undefined) this.#broadcast.publish({ id, sandboxId: known.sandboxId, kind, atMs: Date.now() });
  }

  #leave(): void {
    this.#subscribers--;
    if (this.#subscribers > 0) return;
    this.#stop?.abort();
    this.#stop = undefined;
    this.#known = undefined;
  }

  async #run(beganAtMs: number, signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(EVENTS_RETRY);
    const watch: Watch = { sinceMs: beganAtMs, known: undefined };
    while (!signal.aborted) {
      try {
        await this.#follow(watch, signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#logger.warn({ error: errorMessage(error) }, 'the event stream of the Docker Engine failed');
      }
      await sleep(backoff.next('events'), signal).catch(() => undefined);
    }
  }

  /** Publishes the events of a single event stream of the Engine, until the stream ends. */
  async #follow(watch: Watch, signal: AbortSignal): Promise<void> {
    const connection = new AbortController();
    const fromMs = watch.sinceMs;
    try {
      const both = AbortSignal.any([signal, connection.signal]);
      const events = await followEvents(this.#engine.http, { label: TYPE_LABEL, sinceMs: fromMs }, both);
      const listedAtMs = await this.#catchUp(watch, both);
      for await (const event of events) {
        if (event.atMs < fromMs) continue;
        // `sinceMs` never decreases, because simultaneous events might arrive in any order
        watch.sinceMs = Math.max(watch.sinceMs, event.atMs);
        const podEvent = podEventOf(event);
        if (podEvent === undefined) continue;
        if (event.atMs >= listedAtMs || isNews(watch.known!, podEvent)) this.#publish(watch, podEvent);
      }
    } finally {
      connection.abort();
    }
  }

  /**
   * Publishes events that were missed, derived from a container list. Returns when the list was fetched: the list might already reflect
   * stream events from before that time. Returns 0 for the first list.
   */
  async #catchUp(watch: Watch, signal: AbortSignal): Promise<number> {
    const atMs = Date.now();
    const now = knownContainers(await this.#engine.containers.list({ label: [TYPE_LABEL] }, signal));
    const isFirst = watch.known === undefined;
    for (const event of missedEvents(watch.known ?? now, now, atMs)) this.#broadcast.publish(event);
    watch.known = now;
    this.#known = now;
    return isFirst ? 0 : atMs;
  }

  #publish({ known }: Watch, event: PodEvent): void {
    const { id, sandboxId, kind } = event;
    if (kind === 'deleted') known?.delete(id);
    else known?.set(id, { sandboxId, kind });
    this.#broadcast.publish(event);
  }
}

/**
 * State kept while following the Engine's events. `known` holds the last observed containers; `undefined` before the first container list.
 */
type Watch = { sinceMs: number; known: Map<string, KnownContainer> | undefined };
