import { errorMessage, KeyedLock, Later, PodwrightError, raceAbort, withTimeout } from '@podwright/base';
import type { AdjustableContainers } from '../nri/nri-hooks.ts';
import {
  type ContainerConfig,
  type ContainerRecord,
  type ContainerResources,
  containerName,
  HIDDEN_PHASES,
} from '../records/container-record.ts';
import { type ExistingPhases, existingRecordPolicy } from '../records/existing-record.ts';
import { VisibleRecords } from '../records/visible-records.ts';
import type { PodContainers } from '../sandbox/sandbox-service.ts';
import { type CheckpointRequest, checkpointContainer } from './container-checkpoint.ts';
import type { ContainerContext, ContainerServiceDependencies } from './container-context.ts';
import { createContainer } from './container-create.ts';
import { recoverContainer } from './container-recover.ts';
import { removeContainer, retireContainer } from './container-remove.ts';
import { startContainer } from './container-start.ts';
import { stopContainer } from './container-stop.ts';
import { updateContainer } from './container-update.ts';
import { ExitWatch } from './exit-watch.ts';

/** How long a stop waits for a pending start before aborting it. */
const START_PATIENCE_MS = 5000;
/** Timeout for rolling back an aborted start. */
const START_ENDS_TIMEOUT_MS = 120_000;
/** Timeout for stopping or removing all containers of a sandbox, in addition to each container's own timeout. */
const OF_SANDBOX_TIMEOUT_MS = 300_000;

/** Delay before cleaning up after an exited or removed container, so that calls in progress take precedence. */
const LATER_MS = 30;
/** Delay before a failed removal is retried. */
const REMOVE_AGAIN_MS = 60_000;

/**
 * How CreateContainer handles an existing container with the same name: an unfinished one is removed first, and a created one is returned.
 */
const PHASES: ExistingPhases<ContainerRecord> = { unfinished: HIDDEN_PHASES, finished: 'created' };

/**
 * Operations on containers. Operations on the same container are serialized, and continue even if their caller cancels. A create either
 * succeeds or leaves nothing behind. A stop takes no lock, so that one with a short grace period can overtake one with a long grace period.
 * As in `SandboxService`, `work` coalesces retries of a call, and `changes` serializes the operations on a container.
 */
export class ContainerService extends VisibleRecords<ContainerRecord> implements PodContainers, AdjustableContainers {
  readonly #context: ContainerContext;
  readonly #changes = new KeyedLock();
  /** Runs cleanup that no caller is waiting for, after other containers' starts and stops. */
  readonly #later = new Later(LATER_MS);
  readonly #closed = new AbortController();
  /** Abort controllers of starts in progress, by container ID. */
  readonly #starts = new Map<string, AbortController>();

