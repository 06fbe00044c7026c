import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import { ignoreFailure, isNotFound, type Logger, PRIVATE_DIRECTORY, PRIVATE_FILE } from '@podwright/base';
import { namesIn } from '@podwright/host';
import type { OciSpec } from '@podwright/oci';
import { type Shim, Status } from '@podwright/shim';
import { isInCgroup, killProcessTrees, readProcess, type System } from '@podwright/system';
import type { RunningExec } from '../collect-exec.ts';
import { execProcess } from '../exec-spec.ts';
import { keepUnread } from '../output-pace.ts';
import { KILLED_EXIT_CODE } from '../task-exit.ts';
import { openFifoReader, openFifoWriter } from './fifo.ts';
import { callShim, isEnded } from './shim-error.ts';
import type { ShimTaskRecord } from './shim-task-files.ts';
import { fifoPaths } from './task-io.ts';

const PROCESS_TYPE_URL = 'types.containerd.io/opencontainers/runtime-spec/1/Process';
const SIGKILL = 9;

export type ShimExecRequest = {
  shim: Shim;
  system: System;
  record: ShimTaskRecord;
  command: string[];
  terminal: boolean;
  terminalName?: string;
  stdin: boolean;
};

/** An exec: an additional process run in a task by a shim, with its streams. */
export class ShimExec {
  readonly what: string;
  readonly stdin: Writable | undefined;
  readonly stdout: Readable;
  readonly stderr: Readable | undefined;
  /** Resolves with the exit code once the exec's process has exited. Never rejects. */
  readonly exited: Promise<number>;
  readonly #request: ShimExecRequest;
  readonly #id: string;
  readonly #pid = Promise.withResolvers<number>();
  #startTicks: number | undefined;
  readonly #outputs: Socket[];

  private constructor(request: ShimExecRequest, id: string) {
    const { shim, record, command } = request;
    this.#request = request;
    this.#id = id;
    this.what = `run ${JSON.stringify(command[0])} in task ${record.id}`;
    const paths = this.#paths();
    const closeIO = () => shim.tasks.closeIO({ id: record.id, execId: id, stdin: true });
    this.stdin = paths.stdin === '' ? undefined : endByClosing(openFifoWriter(paths.stdin), closeIO);
    this.#outputs = [paths.stdout, paths.stderr].filter((path) => path !== '').map((path) => openFifoReader(path));
    const [stdout, stderr] = this.#outputs.map(keepUnread);
    this.stdout = stdout!;
    this.stderr = stderr;
    this.exited = this.#pid.promise
      .then(() => shim.tasks.wait({ id: record.id, execId: id }, { timeoutMs: 0 }))
      .then(({ exitStatus }) => exitStatus)
      .catch(() => KILLED_EXIT_CODE);
  }

