import { availableParallelism } from 'node:os';
import {
  describeUndoFailures,
  errorCode,
  type Failpoint,
  KeyedLock,
  Limiter,
  type Logger,
  type SharedWork,
  type TraceWork,
  Undo,
  withTimeout,
  wrapError,
} from '@podwright/base';
import type { RecordTable } from '@podwright/metadata';
import type { Network } from '../network/network.ts';
import type { NriHooks } from '../nri/nri-hooks.ts';
import { type ExistingPhases, existingRecordPolicy } from '../records/existing-record.ts';
import { newId, type RecordClock } from '../records/ids.ts';
import type { LifecycleEvents } from '../records/lifecycle-events.ts';
import {
  type SandboxConfig,
  type SandboxRecord,
  type SandboxResources,
  sandboxName,
} from '../records/sandbox-record.ts';
import { VisibleRecords } from '../records/visible-records.ts';
import { SANDBOX_START_PATIENCE_MS, SANDBOX_WORK_TIMEOUT_MS } from '../time-limits.ts';
import { networkRequest, tearDownRequest } from './network-request.ts';
import type { ReadySandboxes } from './ready-sandboxes.ts';
import type { SandboxController } from './sandbox-controller.ts';
import type { SandboxControllers } from './sandbox-controllers.ts';

/**
 * Maximum number of sandboxes starting concurrently, each of which keeps a CPU busy. Because of this limit, the first pods of a burst are
 * already running while the last ones wait for their turn; otherwise, all of them would start late.
 */
const STARTS_AT_ONCE = Math.max(2, availableParallelism());

/** How RunPodSandbox handles an existing sandbox with the same name: an unfinished one is removed first, and a ready one is returned. */
const PHASES: ExistingPhases<SandboxRecord> = { unfinished: ['creating', 'broken'], finished: 'ready' };

/** Operations on a pod's containers, implemented by `ContainerService`. */
export type PodContainers = {
  /** Kills all of the sandbox's running containers and waits for them to exit. */
  stopAll(sandboxId: string): Promise<void>;
  /** Waits until the resources of the sandbox's exited containers have been cleaned up. */
  untilCleared(sandboxId: string): Promise<void>;
  removeAll(sandboxId: string): Promise<void>;
};

export type SandboxServiceDependencies = {
  table: RecordTable<SandboxRecord>;
  controllers: SandboxControllers;
  network: Network;
  ready: Pick<ReadySandboxes, 'take' | 'discard' | 'releaseAll'>;
  containers: PodContainers;
  events: LifecycleEvents;
  nri: NriHooks;
  work: SharedWork;
  clock: RecordClock;
  failpoint: Failpoint;
  trace: TraceWork;
  logger: Logger;
};

/**
 * Manages the pods' sandboxes. Running a sandbox either succeeds or leaves nothing behind, and is rolled back when the caller cancels. If
 * the rollback fails, the record is retained, and the removal is completed by a later stop, remove or retry, or at the next start of the
 * container runtime.
 *
 * Calls are serialized at several levels, from the outside in:
 * - `work` (per verb and name) joins a retry with the original call, and continues after the caller's deadline.
 * - `#starts` (for all sandboxes) limits the number of sandboxes starting concurrently to the number of CPUs.
 * - `#changes` (per sandbox) serializes different verbs for the same sandbox, and the handling of its loss.
 * - The task runtime has a lock per task, because it has other callers too: infra processes and the removal of leftovers.
 */
export class SandboxService extends VisibleRecords<SandboxRecord> {
  readonly #dependencies: SandboxServiceDependencies;
  readonly #changes = new KeyedLock();
  readonly #starts = new Limiter(STARTS_AT_ONCE, SANDBOX_START_PATIENCE_MS);

  constructor(dependencies: SandboxServiceDependencies) {
    super(dependencies.table, ['creating']);
    this.#dependencies = dependencies;
  }

