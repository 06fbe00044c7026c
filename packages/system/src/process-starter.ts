import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { ProgramStarter } from '@podwright/host';
import { PosixSpawn } from './posix-spawn.ts';
import { failedProgram, SpawnedProgram } from './spawned-program.ts';

/**
 * Stream options for pipes: read at most one chunk ahead of the consumer. The rest stays in the kernel's pipe buffer, which is bounded in
 * bytes. In this process, even a one-byte chunk takes up a kilobyte, and by default Node.js buffers chunks until they add up to 64 KiB.
 */
export const UNREAD_STAYS = { readableHighWaterMark: 1 };

/** The ends of a pipe: this process's and the program's. */
type Pipe = { ours: number; theirs: number };

/**
 * Starts programs like `startByFork`, but without the cost of fork(2) in a large process. While any are running, listens for SIGCHLD to
 * detect exits. Main thread only: other threads do not receive signals.
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
      const { cause } = error as Error; // the cause has the form of node:child_process's errors
      return failedProgram(cause instanceof Error ? cause : (error as Error), options);
    } finally {
      for (const pipe of pipes) if (pipe !== undefined) closeSync(pipe.theirs);
      if (this.#running.size === 0) process.off('SIGCHLD', this.#onChild);
    }
  };

  /** Creates the pipe for one of the program's descriptors. The program reads from descriptor 0 and writes to the others. */
  #pipe(index: number): Pipe {
    const [reader, writer] = this.#posix.pipe();
    return index === 0 ? { ours: writer, theirs: reader } : { ours: reader, theirs: writer };
  }

  /** Checks all the programs for exits, because the kernel can coalesce the SIGCHLDs of several. */
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
