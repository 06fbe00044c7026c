import { type FSWatcher, watch } from 'node:fs';
import { errorMessage, type Logger } from '@podwright/base';
import { signalProcess } from '@podwright/system';
import { FULL_LOOK_EVERY, MONITOR_LOOK_MS } from '../limits.ts';
import type { TaskExit } from '../task-runtime.ts';

type Watch = {
  listeners: Set<(exit: TaskExit) => void>;
  monitorPid: number | undefined;
  /** `again`: something was heard while a look was under way. */
  looking: 'no' | 'yes' | 'again';
};

/** What a look at a task has found: its exit, or the monitor that will report it. */
export type TaskLook = { exit: TaskExit } | { monitorPid: number | undefined };

export type ExitFileWatchOptions = {
  /** Directory in which a file named as the task appears when it ends. */
  directory: string;
  check(id: string): Promise<TaskLook>;
  logger: Logger;
};

/**
 * Calls listeners when tasks end: by inotify on the directory of exit files, and by looking now and then. Pods may use up all that
 * the kernel has of inotify for this process's user: until it gives a watch again, ends are seen at the next look.
 */
export class ExitFileWatch {
  readonly #options: ExitFileWatchOptions;
  readonly #watches = new Map<string, Watch>();
  #watcher: FSWatcher | undefined;
  #problem: string | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(options: ExitFileWatchOptions) {
    this.#options = options;
    this.#watch();
    let ticks = 0;
    this.#timer = setInterval(() => {
      const full = ++ticks % FULL_LOOK_EVERY === 0 || this.#watch();
      for (const [id, { monitorPid }] of this.#watches)
        if (full || monitorPid === undefined || !signalProcess(monitorPid, 0)) this.#look(id);
    }, MONITOR_LOOK_MS);
  }

  add(id: string, listener: (exit: TaskExit) => void): Disposable {
    const entry = this.#watches.get(id) ?? { listeners: new Set(), monitorPid: undefined, looking: 'no' };
    this.#watches.set(id, entry);
    entry.listeners.add(listener);
    this.#look(id);
    return {
      [Symbol.dispose]: () => {
        entry.listeners.delete(listener);
        if (entry.listeners.size === 0 && this.#watches.get(id) === entry) this.#watches.delete(id);
      },
    };
  }

  /** Calls all listeners of the task with its exit, and forgets them. */
  settle(id: string, exit: TaskExit): void {
    const entry = this.#watches.get(id);
    this.#watches.delete(id);
    for (const listener of entry?.listeners ?? []) listener(exit);
  }

  close(): void {
    this.#unwatch();
    clearInterval(this.#timer);
    this.#watches.clear();
  }

  /** True if it has begun to watch: what came before that is to be looked for. */
  #watch(): boolean {
    if (this.#watcher !== undefined) return false;
    const { directory, logger } = this.#options;
    try {
      this.#watcher = watch(directory, (_event, id) => {
        if (id !== null) this.#look(id);
      });
      this.#watcher.on('error', () => this.#unwatch());
      if (this.#problem !== undefined) logger.info({ directory }, 'the directory of exit files is watched again');
      this.#problem = undefined;
      return true;
    } catch (error) {
      if (this.#problem !== errorMessage(error))
        logger.warn(
          { directory, error: errorMessage(error) },
          'cannot watch for ends of containers, looking every second',
        );
      this.#problem = errorMessage(error);
      return false;
    }
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #look(id: string): void {
    const entry = this.#watches.get(id);
    if (entry === undefined) return;
    if (entry.looking !== 'no') {
      entry.looking = 'again';
      return;
    }
    entry.looking = 'yes';
    this.#options
      .check(id)
      .then(
        (finding) => {
          if ('exit' in finding) this.settle(id, finding.exit);
          else entry.monitorPid = finding.monitorPid;
        },
        (error) => this.#options.logger.warn({ task: id, error: errorMessage(error) }, 'look at a task'),
      )
      .finally(() => {
        const again = entry.looking === 'again';
        entry.looking = 'no';
        if (again) this.#look(id);
      });
  }
}
