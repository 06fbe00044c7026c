import { sleep, withTimeout } from '@podwright/base';
import { findProcesses } from '@podwright/host';
import { isInCgroup, killProcessTrees, readProcess } from '@podwright/system';
import type { EngineExec, ExecInspection } from '../engine/engine-exec.ts';
import { CALL_TIMEOUT_MS } from '../limits.ts';

/** Delay between the first two inspections of an exec, in milliseconds. It doubles after each further one, up to `LAST_LOOK_MS`. */
const FIRST_LOOK_MS = 2;
const LAST_LOOK_MS = 500;

/**
 * The first process of an exec: its PID and, if it was seen alive, its start time, which distinguishes it from a later process with the
 * same PID.
 */
type KnownProcess = { pid: number; startTicks: number | undefined };

/** How an exec ended. `hasRun` is false if its command could not be started. */
export type ExecEnd = { exitCode: number; hasRun: boolean };

/** A command that the Engine is running in a container. */
export class ExecProcess {
  readonly #exec: EngineExec;
  readonly #containerId: string;
  readonly #execId: string;
  #process: KnownProcess | undefined;

  constructor(exec: EngineExec, { containerId, execId }: { containerId: string; execId: string }) {
    this.#exec = exec;
    this.#containerId = containerId;
    this.#execId = execId;
  }

  /** Waits until the command is running or has exited. Returns false if it could not be started. */
  async started(): Promise<boolean> {
    using signal = withTimeout(undefined, CALL_TIMEOUT_MS, 'start a command');
    const found = await this.#until(({ Pid, ExitCode }) => Pid > 0 || ExitCode !== undefined, signal);
    this.#remember(found);
    return found.Pid > 0;
  }

  /** Waits until the command has exited. */
  async ended(signal?: AbortSignal): Promise<ExecEnd> {
    const found = await this.#until(({ Running, ExitCode }) => !Running && ExitCode !== undefined, signal);
    return { exitCode: found.ExitCode!, hasRun: found.Pid > 0 };
  }

  /**
   * Kills the command and its descendants, even if only orphans in its session remain. The Engine has no API for this, so the processes are
   * killed directly, provided that they are on this host and in the container. Never rejects.
   */
  async kill(): Promise<void> {
    try {
      if (this.#process === undefined) this.#remember(await this.#exec.inspect(this.#execId));
      if (this.#process !== undefined && (await this.#isLeft(this.#process)))
        await killProcessTrees([this.#process.pid]);
    } catch {
      // ignored: the container was removed, or the Engine has stopped
    }
  }

  #remember({ Pid }: ExecInspection): void {
    if (Pid === 0) return;
    const startTicks = this.#hasInContainer(Pid) ? readProcess(Pid)?.startTicks : undefined;
    this.#process ??= { pid: Pid, startTicks };
  }

  /**
   * Whether the command's process or any other process of its session still exists. The kernel does not reuse the PID while the session
   * exists.
   */
  async #isLeft({ pid, startTicks }: KnownProcess): Promise<boolean> {
    const leader = readProcess(pid);
    if (leader !== undefined) return leader.startTicks === startTicks && this.#hasInContainer(pid);
    const isOfSession = async (one: number) => readProcess(one)?.session === pid && this.#hasInContainer(one);
    return (await findProcesses(isOfSession)).length > 0;
  }

  /**
   * Whether a process is in the container's cgroup. Docker names the cgroup `ID` with the cgroupfs driver, and `docker-ID.scope` with
   * systemd.
   */
  #hasInContainer(pid: number): boolean {
    return isInCgroup(pid, this.#containerId) || isInCgroup(pid, `${this.#containerId}.scope`);
  }

  async #until(isSo: (found: ExecInspection) => boolean, signal?: AbortSignal): Promise<ExecInspection> {
    for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(waitMs * 2, LAST_LOOK_MS)) {
      const found = await this.#exec.inspect(this.#execId, signal);
      if (isSo(found)) return found;
      await sleep(waitMs, signal);
    }
  }
}
