import { errorMessage, type Logger, pause, raceAbort, withTimeout } from '@podwright/base';
import { isApiStatus, type KubeClient, LEASES } from '@podwright/kube-client';
import { decideLease, type LeaderLease, type SeenLease } from './framework/decide-lease.ts';

/** Interval between attempts to acquire or renew the Lease, in milliseconds (leader-elect-retry-period). */
const RETRY_MS = 2000;
/**
 * How long a leader may fail to renew the Lease before it stops leading, in milliseconds (leader-elect-renew-deadline). Counts from the
 * start of the last successful write, because other processes cannot have started counting the Lease's duration before that.
 */
const RENEW_DEADLINE_MS = 10_000;

export type LeaderElectionOptions = {
  client: KubeClient;
  /** The Lease whose holder is the leader. */
  lease: { namespace: string; name: string };
  /** Identifies this process. Must be unique among the processes competing for the Lease. */
  identity: string;
  logger: Logger;
  /** Ends the election. A leader then releases the Lease, so that another process can take over at once. */
  signal: AbortSignal;
};

/**
 * Runs `work` while this process leads. At most one process per Lease leads. When this process stops leading, the signal passed to `work`
 * aborts, and `work` must then resolve. It is called again each time this process becomes the leader. Resolves once `signal` has aborted.
 */
export async function runAsLeader(
  options: LeaderElectionOptions,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { signal, logger, identity } = options;
  const election = new Election(options);
  while (!signal.aborted) {
    await election.acquire();
    if (signal.aborted) return;
    logger.info({ identity }, 'this process leads');
    const ended = new AbortController();
    const done = work(ended.signal);
    await election.hold();
    ended.abort();
    await done;
    if (signal.aborted) await election.release();
    else logger.warn({ identity }, 'this process no longer leads, because it could not renew the lease');
  }
}

class Election {
  readonly #options: LeaderElectionOptions;
  #seen: SeenLease | undefined;
  #held: LeaderLease | undefined;
  /** Start of the last successful write of the Lease, on the clock of `performance.now()`. */
  #renewedMs = 0;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
  }

  /** Resolves when this process holds the Lease, or the signal has aborted. */
  async acquire(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      if (await this.#try(signal)) return;
      await pause(RETRY_MS, signal);
    }
  }

  /**
   * Renews the Lease. Resolves once renewals have failed for `RENEW_DEADLINE_MS`, another process holds the Lease, or the signal has
   * aborted.
   */
  async hold(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      const leftMs = this.#renewedMs + RENEW_DEADLINE_MS - performance.now();
      using deadline = withTimeout(signal, leftMs, 'renew the lease of the leader');
      if (!(await this.#renew(deadline))) return;
    }
  }

  /** Retries until the Lease is renewed. Returns false if another process holds it, or if the signal aborts, even during an attempt. */
  async #renew(signal: AbortSignal): Promise<boolean> {
    for (;;) {
      await pause(RETRY_MS, signal);
      if (signal.aborted) return false;
      if (await raceAbort(this.#try(signal), signal).catch(() => false)) return true;
      if (this.#held === undefined) return false;
    }
  }

  /** Releases the Lease, so that other processes do not have to wait for it to expire. */
  async release(): Promise<void> {
    const { client } = this.#options;
    if (this.#held === undefined) return;
    const spec = { ...this.#held.spec, holderIdentity: '', leaseDurationSeconds: 1 };
    await client
      .update(LEASES, { ...this.#held, spec } as LeaderLease, { timeoutMs: RETRY_MS })
      .catch((error: unknown) => this.#warn(error));
  }

  /** Acquires or renews the Lease unless another process holds it. Returns whether this succeeded. */
  async #try(signal: AbortSignal): Promise<boolean> {
    const { client, lease: place, identity } = this.#options;
    const call = { signal, timeoutMs: RENEW_DEADLINE_MS / 2 };
    try {
      const lease = await client.get<LeaderLease>(LEASES, place, call).catch((error: unknown) => {
        if (!isApiStatus(error, 404)) throw error;
        return undefined;
      });
      const times = { nowMs: performance.now(), unixMs: Date.now() };
      const { seen, spec } = decideLease({ lease, seen: this.#seen, identity, ...times });
      this.#seen = seen;
      if (spec === undefined) {
        this.#held = undefined;
        return false;
      }
      const type = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
      const object = { ...type, ...lease, metadata: lease?.metadata ?? place, spec };
      const write = lease === undefined ? client.create<LeaderLease> : client.update<LeaderLease>;
      this.#held = await write.call(client, LEASES, object, call);
      this.#renewedMs = times.nowMs;
      return true;
    } catch (error) {
      if (!signal.aborted && !isApiStatus(error, 409)) this.#warn(error);
      return false;
    }
  }

  #warn(error: unknown): void {
    this.#options.logger.warn({ error: errorMessage(error) }, 'cannot write the lease of the leader');
  }
}
