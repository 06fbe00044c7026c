import { type FSWatcher, watch } from 'node:fs';
import { errorMessage, type Logger } from '@podwright/base';
import { signalProcess } from '@podwright/system';
import { FULL_CHECK_EVERY, MONITOR_POLL_MS } from '../limits.ts';
import type { TaskExit } from '../task-runtime.ts';

type Watch = {
  listeners: Set<(exit: TaskExit) => void>;
  monitorPid: number | undefined;
  /** Whether the task is being checked for an exit. `again`: another event has arrived meanwhile, so it must be checked once more. */
  checking: 'no' | 'yes' | 'again';
};

/** The result of checking a task: its exit, or the PID of the monitor that will report it. */
export type TaskCheck = { exit: TaskExit } | { monitorPid: number | undefined };

export type ExitFileWatchOptions = {
  /** Directory where a file named after the task's ID appears when the task exits. */
  directory: string;
  check(id: string): Promise<TaskCheck>;
  logger: Logger;
};

/**
 * Calls listeners when tasks exit. Detects exits by watching the directory of exit files with inotify, and by polling. Pods can exhaust the
 * inotify limits of this process's user; until the kernel grants a watch again, exits are detected by polling alone.
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
      const full = ++ticks % FULL_CHECK_EVERY === 0 || this.#watch();
      for (const [id, { monitorPid }] of this.#watches)
        if (full || monitorPid === undefined || !signalProcess(monitorPid, 0)) this.#check(id);
    }, MONITOR_POLL_MS);
  }

  add(id: string, listener: (exit: TaskExit) => void): Disposable {
    const entry = this.#watches.get(id) ?? { listeners: new Set(), monitorPid: undefined, checking: 'no' };
    this.#watches.set(id, entry);
    entry.listeners.add(listener);
    this.#check(id);
    return {
      [Symbol.dispose]: () => {
        entry.listeners.delete(listener);
        if (entry.listeners.size === 0 && this.#watches.get(id) === entry) this.#watches.delete(id);
      },
    };
  }

  /** Reports the exit to all of the task's listeners and removes them. */
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

  /**
   * Starts watching the directory of exit files if it is not being watched. Returns true if it did, in which case the caller must check for
   * tasks that exited earlier.
   */
  #watch(): boolean {
    if (this.#watcher !== undefined) return false;
    const { directory, logger } = this.#options;
    try {
      this.#watcher = watch(directory, (_event, id) => {
        if (id !== null) this.#check(id);
      });
      this.#watcher.on('error', () => this.#unwatch());
      if (this.#problem !== undefined) logger.info({ directory }, 'the directory of exit files is watched again');
      this.#problem = undefined;
      return true;
    } catch (error) {
      if (this.#problem !== errorMessage(error))
        logger.warn(
          { directory, error: errorMessage(error) },
          'cannot watch for ends of containers, polling every second',
        );
      this.#problem = errorMessage(error);
      return false;
    }
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #check(id: string): void {
    const entry = this.#watches.get(id);
    if (entry === undefined) return;
    if (entry.checking !== 'no') {
      entry.checking = 'again';
      return;
    }
    entry.checking = 'yes';
    this.#options
      .check(id)
      .then(
        (finding) => {
          if ('exit' in finding) this.settle(id, finding.exit);
          else entry.monitorPid = finding.monitorPid;
        },
        (error) => this.#options.logger.warn({ task: id, error: errorMessage(error) }, 'cannot check a task'),
      )
      .finally(() => {
        const again = entry.checking === 'again';
        entry.checking = 'no';
        if (again) this.#check(id);
      });
  }
}