  /**
   * Runs the sandbox, joins an earlier call in progress, or returns the sandbox that it created. Throws `already_exists` if there is a
   * different sandbox with the same name.
   */
  run(config: SandboxConfig, signal: AbortSignal): Promise<SandboxRecord> {
    const name = sandboxName(config);
    const key = `run sandbox ${name}`;
    return this.#dependencies.work.run({ key, input: config }, signal, async (abandoned) => {
      const existing = this.#dependencies.table.byName(name);
      const policy = existingRecordPolicy(existing, { attempted: key, config }, PHASES);
      if (policy.kind === 'return') return policy.record;
      if (policy.kind === 'clear') await this.#remove(policy.record.id);
      return await this.#starts.run(() => {
        abandoned.throwIfAborted();
        return this.#create(name, config, abandoned);
      });
    });
  }

  /** Stops the sandbox and releases its addresses. Succeeds if it does not exist or is already stopped. */
  async stop(idOrPrefix: string, signal: AbortSignal): Promise<void> {
    const record = this.find(idOrPrefix);
    if (record === undefined) return;
    await this.#dependencies.work.run({ key: `stop sandbox ${record.id}` }, signal, () =>
      this.#changes.run(record.id, () => this.#stop(record.id)),
    );
  }

  /** Stops the sandbox if necessary, and removes it along with its containers. Succeeds if it does not exist. */
  async remove(idOrPrefix: string, signal: AbortSignal): Promise<void> {
    const record = this.find(idOrPrefix);
    if (record === undefined) return;
    await this.#dependencies.work.run({ key: `remove sandbox ${record.id}` }, signal, () => this.#remove(record.id));
  }

  /** Records a pod's new resources (UpdatePodSandboxResources). Throws `not_found` if the sandbox does not exist. */
  async setResources(idOrPrefix: string, resources: SandboxResources, signal: AbortSignal): Promise<void> {
    const { id } = this.require(idOrPrefix);
    const { nri, table } = this.#dependencies;
    const record = async () => {
      await nri.sandboxUpdating(this.require(id), resources);
      const updated = table.update(id, (sandbox) => ({ ...sandbox, resources }));
      if (updated !== undefined) await nri.sandboxUpdated(updated);
    };
    await this.#changes.run(id, record, signal);
  }

  /** Stops a sandbox that has lost one of its resources. */
  async lost(id: string, reason: string): Promise<void> {
    await this.#changes.run(id, async () => {
      if (this.#dependencies.table.get(id)?.state.phase !== 'ready') return;
      this.#dependencies.logger.warn({ sandbox: id, reason }, 'sandbox is no longer ready');
      await this.#stop(id);
    });
  }

  async #create(name: string, config: SandboxConfig, abandoned: AbortSignal): Promise<SandboxRecord> {
    const { controllers, ready, failpoint } = this.#dependencies;
    const controller = controllers.forHandler(config.runtimeHandler);
    const readyId = ready.take(config, controller);
    const record = this.#record({ id: readyId ?? newId(), name, config, controller: controller.name }, readyId);
    return this.#changes.run(record.id, async () => {
      await failpoint('sandbox-run/recorded');
      return await this.#acquire(record, { ahead: readyId !== undefined, abandoned });
    });
  }

  /**
   * Writes a new sandbox's record. If this fails, discards the sandbox prepared in advance (`readyId`), which has no record through which
   * it could be found.
   */
  #record(
    sandbox: Pick<SandboxRecord, 'id' | 'name' | 'config' | 'controller'>,
    readyId: string | undefined,
  ): SandboxRecord {
    const { table, ready, clock } = this.#dependencies;
    try {
      return table.put({ ...sandbox, state: { phase: 'creating' }, createdAtMs: clock.now(), ips: [] });
    } catch (error) {
      if (readyId !== undefined) ready.discard(readyId);
      throw error;
    }
  }

  /**
   * Creates all of a sandbox's resources and marks it ready; rolls back on failure. `ahead`: the sandbox was prepared in advance, and might
   * already be attached to its network.
   */
  async #acquire(
    record: SandboxRecord,
    { ahead, abandoned }: { ahead: boolean; abandoned: AbortSignal },
  ): Promise<SandboxRecord> {
    const { controllers, nri, failpoint, trace } = this.#dependencies;
    const controller = controllers.of(record);
    const undo = new Undo();
    using signal = withTimeout(abandoned, SANDBOX_WORK_TIMEOUT_MS, `run sandbox ${record.name}`);
    try {
      undo.add('remove the sandbox', () => controller.remove(record.id));
      if (ahead) undo.add('tear the network down', () => this.#tearDownNetwork(record));
      const making = ahead ? 'take namespaces that were made ahead' : 'make namespaces';
      const { netnsPath } = await trace(making, () => controller.create(record, signal));
      await failpoint('sandbox-run/created');
      if (netnsPath !== undefined && !ahead) undo.add('tear the network down', () => this.#tearDownNetwork(record));
      const ips = await this.#start(controller, { record, netnsPath, signal });
      await failpoint('sandbox-run/network-up');
      await controller.setAddresses(record, ips);
      await failpoint('sandbox-run/acquired');
      signal.throwIfAborted();
      undo.add('notify plugins', () => nri.sandboxRemoved({ ...record, ips }));
      await nri.sandboxRunning({ ...record, ips });
      await failpoint('sandbox-run/reported');
      signal.throwIfAborted();
      return this.#announce(record, ips);
    } catch (error) {
      await this.#rollBack(record, undo);
      throw wrapError(`run sandbox ${record.name}`, error);
    }
  }

  #announce(record: SandboxRecord, ips: string[]): SandboxRecord {
    const { table, events } = this.#dependencies;
    const ready = table.put({ ...record, state: { phase: 'ready' }, ips });
    events.publish('created', ready);
    events.publish('started', ready);
    return ready;
  }

  /**
   * Rolls back a sandbox whose start has failed, then deletes the record or, if something could not be removed, marks the sandbox as
   * broken.
   */
  async #rollBack(record: SandboxRecord, undo: Undo): Promise<void> {
    const { table, logger } = this.#dependencies;
    const failures = await undo.run();
    try {
      if (failures.length === 0) table.delete(record.id);
      else table.put({ ...record, state: { phase: 'broken' } });
    } catch (error) {
      failures.push({ step: 'write the record', error });
    }
    if (failures.length > 0)
      logger.error({ sandbox: record.id, left: describeUndoFailures(failures) }, 'cannot roll back a sandbox');
  }

  /** Sets up the network and starts the sandbox, concurrently unless the controller requires the network to be set up first. */
  async #start(
    controller: SandboxController,
    { record, netnsPath, signal }: { record: SandboxRecord; netnsPath: string | undefined; signal: AbortSignal },
  ): Promise<string[]> {
    const { trace } = this.#dependencies;
    const network = this.#setUpNetwork(record, netnsPath, signal);
    if (controller.startsInNetwork) await network;
    const started = trace('start sandbox', () => controller.start(record, signal));
    const [ips] = await allSettled([network, started]);
    return ips;
  }

  async #setUpNetwork(record: SandboxRecord, netnsPath: string | undefined, signal: AbortSignal): Promise<string[]> {
    if (netnsPath === undefined) return [];
    const { network, ready, trace } = this.#dependencies;
    const request = networkRequest(record, netnsPath);
    const setUp = () => trace('set up network', () => network.setUp(request, signal));
    const { ips } = await setUp().catch(async (error: unknown) => {
      // no address is free: retry after freeing those of the ready sandboxes
      if (errorCode(error) !== 'resource_exhausted' || !(await ready.releaseAll())) throw error;
      return await setUp();
    });
    return ips;
  }

  async #tearDownNetwork(record: SandboxRecord): Promise<void> {
    const { controllers, network, trace } = this.#dependencies;
    const netnsPath = controllers.of(record).netnsPath(record);
    if (netnsPath === undefined) return;
    using signal = withTimeout(undefined, SANDBOX_WORK_TIMEOUT_MS, `tear down the network of sandbox ${record.id}`);
    await trace('tear down network', () => network.tearDown(tearDownRequest(record, netnsPath), signal));
  }

  async #stop(id: string): Promise<void> {
    const { table, controllers, containers, events, nri, failpoint, trace } = this.#dependencies;
    const record = table.get(id);
    if (record === undefined || record.state.phase === 'stopped' || record.state.phase === 'removing') return;
    const controller = controllers.of(record);
    table.put({ ...record, state: { phase: 'stopping' } });
    await failpoint('sandbox-stop/recorded');
    const ended = trace('kill containers', () => containers.stopAll(id)).then(() => nri.sandboxStopped(record));
    // if there are plugins, tear down the network after their StopPodSandbox: they might clean up in the pod's network namespace
    const before = nri.isActive ? ended : Promise.resolve();
    await allSettled([ended, before.then(() => this.#tearDownNetwork(record))]);
    await failpoint('sandbox-stop/network-down');
    if (controller.holdsTasks) await containers.untilCleared(id);
    await trace('stop sandbox', () => controller.stop(id));
    await failpoint('sandbox-stop/stopped');
    events.publish('stopped', table.put({ ...record, state: { phase: 'stopped' } }));
  }

  #remove(id: string): Promise<void> {
    return this.#changes.run(id, async () => {
      const { table, controllers, containers, events, nri, failpoint } = this.#dependencies;
      await this.#stop(id);
      const record = table.update(id, (stopped) => ({ ...stopped, state: { phase: 'removing' } }));
      if (record === undefined) return;
      await failpoint('sandbox-remove/recorded');
      await containers.removeAll(id);
      await controllers.of(record).remove(id);
      await failpoint('sandbox-remove/removed');
      table.delete(id);
      events.publish('deleted', record);
      await nri.sandboxRemoved(record);
    });
  }

  /**
   * Completes operations interrupted by a restart, and stops sandboxes that did not survive it. If this fails for a sandbox, its record is
   * retained.
   */
  recover(): Promise<void> {
    return this.recoverEach(this.#dependencies.logger, (record) => this.#recoverOne(record));
  }

  async #recoverOne(record: SandboxRecord): Promise<void> {
    const { controllers } = this.#dependencies;
    switch (record.state.phase) {
      case 'creating':
      case 'removing':
        return this.#remove(record.id);
      case 'broken':
      case 'stopping':
        return this.#changes.run(record.id, () => this.#stop(record.id));
      case 'ready': {
        const status = await controllers.of(record).status(record);
        return status.alive ? undefined : this.lost(record.id, status.reason);
      }
      case 'stopped':
    }
  }
}

/** Waits for all promises to settle, then throws the first error, so that no step is still running during the rollback. */
async function allSettled<T extends unknown[]>(work: [...{ [K in keyof T]: Promise<T[K]> }]): Promise<T> {
  const results = await Promise.allSettled<unknown>(work);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return results.map((result) => (result.status === 'fulfilled' ? result.value : undefined)) as T;
}
