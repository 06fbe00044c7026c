import { Backoff, errorMessage, type Logger, pause } from '@podwright/base';
import { formatMicroTime, type Lease } from '@podwright/kube-api';
import { compareVersions, isApiStatus, type KubeClient, LEASES, NODES } from '@podwright/kube-client';
import { absentAsUndefined } from './api-answer.ts';
import { HEARTBEAT_JITTER, LEASE_BACKOFF, LEASE_TRIES } from './limits.ts';
import { difference } from './node-patch.ts';

const NAMESPACE = 'kube-node-lease';

export type NodeLeaseOptions = {
  name: string;
  heartbeatClient: KubeClient;
  timeoutMs: number;
  leaseDurationSeconds: number;
  /**
   * Called if the API server seems to have been restored from a backup: it returns an older version of the lease than before, or the lease
   * is gone.
   */
  onRestored: () => void;
  logger: Logger;
};

/**
 * Renews the node's lease, which serves as its heartbeat, until the signal aborts. A renewal patches the last known version of the lease
 * or, if that fails, the API server's version. Creates the lease once its owner, the Node object, exists, and again if the lease is
 * deleted.
 */
export class NodeLease {
  readonly #options: NodeLeaseOptions;
  #latest: Lease | undefined;
  /** The last known resource version of the lease, even if the lease has since been deleted. */
  #version: string | undefined;
  #failing = false;

  constructor(options: NodeLeaseOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const periodMs = (this.#options.leaseDurationSeconds * 1000) / 4;
    while (!signal.aborted) {
      await this.#renewOnce(signal);
      await pause(periodMs * (1 + HEARTBEAT_JITTER * Math.random()), signal);
    }
  }

  async #renewOnce(signal: AbortSignal): Promise<void> {
    if (this.#latest !== undefined && (await this.#renew(this.#latest, signal))) return;
    const { lease, isNew } = await this.#ensure(signal);
    this.#take(lease);
    if (lease !== undefined && !isNew) await this.#renew(lease, signal);
  }

  /**
   * Caches the lease. Each renewal returns the API server's newest resource version, so a lower one means that the server has been restored
   * from a backup.
   */
  #take(lease: Lease | undefined): void {
    const before = this.#version;
    this.#latest = lease;
    this.#version = lease?.metadata.resourceVersion ?? before;
    if ((compareVersions(this.#version, before) ?? 0) < 0) this.#options.onRestored();
  }

  /** Makes a few back-to-back renewal attempts. Returns whether one of them succeeded. */
  async #renew(from: Lease, signal: AbortSignal): Promise<boolean> {
    const { heartbeatClient, logger } = this.#options;
    let [base, problem]: [Lease | undefined, string] = [from, ''];
    for (let attempt = 0; attempt < LEASE_TRIES && base !== undefined && !signal.aborted; attempt++) {
      try {
        this.#take(await this.#change(base, await this.#renewed(base, signal), signal));
        this.#failing = false;
        return true;
      } catch (error) {
        problem = errorMessage(error);
        if (isApiStatus(error, 'Conflict')) {
          base = (await this.#ensure(signal)).lease;
          this.#take(base); // detects a restored backup, whose lease is older
        } else if (attempt > 0) heartbeatClient.reconnect();
      }
    }
    if (!this.#failing && !signal.aborted)
      logger.error({ error: problem }, 'the lease of the node could not be renewed');
    this.#failing = true;
    return false;
  }

  /**
   * Patches only the changed fields of the lease: sending and receiving the whole lease every ten seconds would make up most of an idle
   * node's traffic.
   */
  async #change(base: Lease, renewed: Lease, signal: AbortSignal): Promise<Lease> {
    const { name, heartbeatClient, timeoutMs } = this.#options;
    const { resourceVersion } = base.metadata;
    const metadata = { ...difference(base.metadata, renewed.metadata), resourceVersion };
    const patch = { type: 'merge', body: { ...difference(base, renewed), metadata } } as const;
    const place = { namespace: NAMESPACE, name };
    const answer = await heartbeatClient.patchForMetadata(LEASES, place, patch, { signal, timeoutMs });
    return { ...renewed, metadata: answer };
  }

  /** Gets or creates the lease; `undefined` if there is no node object to own it, or if the signal aborts. */
  async #ensure(signal: AbortSignal): Promise<{ lease: Lease | undefined; isNew: boolean }> {
    const { name, heartbeatClient, timeoutMs, logger } = this.#options;
    const backoff = new Backoff(LEASE_BACKOFF);
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        const call = { signal, timeoutMs };
        const lease = await absentAsUndefined(heartbeatClient.get<Lease>(LEASES, { namespace: NAMESPACE, name }, call));
        if (lease !== undefined) return { lease, isNew: false };
        const owned = await this.#renewed(this.#bare(), signal).catch(() => undefined);
        if (owned === undefined) return { lease: undefined, isNew: false };
        const created = await heartbeatClient.create<Lease>(LEASES, owned, call);
        // The resource versions of a restored API server might already exceed the last known one, so a lost lease also counts as a sign of
        // a restore.
        if (this.#version !== undefined) this.#options.onRestored();
        this.#version = undefined;
        return { lease: created, isNew: true };
      } catch (error) {
        if (signal.aborted) break;
        if (attempt === 0)
          logger.warn({ error: errorMessage(error) }, 'the lease of the node could not be read or created yet');
        await pause(backoff.next(name), signal);
      }
    }
    return { lease: undefined, isNew: false };
  }

  #bare(): Lease {
    const { name } = this.#options;
    const metadata = { name, namespace: NAMESPACE };
    return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: { holderIdentity: name } };
  }

  /**
   * Returns the renewed lease. Its renewTime is taken from this host's clock, even if the old lease has a later one, because observers
   * check whether the time changes instead of comparing it with their own clocks.
   */
  async #renewed(base: Lease, signal: AbortSignal): Promise<Lease> {
    const { leaseDurationSeconds } = this.#options;
    const ownerReferences = base.metadata.ownerReferences ?? [];
    const owners = ownerReferences.length > 0 ? ownerReferences : [await this.#owner(signal)];
    return {
      ...base,
      metadata: { ...base.metadata, ownerReferences: owners },
      spec: { ...base.spec, leaseDurationSeconds, renewTime: formatMicroTime(Date.now()) },
    };
  }

  async #owner(signal: AbortSignal) {
    const { name, heartbeatClient, timeoutMs } = this.#options;
    const node = await heartbeatClient.get(NODES, { name }, { signal, timeoutMs });
    return { apiVersion: 'v1', kind: 'Node', name, uid: node.metadata.uid ?? '' };
  }
}
