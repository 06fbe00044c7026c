import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { ProgramStarter } from '@podwright/base';
import { PosixSpawn } from './posix-spawn.ts';
import { failedProgram, SpawnedProgram } from './spawned-program.ts';

/**
 * Of a pipe's reader: it takes no more than a chunk ahead of its consumer. The kernel counts the bytes of the rest; in
 * here a chunk costs a kilobyte, and Node.js would take 64 KiB of them, which may have a byte each.
 */
export const UNREAD_STAYS = { readableHighWaterMark: 1 };

/** The ends of a pipe. */
type Pipe = { ours: number; theirs: number };

/**
 * Starts programs as `startByFork` does, without the price of fork(2) in a big process. Their ends come with SIGCHLD,
 * which it listens to as long as there are any. For the main thread: signals come to no other.
 */
export class ProcessStarter {
  readonly #posix = new PosixSpawn();
  readonly #running = new Set<SpawnedProgram>();
  readonly #onChild = () => this.#reap();

  readonly start: ProgramStarter = (file, args, options) => {
    const pipes: (Pipe | undefined)[] = [];
    if (this.#running.size === 0) process.on('SIGCHLD', this.#onChild);
    try {
      for (const [index, kind] of options.stdio.entries()) pipes.push(kind === 'pipe' ? this.#pipe(index) : undefined);
      const descriptors = options.stdio.map((kind, index) => {
        if (kind === 'ignore') return 'null';
        return kind === 'pipe' ? pipes[index]!.theirs : kind;
      });
      const { env, cwd, detached: session = false, within = (start) => start() } = options;
      const pid = within(() => this.#posix.spawn({ file, args, env, cwd, descriptors, session }));
      const program = new SpawnedProgram(
        pid,
        pipes.map((pipe, index) => pipe && openPipe(pipe.ours, index)),
      );
      this.#running.add(program);
      return program;
    } catch (error) {
      for (const pipe of pipes) if (pipe !== undefined) closeSync(pipe.ours);
      const { cause } = error as Error; // the error as node:child_process has it
      return failedProgram(cause instanceof Error ? cause : (error as Error), options);
    } finally {
      for (const pipe of pipes) if (pipe !== undefined) closeSync(pipe.theirs);
      if (this.#running.size === 0) process.off('SIGCHLD', this.#onChild);
    }
  };

  /** The program reads from the first descriptor and writes to the others. */
  #pipe(index: number): Pipe {
    const [reader, writer] = this.#posix.pipe();
    return index === 0 ? { ours: writer, theirs: reader } : { ours: reader, theirs: writer };
  }

  /** Signals of several ends may come as one. */
  #reap(): void {
    for (const program of this.#running) {
      const end = this.#posix.reap(program.pid);
      if (end === undefined) continue;
      this.#running.delete(program);
      program.ended(end);
    }
    if (this.#running.size === 0) process.off('SIGCHLD', this.#onChild);
  }
}

function openPipe(descriptor: number, index: number): Socket {
  return new Socket({ fd: descriptor, readable: index !== 0, writable: index === 0, ...UNREAD_STAYS });
}