  constructor(dependencies: ContainerServiceDependencies) {
    super(dependencies.table, HIDDEN_PHASES);
    const exits = new ExitWatch({ ...dependencies, later: this.#later });
    this.#context = { ...dependencies, exits, changes: this.#changes };
  }

  /** Returns the container's record, like `require`, but also throws `failed_precondition` if the container is not running. */
  requireRunning(idOrPrefix: string): ContainerRecord {
    const record = this.require(idOrPrefix);
    if (record.state.phase === 'running') return record;
    throw new PodwrightError(
      'failed_precondition',
      `container ${record.id} is not running, it is ${record.state.phase}`,
    );
  }

  /**
   * Creates the container, joins a call in progress with the same input, or returns the container created by such a call. Errors:
   * `not_found` (sandbox, image), `failed_precondition` (sandbox not ready), `already_exists`, `invalid_argument`.
   */
  create(sandboxIdOrPrefix: string, config: ContainerConfig, signal: AbortSignal): Promise<ContainerRecord> {
    const { table, sandboxes, work } = this.#context;
    const sandbox = sandboxes.require(sandboxIdOrPrefix);
    const name = containerName(sandbox.id, config);
    return work.run({ key: `create container ${name}`, input: config }, signal, async () => {
      const attempted = `create container ${config.name} in sandbox ${sandbox.id}`;
      const existing = table.byName(name);
      // ignore resources in the comparison: updates and plugins may have changed them
      const resources = existing?.config.resources ?? config.resources;
      const policy = existingRecordPolicy(existing, { attempted, config: { ...config, resources } }, PHASES);
      if (policy.kind === 'return') return policy.record;
      if (policy.kind === 'clear')
        await this.#changes.run(policy.record.id, () => removeContainer(this.#context, policy.record.id));
      return createContainer(this.#context, sandbox, config);
    });
  }

  /**
   * Starts a created container. If this fails, the container's state becomes exited with the reason StartError, and it cannot be started
   * again.
   */
  async start(idOrPrefix: string, signal: AbortSignal): Promise<void> {
    const { id } = this.require(idOrPrefix);
    await this.#change('start', { id, signal }, async () => {
      const start = new AbortController();
      this.#starts.set(id, start);
      try {
        await startContainer(this.#context, id, start.signal);
      } finally {
        this.#starts.delete(id);
      }
    });
  }

  /** Sends the stop signal, then SIGKILL after `graceMs`. Succeeds if the container does not exist or has exited. */
  async stop(idOrPrefix: string, graceMs: number, signal: AbortSignal): Promise<void> {
    const record = this.find(idOrPrefix);
    if (record !== undefined) await this.#stop(record.id, { graceMs, signal });
  }

  /**
   * Removes the container, killing it first if it is running. Succeeds if the container does not exist. Resolves when all of its processes
   * are gone; files and cgroups are removed later, with retries.
   */
  async remove(idOrPrefix: string, signal: AbortSignal): Promise<void> {
    const id = this.find(idOrPrefix)?.id;
    if (id === undefined) return;
    await this.#startEnded(id);
    await this.#change('retire', { id, signal }, async () => {
      await retireContainer(this.#context, id);
      this.#later.add(`remove ${id}`, () => this.#removeRest(id));
    });
  }

  /** Returns the container's OCI spec as JSON; `undefined` for a container created by an earlier version of Podwright. */
  specText(id: string): string | undefined {
    return this.#context.files.specText(id);
  }

  /** Changes the resource limits of a created or running container. 0 and '' leave a limit unchanged. */
  async update(idOrPrefix: string, resources: ContainerResources, signal: AbortSignal): Promise<void> {
    const { id } = this.require(idOrPrefix);
    const { nri, work } = this.#context;
    await work.run({ key: `update container ${id} ${JSON.stringify(resources)}` }, signal, async () => {
      // do not hold this container's lock: plugins may update other containers, whose locks may be held by calls that are waiting for
      // plugins (deadlock)
      const changed = await nri.containerUpdating(this.require(id), resources);
      await this.#changes.run(id, () => updateContainer(this.#context, id, changed));
      await nri.containerUpdated(this.require(id));
    });
  }

  async updateForPlugin(id: string, resources: ContainerResources): Promise<void> {
    const phases: string[] = ['created', 'starting', 'running'];
    const isAlive = () => phases.includes(this.find(id)?.state.phase ?? '');
    if (!isAlive()) return;
    await this.#changes.run(id, async () => {
      if (isAlive()) await updateContainer(this.#context, id, resources);
    });
  }

  async evict(id: string): Promise<void> {
    using signal = withTimeout(undefined, OF_SANDBOX_TIMEOUT_MS, `evict container ${id}`);
    await this.stop(id, 0, signal);
  }

  /** Writes a checkpoint of the container to an archive; the container keeps running. Errors: see `checkpointContainer`. */
  async checkpoint(idOrPrefix: string, request: CheckpointRequest, signal: AbortSignal): Promise<void> {
    const { id } = this.requireRunning(idOrPrefix);
    await this.#changes.run(id, () => checkpointContainer(this.#context, id, { ...request, signal }));
  }

