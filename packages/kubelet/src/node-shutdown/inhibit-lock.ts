import type { Readable, Writable } from 'node:stream';
import { startByFork, withTimeout, wrapError } from '@podwright/base';
import { DBUS_TIMEOUT_MS } from './limits.ts';

/** Something that the host waits for before it shuts down. */
export type InhibitLock = {
  /** Resolves when it is released, or lost. */
  readonly ended: Promise<void>;
  /** Resolves when the host waits no more. */
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
 * A lock is an open descriptor of logind's, which Node.js cannot be sent: systemd-inhibit(1) holds it for as long as its program
 * runs, and that ends with our end of its input, also when we are killed. The signal ends the wait for it. Throws `unavailable`.
 */
export async function takeInhibitLock(signal: AbortSignal): Promise<InhibitLock> {
  const held = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const options = { env: process.env, stdio: ['pipe', 'pipe', 'pipe'] as 'pipe'[], detached: true }; // no Ctrl+C of a terminal ends it
  const child = startByFork('systemd-inhibit', ARGUMENTS, options);
  const [input, output, errors] = child.stdio as [Writable, Readable, Readable];
  let said = '';
  input.on('error', () => undefined); // it may have ended
  output.once('data', () => held.resolve());
  errors.on('data', (bytes: Buffer) => {
    said = `${said}${bytes}`.slice(0, 1000);
  });
  child.on('error', (error) => held.reject(error));
  child.on('close', () => {
    held.reject(new Error(said.trim() || 'it has ended'));
    ended.resolve();
  });
  using limit = withTimeout(signal, DBUS_TIMEOUT_MS, 'take a lock');
  limit.addEventListener('abort', () => {
    held.reject(limit.reason);
    child.kill('SIGKILL');
  });
  input.write('\n'); // comes back once the program runs, and so the lock is held
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
