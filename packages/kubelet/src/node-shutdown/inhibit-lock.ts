import type { Readable, Writable } from 'node:stream';
import { withTimeout, wrapError } from '@podwright/base';
import { DBUS_TIMEOUT_MS, startByFork } from '@podwright/host';

/** A logind inhibitor lock. The host delays its shutdown until the lock is released. */
export type InhibitLock = {
  /** Resolves when the lock has been released or lost. */
  readonly ended: Promise<void>;
  /** Resolves when logind has released the lock. */
  release(): Promise<void>;
};

const ARGUMENTS = [
  '--what=shutdown',
  '--who=kubelet',
  '--why=Kubelet needs time to handle node shutdown',
  '--mode=delay',
  'cat',
];

/**
 * Takes a delay lock from logind. logind hands out the lock as a file descriptor, which Node.js cannot receive, so systemd-inhibit(1) holds
 * it while its child process `cat` runs. `cat` exits when its stdin is closed, which also happens if this process is killed. The signal
 * aborts the wait for the lock. Rejects with `unavailable`.
 */
export async function takeInhibitLock(signal: AbortSignal): Promise<InhibitLock> {
  const held = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const options = { env: process.env, stdio: ['pipe', 'pipe', 'pipe'] as 'pipe'[], detached: true }; // detached: a Ctrl+C in the terminal must not kill it
  const child = startByFork('systemd-inhibit', ARGUMENTS, options);
  const [input, output, errors] = child.stdio as [Writable, Readable, Readable];
  let stderr = '';
  input.on('error', () => undefined); // the child may have exited
  output.once('data', () => held.resolve());
  errors.on('data', (bytes: Buffer) => {
    stderr = `${stderr}${bytes}`.slice(0, 1000);
  });
  child.on('error', (error) => held.reject(error));
  child.on('close', () => {
    held.reject(new Error(stderr.trim() || 'it has exited'));
    ended.resolve();
  });
  using limit = withTimeout(signal, DBUS_TIMEOUT_MS, 'take a lock');
  limit.addEventListener('abort', () => {
    held.reject(limit.reason);
    child.kill('SIGKILL');
  });
  input.write('\n'); // `cat` echoes the newline once systemd-inhibit holds the lock
  try {
    await held.promise;
  } catch (error) {
    input.end();
    throw wrapError('delay shutdowns by systemd-inhibit', error, 'unavailable');
  }
  return {
    ended: ended.promise,
    release: () => {
      input.end();
      return ended.promise;
    },
  };
}
