import { sleep } from '@podwright/base';
import type { CallOptions, KubeClient } from '../kube-client.ts';

/** Average calls per second and maximum burst (client-go's token bucket). */
export type RateLimit = { qps: number; burst: number };

/** A token: how long its caller must wait before using it, and when that time is over on the bucket's clock, in milliseconds. */
export type Token = { waitMs: number; atMs: number };

/** A token bucket that refills at `qps` tokens per second. When it is empty, callers wait in FIFO order. */
export class TokenBucket {
  readonly #limit: RateLimit;
  readonly #now: () => number;
  #tokens: number;
  #filledAtMs: number;
  /** `atMs` of the last token. */
  #lastAtMs = Number.NEGATIVE_INFINITY;

  constructor(limit: RateLimit, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#now = now;
    this.#tokens = limit.burst;
    this.#filledAtMs = now();
  }

  take(): Token {
    const { qps, burst } = this.#limit;
    const now = this.#now();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAtMs) * qps) / 1000) - 1;
    this.#filledAtMs = now;
    const waitMs = this.#tokens >= 0 ? 0 : (-this.#tokens * 1000) / qps;
    this.#lastAtMs = now + waitMs;
    return { waitMs, atMs: this.#lastAtMs };
  }

  /**
   * Takes back an unused token, except if a later caller waits already, because that caller's time does not change (x/time/rate's
   * Reservation.Cancel).
   */
  giveBack({ atMs }: Token): void {
    const { qps } = this.#limit;
    const unused = 1 - ((this.#lastAtMs - atMs) * qps) / 1000;
    if (atMs <= this.#now() || unused <= 0) return;
    this.#tokens += unused;
    this.#lastAtMs = atMs - 1000 / qps;
  }
}

/**
 * Rate-limits all calls of a client except watches, like client-go. The returned client shares the connections of `client`. Waiting for a
 * token does not count toward a call's timeout.
 */
export function withRateLimit(client: KubeClient, limit: RateLimit): KubeClient {
  const bucket = new TokenBucket(limit);
  const turn = async (options?: CallOptions) => {
    const token = bucket.take();
    if (token.waitMs === 0) return;
    await sleep(token.waitMs, options?.signal).catch((error: unknown) => {
      bucket.giveBack(token);
      throw error;
    });
  };
  return {
    get: (resource, place, options) => turn(options).then(() => client.get(resource, place, options)),
    list: (resource, selection, options) => turn(options).then(() => client.list(resource, selection, options)),
    create: (resource, object, options) => turn(options).then(() => client.create(resource, object, options)),
    update: (resource, object, options) => turn(options).then(() => client.update(resource, object, options)),
    // biome-ignore lint/complexity/useMaxParams: the parameters of the interface
    patch: (resource, place, patch, options) => turn(options).then(() => client.patch(resource, place, patch, options)),
    // biome-ignore lint/complexity/useMaxParams: the parameters of the interface
    patchForMetadata: (resource, place, patch, options) =>
      turn(options).then(() => client.patchForMetadata(resource, place, patch, options)),
    // biome-ignore lint/complexity/useMaxParams: the parameters of the interface
    delete: (resource, place, how, options) => turn(options).then(() => client.delete(resource, place, how, options)),
    deleteCollection: (resource, selection, options) =>
      turn(options).then(() => client.deleteCollection(resource, selection, options)),
    getText: (path, options) => turn(options).then(() => client.getText(path, options)),
    watch: (resource, options, signal) => client.watch(resource, options, signal),
    reconnect: () => client.reconnect(),
    close: () => client.close(),
  };
}
