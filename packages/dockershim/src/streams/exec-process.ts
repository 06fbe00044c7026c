import { findProcesses, sleep, withTimeout } from '@podwright/base';
import { isInCgroup, killProcessTrees, readProcess } from '@podwright/system';
import type { EngineExec, ExecInspection } from '../engine/engine-exec.ts';
import { CALL_TIMEOUT_MS } from '../limits.ts';

/** The Engine is asked how a command stands at first so soon, then ever later, in milliseconds. */
const FIRST_LOOK_MS = 2;
const LAST_LOOK_MS = 500;

/** A command's first process: its id and, where it was seen alive, its start, which no other of this id has. */
type KnownProcess = { pid: number; startTicks: number | undefined };

/** How a command ended. `hasRun` is false for one that could not be started. */
export type ExecEnd = { exitCode: number; hasRun: boolean };

/** A command that the Engine has been told to start in a container. */
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

  /** Waits until the command runs or has run, which is true, or could not be started. */
  async started(): Promise<boolean> {
    using signal = withTimeout(undefined, CALL_TIMEOUT_MS, 'start a command');
    const found = await this.#until(({ Pid, ExitCode }) => Pid > 0 || ExitCode !== undefined, signal);
    this.#remember(found);
    return found.Pid > 0;
  }

  /** Waits until the command has ended. */
  async ended(signal?: AbortSignal): Promise<ExecEnd> {
    const found = await this.#until(({ Running, ExitCode }) => !Running && ExitCode !== undefined, signal);
    return { exitCode: found.ExitCode!, hasRun: found.Pid > 0 };
  }

  /**
   * Ends the command with all that it has started, also where it has ended itself and left something in its session. The Engine has
   * no call for that: the processes are killed, where they are on this host and in the container. Never rejects.
   */
  async kill(): Promise<void> {
    try {
      if (this.#process === undefined) this.#remember(await this.#exec.inspect(this.#execId));
      if (this.#process !== undefined && (await this.#isLeft(this.#process)))
        await killProcessTrees([this.#process.pid]);
    } catch {
      // the container, or the Engine, has gone meanwhile
    }
  }

  #remember({ Pid }: ExecInspection): void {
    if (Pid === 0) return;
    const startTicks = this.#hasInContainer(Pid) ? readProcess(Pid)?.startTicks : undefined;
    this.#process ??= { pid: Pid, startTicks };
  }

  /** Whether the command's process, or one of its session, is there. A session keeps the kernel from using its number again. */
  async #isLeft({ pid, startTicks }: KnownProcess): Promise<boolean> {
    const leader = readProcess(pid);
    if (leader !== undefined) return leader.startTicks === startTicks && this.#hasInContainer(pid);
    const isOfSession = async (one: number) => readProcess(one)?.session === pid && this.#hasInContainer(one);
    return (await findProcesses(isOfSession)).length > 0;
  }

  /** Docker's cgroups are `ID` with cgroupfs and `docker-ID.scope` with systemd. */
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