  /** Starts the exec's process. Leaves nothing behind on failure. */
  static async start(request: ShimExecRequest): Promise<ShimExec> {
    const id = randomUUID();
    const directory = execDirectory(request.record, id);
    await mkdir(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
    for (const path of Object.values(fifoPaths({ ...request, directory })))
      if (path !== '') request.system.makeFifo(path, PRIVATE_FILE);
    const exec = new ShimExec(request, id);
    try {
      const pid = await exec.#start();
      exec.#startTicks = readProcess(pid)?.startTicks;
      exec.#pid.resolve(pid);
    } catch (error) {
      exec.#pid.reject(error);
      exec.close();
      await removeExec(request.shim, request.record, id).catch(() => undefined); // retried at the next start
      throw error;
    }
    exec.#removeAtEnd();
    return exec;
  }

  async resize(columns: number, rows: number): Promise<void> {
    const { shim, record } = this.#request;
    await shim.tasks.resizePty({ id: record.id, execId: this.#id, width: columns, height: rows });
  }

  /** Returns the process in the form expected by `collectExec` and `killExec`. A terminal has no stderr, so `stderr` is stdout. */
  running(logger: Logger): RunningExec {
    const { what, stdout, exited } = this;
    const pid = () => this.#pid.promise;
    return { what, stdout, stderr: this.stderr ?? stdout, exited, pid, kill: () => this.kill(), logger };
  }

  /** Kills the exec's process and its descendants. */
  async kill(): Promise<void> {
    const { shim, record } = this.#request;
    await killExec(shim, record, { id: this.#id, pid: await this.#pid.promise, startTicks: this.#startTicks });
  }

  /** Closes the exec's streams but leaves its process running. */
  close(): void {
    this.stdin?.destroy();
    for (const output of this.#outputs) output.destroy();
  }

  async #start(): Promise<number> {
    const { shim, record, terminal } = this.#request;
    const names = { id: record.id, execId: this.#id };
    const spec = { typeUrl: PROCESS_TYPE_URL, value: await this.#process() };
    await callShim(this.what, shim.tasks.exec({ ...names, ...this.#paths(), terminal, spec }));
    return (await callShim(this.what, shim.tasks.start(names))).pid;
  }

  /** Returns the exec's OCI process spec: the task's own process spec with a different command. */
  async #process(): Promise<Buffer> {
    const { record } = this.#request;
    const { process } = JSON.parse(await readFile(join(record.bundle, 'config.json'), 'utf8')) as OciSpec;
    return Buffer.from(JSON.stringify(execProcess(process, this.#request)));
  }

  #paths() {
    const { record, terminal, stdin } = this.#request;
    return fifoPaths({ directory: execDirectory(record, this.#id), terminal, stdin });
  }

  /**
   * Deletes the exec from the shim once the process has exited and all of its output has been read. Deleting it earlier would lose output,
   * because the shim then closes the output streams.
   */
  #removeAtEnd(): void {
    const read = this.#outputs.map((output) => (output.closed ? undefined : once(output, 'close')));
    const { shim, record } = this.#request;
    const removing = Promise.all([this.exited, ...read])
      .then(() => this.close())
      .then(() => removeExec(shim, record, this.#id));
    ignoreFailure(removing, 'the end of the task or the next start removes it');
  }
}

/**
 * Kills a task's execs from before the restart, because their clients have been disconnected. Also opens their output for reading: a shim
 * that is just starting an exec blocks other calls until there is a reader.
 */
export async function endEarlierExecs(shim: Shim, record: ShimTaskRecord): Promise<void> {
  const ids = await namesIn(execDirectory(record, ''));
  for (const id of ids) await endEarlierExec(shim, record, id);
}

async function endEarlierExec(shim: Shim, record: ShimTaskRecord, id: string): Promise<void> {
  const directory = execDirectory(record, id);
  const outputs = (await readdir(directory)).filter((name) => name !== 'stdin');
  const readers = outputs.map((name) => openFifoReader(join(directory, name)).resume());
  const names = { id: record.id, execId: id };
  try {
    const { pid, status } = await shim.tasks.state(names);
    if (pid > 0 && status !== Status.STOPPED) {
      await killExec(shim, record, { id, pid, startTicks: readProcess(pid)?.startTicks });
      await shim.tasks.wait(names);
    }
    await removeExec(shim, record, id);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await rm(directory, { recursive: true, force: true });
  } finally {
    for (const reader of readers) reader.destroy();
  }
}

const execDirectory = ({ bundle }: ShimTaskRecord, id: string) => join(bundle, 'execs', id);

/** An exec's process. If the process with this PID has a different start time or is outside the task's cgroup, the PID has been reused. */
type ExecProcess = { id: string; pid: number; startTicks: number | undefined };

/**
 * Kills an exec's process and its session. Also asks the shim to kill the process, because processes in virtual machines are not visible on
 * the host.
 */
export async function killExec(
  shim: Shim,
  record: ShimTaskRecord,
  { id, pid, startTicks }: ExecProcess,
): Promise<void> {
  const isSame = pid > 0 && startTicks !== undefined && readProcess(pid)?.startTicks === startTicks;
  if (isSame && isInCgroup(pid, record.cgroupsPath)) await killProcessTrees([pid]);
  await shim.tasks.kill({ id: record.id, execId: id, signal: SIGKILL }).catch((error) => {
    if (!isEnded(error)) throw error;
  });
}

/** Deletes an exec from the shim. If this fails, the exec's directory remains, so that the exec can be found again. */
async function removeExec(shim: Shim, record: ShimTaskRecord, id: string): Promise<void> {
  await shim.tasks.delete({ id: record.id, execId: id }).catch((error) => {
    if (!isNotFound(error)) throw error; // the exec was never created
  });
  await rm(execDirectory(record, id), { recursive: true, force: true });
}

/**
 * Wraps a FIFO's socket in a writable stream. At the end of the stream, both this process and the shim close the FIFO: the shim has it open
 * too, so the reader would otherwise never see the end.
 */
function endByClosing(socket: Socket, closeIO: () => Promise<unknown>): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, () => done()),
    final: (done) => {
      socket.destroy();
      closeIO().then(
        () => done(),
        () => done(), // the process has just exited
      );
    },
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
}
