import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Readable, Writable } from 'node:stream';
import type { StartedProgram, StartOptions } from '@podwright/host';
import type { ProcessEnd } from './posix-spawn.ts';

/** A program started by `ProcessStarter`, with the interface of node:child_process. */
export class SpawnedProgram extends EventEmitter implements StartedProgram {
  readonly pid: number;
  readonly stdio: readonly (Socket | undefined)[];
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;

  constructor(pid: number, stdio: readonly (Socket | undefined)[]) {
    super();
    this.pid = pid;
    this.stdio = stdio;
  }

  kill(signal: NodeJS.Signals = 'SIGTERM'): boolean {
    // Once the process has been reaped, its PID might belong to another process, so do not signal it
    if (this.exitCode !== null || this.signalCode !== null) return false;
    return process.kill(this.pid, signal);
  }

  /** Records the exit and emits the events. Must be called once the process has exited and been reaped. */
  ended({ exitCode, signal }: ProcessEnd): void {
    this.exitCode = exitCode;
    this.signalCode = signal;
    this.emit('exit', exitCode, signal);
    this.stdio[0]?.destroy();
    const open = this.stdio.flatMap((stream) => (stream === undefined || stream.closed ? [] : [stream]));
    const closed = open.map((stream) => new Promise<void>((resolve) => stream.once('close', resolve)));
    // Output that is not read must be discarded, or its pipe would stay open.
    for (const stream of open) if (stream.readableFlowing === null) stream.resume();
    void Promise.all(closed).then(() => this.emit('close', exitCode, signal));
  }
}

/** Represents a program that failed to start: emits the error, with its pipes already ended. */
export function failedProgram(error: Error, { stdio }: StartOptions): StartedProgram {
  const nothing = stdio.map((kind, index) => {
    if (kind !== 'pipe') return null;
    return index === 0 ? new Writable({ write: (_chunk, _encoding, done) => done() }) : Readable.from([]);
  });
  const program = Object.assign(new EventEmitter(), {
    exitCode: null,
    signalCode: null,
    stdio: nothing,
    kill: () => false,
  });
  process.nextTick(() => program.emit('error', error));
  return program;
}
