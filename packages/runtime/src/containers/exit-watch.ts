import { background, errorMessage, KeyedLock, type Later, type Logger, raceAbort, sleep } from '@podwright/base';
import type { RecordTable } from '@podwright/metadata';
import type { NriHooks } from '../nri/nri-hooks.ts';
import type { ContainerRecord } from '../records/container-record.ts';
import type { LifecycleEvents } from '../records/lifecycle-events.ts';
import type { TaskExit, TaskRuntime } from '../tasks/task-runtime.ts';
import { endOfTask } from './container-end.ts';
import type { ContainerFiles } from './container-files.ts';

/** Delay before retrying to record a container's exit. */
const RECORD_AGAIN_MS = 1000;

export type ExitWatchDependencies = {
  table: RecordTable<ContainerRecord>;
  tasks: TaskRuntime;
  files: ContainerFiles;
  events: LifecycleEvents;
  nri: NriHooks;
  /** Schedules an exited container's cleanup for when there is nothing more urgent to do. */
  later: Later;
  logger: Logger;
};

/** Records container exits, then cleans up the task and the mounts, which only a running container needs. */
export class ExitWatch {
  readonly #dependencies: ExitWatchDependencies;
  readonly #clearings = new KeyedLock();
  readonly #watches = new Map<string, { watch: Disposable | undefined; ended: PromiseWithResolvers<void> }>();

  constructor(dependencies: ExitWatchDependencies) {
    this.#dependencies = dependencies;
  }

  /** Starts watching a container whose recorded phase is running. */
  watch(id: string): void {
    const entry: { watch: Disposable | undefined; ended: PromiseWithResolvers<void> } = {
      watch: undefined,
      ended: Promise.withResolvers<void>(),
    };
    this.#watches.set(id, entry);
    const { tasks, logger } = this.#dependencies;
    entry.watch = tasks.onExit(id, (exit) =>
      background(logger, 'the exit of a container is not recorded', this.#settle(id, exit)),
    );
  }

  /** Waits for the container's exit to be recorded. Resolves immediately if the container is not watched. */
  async ended(id: string, signal: AbortSignal): Promise<void> {
    const entry = this.#watches.get(id);
    if (entry !== undefined) await raceAbort(entry.ended.promise, signal);
  }

  /** Starts the delayed cleanup of an exited container immediately, and waits for it. */
  async cleared(id: string): Promise<void> {
    this.#dependencies.later.begin(`clear ${id}`);
    await this.#clearings.run(id, async () => undefined);
  }

  /** Stops watching for container exits. The containers keep running. */
  close(): void {
    for (const { watch } of this.#watches.values()) watch?.[Symbol.dispose]();
    this.#watches.clear();
  }

  /** Records a container's exit. Retries until this succeeds, because recording fails while the disk is full. */
  async #settle(id: string, exit: TaskExit): Promise<void> {
    for (let entry = this.#watches.get(id); entry !== undefined; entry = this.#watches.get(id)) {
      try {
        this.#record(id, exit);
        this.#watches.delete(id);
        entry.ended.resolve();
      } catch (error) {
        this.#dependencies.logger.error(
          { container: id, error: errorMessage(error) },
          'the exit of a container could not be recorded',
        );
        await sleep(RECORD_AGAIN_MS);
      }
    }
  }

  #record(id: string, exit: TaskExit): void {
    const { table, events, nri, later, logger } = this.#dependencies;
    const record = table.get(id);
    if (record?.state.phase !== 'running') return;
    const end = endOfTask(exit, record.state.startedAtMs);
    const exited = table.put({ ...record, state: { phase: 'exited', ...end } });
    events.publish('stopped', exited);
    background(logger, 'the exit of a container is not reported to plugins', nri.containerExited(exited));
    later.add(`clear ${id}`, () => this.#beginClearing(id));
  }

  #beginClearing(id: string): void {
    const { logger } = this.#dependencies;
    this.#clearings
      .run(id, () => this.#clear(id))
      .catch((error) => {
        logger.warn({ container: id, error: errorMessage(error) }, 'could not clean up after an exited container');
      });
  }

  async #clear(id: string): Promise<void> {
    const { table, tasks, files } = this.#dependencies;
    if (table.get(id)?.state.phase !== 'exited') return;
    await tasks.delete(id);
    files.unmount(id);
  }
}
