import { spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';
import { constants as osConstants } from 'node:os';
import { basename, dirname } from 'node:path';
import { isErrno, waitFor, wrapError } from '@podwright/base';
import { findProcesses } from '@podwright/host';
import { isRunning, readCommandLine, signalProcess, UNREAD_STAYS } from '@podwright/system';
import { HOLDER_END_MS } from './limits.ts';

/**
 * Opens a FIFO for reading, even if it has no writer yet. The stream ends when the last writer closes the FIFO. If `onread` is set, the
 * stream reads into its buffer; if its callback returns false, the stream pauses until the socket is resumed.
 */
export function openFifoReader(path: string, onread?: OnReadOpts): Socket {
  const options = onread === undefined ? UNREAD_STAYS : { onread };
  return openSocket(path, constants.O_RDONLY, { readable: true, writable: false, ...options });
}

/** Opens a FIFO for writing, even if it has no reader yet. */
export function openFifoWriter(path: string): Socket {
  return openSocket(path, constants.O_RDWR, { readable: false, writable: true });
}

/**
 * Makes a FIFO's reader see the end of the stream if no process has the FIFO open for writing: the kernel signals the end only when the
 * last writer closes the FIFO.
 */
export function touchFifo(path: string): void {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
  } catch (error) {
    if (!isErrno(error, 'ENXIO') && !isErrno(error, 'ENOENT')) throw error;
  }
}

function openSocket(path: string, flags: number, options: SocketConstructorOpts): Socket {
  const fd = openSync(path, flags | constants.O_NONBLOCK);
  try {
    const socket = new Socket({ fd, ...options });
    socket.on('error', () => socket.destroy());
    return socket;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Arguments of the holder, a `sleep` process: the longest time accepted by every `sleep`, practically forever. */
const HOLDER_ARGUMENTS = ['2147483647'];

/**
 * Starts a holder: a process whose only purpose is to keep the FIFOs in a directory open, so that they retain a task's unread output while
 * the container runtime is down. Returns its PID; `endHolder` kills it.
 */
export function startHolder(fifos: string[]): number {
  const descriptors = fifos.map((path) => openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
  try {
    const stdio = ['ignore', 'ignore', 'ignore', ...descriptors] as ('ignore' | number)[];
    const holder = spawn('sleep', HOLDER_ARGUMENTS, {
      cwd: dirname(fifos[0]!),
      detached: true,
      stdio,
      env: pathOnly(),
    });
    holder.on('error', () => undefined);
    holder.unref();
    if (holder.pid === undefined)
      throw new Error(`start sleep to hold ${fifos.map((path) => basename(path)).join(', ')}`);
    return holder.pid;
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}

const pathOnly = () => ({ PATH: process.env.PATH });

/** Kills the holder with this PID, if it is still a holder for this directory, and waits for it to exit. */
export async function endHolder(pid: number, directory: string): Promise<void> {
  if (!(await isHolder(pid, directory))) return;
  signalProcess(pid, osConstants.signals.SIGKILL);
  const ended = () => (isRunning(pid) ? undefined : true);
  await waitFor(ended, { intervalMs: 1, signal: AbortSignal.timeout(HOLDER_END_MS) }).catch((cause) => {
    throw wrapError(`end process ${pid}, which holds the FIFOs of ${directory}`, cause, 'deadline_exceeded');
  });
}

/** Kills all holders of FIFOs in this directory. */
export async function endHolders(directory: string): Promise<void> {
  const holders = await findProcesses((pid) => isHolder(pid, directory));
  for (const pid of holders) await endHolder(pid, directory);
}

async function isHolder(pid: number, directory: string): Promise<boolean> {
  const where = await readlink(`/proc/${pid}/cwd`).catch(() => undefined); // it has exited
  return where === directory && (await readCommandLine(pid)).join('\0') === ['sleep', ...HOLDER_ARGUMENTS].join('\0');
}
