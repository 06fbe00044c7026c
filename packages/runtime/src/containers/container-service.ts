import { errorMessage, KeyedLock, Later, PodwrightError, raceAbort, withTimeout } from '@podwright/base';
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

/** How long a container that is to be stopped may still take to start. */
const START_PATIENCE_MS = 5000;
/** How long a start that was given up may take to remove what it has made. */
const START_ENDS_TIMEOUT_MS = 120_000;
/** How long the containers of a sandbox may take to be stopped or removed; each is bounded by itself, too. */
const OF_SANDBOX_TIMEOUT_MS = 300_000;

/** How long what remains of a container that has ended, or was removed, may stay while calls are answered. */
const LATER_MS = 30;
/** When what could not be removed of a container is tried again. */
const REMOVE_AGAIN_MS = 60_000;

/** Phases of a container that a CreateContainer of the same name may meet. */
const PHASES: ExistingPhases<ContainerRecord> = { unfinished: HIDDEN_PHASES, finished: 'created' };

/**
 * Containers. Changes of one container happen one after the other, and go on when their caller has gone; a create either
 * succeeds or leaves nothing. A stop waits for no lock, so that a short one may overtake a patient one. `work` joins retries
 * and `changes` keeps the verbs of one container apart, as for sandboxes: see `SandboxService`.
 */
export class ContainerService extends VisibleRecords<ContainerRecord> implements PodContainers {
  readonly #context: ContainerContext;
  readonly #changes = new KeyedLock();
  /** What is done for nobody who waits: stops and starts of other containers come first. */
  readonly #later = new Later(LATER_MS);
  /** Aborts when the service is closed. */
  readonly #closed = new AbortController();
  /** What ends the starts that are under way, by container. */
  readonly #starts = new Map<string, AbortController>();

  constructor(dependencies: ContainerServiceDependencies) {
    super(dependencies.table, HIDDEN_PHASES);
    const exits = new ExitWatch({ ...dependencies, later: this.#later });
    this.#context = { ...dependencies, exits, changes: this.#changes };
  }

  /** As `require`; one that does not run is a `failed_precondition`. */
  requireRunning(idOrPrefix: string): ContainerRecord {
    const record = this.require(idOrPrefix);
    if (record.state.phase === 'running') return record;
    throw new PodwrightError(
      'failed_precondition',
      `container ${record.id} is not running, it is ${record.state.phase}`,
    );
  }

  /**
   * Creates the container, joins the earlier call for it, or returns what that made. Errors: `not_found` (sandbox, image),
   * `failed_precondition` (sandbox not ready), `already_exists`, `invalid_argument`.
   */
  create(sandboxIdOrPrefix: string, config: ContainerConfig, signal: AbortSignal): Promise<ContainerRecord> {
    const { table, sandboxes, work } = this.#context;
    const sandbox = sandboxes.require(sandboxIdOrPrefix);
    const name = containerName(sandbox.id, config);
    return work.run({ key: `create container ${name}`, input: config }, signal, async () => {
      const attempted = `create container ${config.name} in sandbox ${sandbox.id}`;
      const policy = existingRecordPolicy(table.byName(name), { attempted, config }, PHASES);
      if (policy.kind === 'return') return policy.record;
      if (policy.kind === 'clear')
        await this.#changes.run(policy.record.id, () => removeContainer(this.#context, policy.record.id));
      return createContainer(this.#context, sandbox, config);
    });
  }

  /** Starts a created container. A failure ends it for good, with the reason StartError. */
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

  /** Asks the container to end, and kills it after `graceMs`. Unknown and ended ones are a success. */
  async stop(idOrPrefix: string, graceMs: number, signal: AbortSignal): Promise<void> {
    const record = this.find(idOrPrefix);
    if (record !== undefined) await this.#stop(record.id, { graceMs, signal });
  }

  /**
   * Removes the container, killed first if it runs. An unknown one is a success. What has no process any more, files and cgroups,
   * is removed after this has resolved; should that fail, it is tried again.
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

  /** What the container runs, or was created to run, as JSON; `undefined` for one that an earlier version of Podwright created. */
  specText(id: string): string | undefined {
    return this.#context.files.specText(id);
  }

  /** Changes the limits of a container that has not ended; 0 and '' leave what is. */
  async update(idOrPrefix: string, resources: ContainerResources, signal: AbortSignal): Promise<void> {
    const { id } = this.require(idOrPrefix);
    await this.#change('update', { id, signal }, () => updateContainer(this.#context, id, resources));
  }

  /** Writes the container down into an archive; it goes on running. Errors: see `checkpointContainer`. */
  async checkpoint(idOrPrefix: string, wanted: CheckpointRequest, signal: AbortSignal): Promise<void> {
    const { id } = this.requireRunning(idOrPrefix);
    await this.#changes.run(id, () => checkpointContainer(this.#context, id, { ...wanted, signal }));
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
   * Finishes what was begun before the restart and finds out what happened meanwhile. Those whose sandbox's record was damaged
   * are removed, for a pod ends as a whole. One that fails keeps its record.
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

  /** Begins what waits for a better moment: it is work by then, see `SharedWork`. */
  hurry(): void {
    this.#later.beginAll();
  }

  /** Stops watching; the containers go on. */
  close(): void {
    this.#closed.abort();
    this.#later.close();
    this.#context.exits.close();
  }

  /** A container that is being started is stopped as soon as it runs. */
  async #stop(id: string, options: { graceMs: number; signal: AbortSignal }): Promise<void> {
    await this.#startEnded(id);
    await stopContainer(this.#context, id, options);
  }

  #inSandbox(sandboxId: string): ContainerRecord[] {
    return this.#context.table.list().filter((record) => record.sandboxId === sandboxId);
  }

  /** Waits for a start that is under way; one that takes too long is given up. */
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

  /** Goes on after the answer. One that fails keeps its record, which also the next start finds. */
  #removeRest(id: string): void {
    const { logger } = this.#context;
    this.#change('remove', { id, signal: this.#closed.signal }, () => removeContainer(this.#context, id)).catch(
      (error) => {
        if (this.#closed.signal.aborted) return;
        logger.warn(
          { container: id, error: errorMessage(error) },
          'cannot remove all of a container, it is tried again',
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