  async stopAll(sandboxId: string): Promise<void> {
    using signal = withTimeout(undefined, OF_SANDBOX_TIMEOUT_MS, `stop the containers of sandbox ${sandboxId}`);
    await Promise.all(this.#inSandbox(sandboxId).map(({ id }) => this.#stop(id, { graceMs: 0, signal })));
  }

  async untilCleared(sandboxId: string): Promise<void> {
    const cleared = ({ id }: ContainerRecord) => this.#changes.run(id, () => this.#context.exits.cleared(id));
    await Promise.all(this.#inSandbox(sandboxId).map(cleared));
  }

  async removeAll(sandboxId: string): Promise<void> {
    using signal = withTimeout(undefined, OF_SANDBOX_TIMEOUT_MS, `remove the containers of sandbox ${sandboxId}`);
    await Promise.all(this.#inSandbox(sandboxId).map(({ id }) => this.#remove(id, signal)));
  }

  /**
   * Finishes operations interrupted by a restart of the container runtime, and records exits that happened while it was down. Removes
   * containers whose sandbox record has been lost, because a pod can only be recreated as a whole. If a container cannot be recovered, its
   * record is retained.
   */
  recover(): Promise<void> {
    const { logger, sandboxes } = this.#context;
    const one = async (record: ContainerRecord) => {
      await this.#changes.run(record.id, () => recoverContainer(this.#context, record));
      if (sandboxes.get(record.sandboxId) !== undefined) return;
      using signal = withTimeout(undefined, OF_SANDBOX_TIMEOUT_MS, `remove container ${record.id} of no sandbox`);
      await this.#remove(record.id, signal);
    };
    return this.recoverEach(logger, one);
  }

  /** Starts all delayed cleanup immediately, so that `SharedWork.idle` waits for it too. */
  startCleanUp(): void {
    this.#later.beginAll();
  }

  /** Stops watching for container exits; the containers keep running. */
  close(): void {
    this.#closed.abort();
    this.#later.close();
    this.#context.exits.close();
  }

  /** Stops a container, after waiting for any start in progress. */
  async #stop(id: string, options: { graceMs: number; signal: AbortSignal }): Promise<void> {
    await this.#startEnded(id);
    await stopContainer(this.#context, id, options);
    const exited = this.#context.table.get(id);
    if (exited?.state.phase === 'exited') await this.#context.nri.containerExited(exited);
  }

  #inSandbox(sandboxId: string): ContainerRecord[] {
    return this.#context.table.list().filter((record) => record.sandboxId === sandboxId);
  }

  /** Waits for a start in progress to finish, aborting it after `START_PATIENCE_MS`. */
  async #startEnded(id: string): Promise<void> {
    if (this.#context.table.get(id)?.state.phase !== 'starting') return;
    const ended = this.#changes.run(id, async () => undefined);
    using patience = withTimeout(undefined, START_PATIENCE_MS, `wait for the start of container ${id}`);
    await raceAbort(ended, patience).catch(() => {
      this.#starts.get(id)?.abort(new PodwrightError('cancelled', 'it was stopped before it had started'));
    });
    using bound = withTimeout(undefined, START_ENDS_TIMEOUT_MS, `end the start of container ${id}`);
    await raceAbort(ended, bound);
  }

  /**
   * Removes the container's files and record after `remove` has returned. If this fails, the record remains, and removal is retried by a
   * timer or at the next start of the container runtime.
   */
  #removeRest(id: string): void {
    const { logger } = this.#context;
    this.#change('remove', { id, signal: this.#closed.signal }, () => removeContainer(this.#context, id)).catch(
      (error) => {
        if (this.#closed.signal.aborted) return;
        logger.warn(
          { container: id, error: errorMessage(error) },
          'could not remove a container completely, retrying later',
        );
        setTimeout(() => this.#closed.signal.aborted || this.#removeRest(id), REMOVE_AGAIN_MS).unref();
      },
    );
  }

  async #remove(id: string, signal: AbortSignal): Promise<void> {
    await this.#startEnded(id);
    return this.#change('remove', { id, signal }, () => removeContainer(this.#context, id));
  }

  #change(verb: string, { id, signal }: { id: string; signal: AbortSignal }, work: () => Promise<void>): Promise<void> {
    return this.#context.work.run({ key: `${verb} container ${id}` }, signal, () => this.#changes.run(id, work));
  }
}
