import { errorMessage, KeyedLock, type Later, type Logger, raceAbort, sleep } from '@podwright/base';
import type { RecordTable } from '@podwright/metadata';
import type { ContainerRecord } from '../records/container-record.ts';
import type { LifecycleEvents } from '../records/lifecycle-events.ts';
import type { TaskExit, TaskRuntime } from '../tasks/task-runtime.ts';
import { endOfTask } from './container-end.ts';
import type { ContainerFiles } from './container-files.ts';

const RECORD_AGAIN_MS = 1000;

export type ExitWatchDependencies = {
  table: RecordTable<ContainerRecord>;
  tasks: TaskRuntime;
  files: ContainerFiles;
  events: LifecycleEvents;
  /** Where the clearing waits while there is more urgent work. */
  later: Later;
  logger: Logger;
};

/** Records how containers end, as soon as they do, and then clears away what only a running one needs. */
export class ExitWatch {
  readonly #dependencies: ExitWatchDependencies;
  readonly #clearings = new KeyedLock();
  readonly #watches = new Map<string, { watch: Disposable | undefined; ended: PromiseWithResolvers<void> }>();

  constructor(dependencies: ExitWatchDependencies) {
    this.#dependencies = dependencies;
  }

  /** Watches a container whose record says that it runs. */
  watch(id: string): void {
    const entry: { watch: Disposable | undefined; ended: PromiseWithResolvers<void> } = {
      watch: undefined,
      ended: Promise.withResolvers<void>(),
    };
    this.#watches.set(id, entry);
    entry.watch = this.#dependencies.tasks.onExit(id, (exit) => void this.#settle(id, exit));
  }

  /** Waits until the container's end is recorded; at once if it does not run. */
  async ended(id: string, signal: AbortSignal): Promise<void> {
    const entry = this.#watches.get(id);
    if (entry !== undefined) await raceAbort(entry.ended.promise, signal);
  }

  /** Waits until what only a running container needs is cleared away; if it has ended, that does not wait any longer. */
  async cleared(id: string): Promise<void> {
    this.#dependencies.later.begin(`clear ${id}`);
    await this.#clearings.run(id, async () => undefined);
  }

  /** Stops watching: the containers go on. */
  close(): void {
    for (const { watch } of this.#watches.values()) watch?.[Symbol.dispose]();
    this.#watches.clear();
  }

  /** Records the end, again and again while that cannot be written: the disk may be full. */
  async #settle(id: string, exit: TaskExit): Promise<void> {
    for (let entry = this.#watches.get(id); entry !== undefined; entry = this.#watches.get(id)) {
      try {
        this.#record(id, exit);
        this.#watches.delete(id);
        entry.ended.resolve();
      } catch (error) {
        this.#dependencies.logger.error({ container: id, error: errorMessage(error) }, 'an end could not be recorded');
        await sleep(RECORD_AGAIN_MS);
      }
    }
  }

  #record(id: string, exit: TaskExit): void {
    const { table, events, later } = this.#dependencies;
    const record = table.get(id);
    if (record?.state.phase !== 'running') return;
    const end = endOfTask(exit, record.state.startedAtMs);
    events.publish('stopped', table.put({ ...record, state: { phase: 'exited', ...end } }));
    later.add(`clear ${id}`, () => this.#beginClearing(id));
  }

  #beginClearing(id: string): void {
    const { logger } = this.#dependencies;
    this.#clearings
      .run(id, () => this.#clear(id))
      .catch((error) => {
        logger.warn({ container: id, error: errorMessage(error) }, 'clearing after a container failed');
      });
  }

  async #clear(id: string): Promise<void> {
    const { table, tasks, files } = this.#dependencies;
    if (table.get(id)?.state.phase !== 'exited') return;
    await tasks.delete(id);
    files.unmount(id);
  }
}
