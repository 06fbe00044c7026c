/** Client for systemd-logind (org.freedesktop.login1(5)), used to delay shutdowns of the host. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CONTAINER_DIRECTORY, CONTAINER_FILE, errorMessage, PodwrightError } from '@podwright/base';
import { type DBusValue, SystemBus, writeFileAtomic } from '@podwright/host';
import { type InhibitLock, takeInhibitLock } from './inhibit-lock.ts';

const NAME = 'org.freedesktop.login1';
const PATH = '/org/freedesktop/login1';
const MANAGER = `${NAME}.Manager`;

/** logind drop-in file. The path is the same as upstream's, so that this kubelet and upstream's overwrite each other's settings. */
const CONFIGURATION = { directory: '/etc/systemd/logind.conf.d', file: '99-kubelet.conf' };

/** A connection to logind, which reports shutdowns until it is closed. `closed` then resolves with the reason. */
export interface Logind {
  readonly closed: Promise<string>;
  /** Returns logind's InhibitDelayMax in milliseconds: how long inhibitor locks can delay a shutdown. */
  inhibitDelayMs(): Promise<number>;
  /** Writes InhibitDelayMaxSec and reloads logind. If `again` is set (on retries), reloads logind only if the file has changed. */
  setInhibitDelay(delayMs: number, how: { again: boolean }): Promise<void>;
  isShuttingDown(): Promise<boolean>;
  /** Delays shutdowns until the lock is released. The signal aborts only the wait for the lock. */
  inhibit(signal: AbortSignal): Promise<InhibitLock>;
  close(): void;
}

/**
 * Connects to logind. Until the signal aborts, calls `onShutdown` with true when the host begins to shut down, and with false when the
 * shutdown is cancelled. Rejects with `unavailable`.
 */
export async function connectLogind(onShutdown: (begins: boolean) => void, signal: AbortSignal): Promise<Logind> {
  let owner = '';
  const bus = await SystemBus.connect(({ sender, path, member, interface: of, values }) => {
    if (sender === 'org.freedesktop.DBus' && member === 'NameOwnerChanged' && values[0] === NAME)
      bus.close('systemd-logind was restarted');
    // check the sender, because any user on the host can send such a signal
    const isOwn = sender === owner && path === PATH && of === MANAGER && member === 'PrepareForShutdown';
    if (isOwn && typeof values[0] === 'boolean') onShutdown(values[0]);
  }, signal);
  try {
    // this call activates logind if it is not running yet
    await readDelay(bus);
    await bus.listen(`type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='${NAME}'`);
    await bus.listen(
      `type='signal',sender='${NAME}',interface='${MANAGER}',member='PrepareForShutdown',path='${PATH}'`,
    );
    owner = await bus.owner(NAME); // after the match rule, so that no restart is missed
  } catch (error) {
    bus.close();
    throw error;
  }
  return {
    closed: bus.closed,
    inhibitDelayMs: () => readDelay(bus),
    setInhibitDelay: async (delayMs, { again }) => {
      const isNew = await writeConfiguration(delayMs);
      if (isNew || !again) await reload(bus);
    },
    isShuttingDown: async () => (await readProperty(bus, 'PreparingForShutdown')) === true,
    inhibit: takeInhibitLock,
    close: () => bus.close(),
  };
}

/** Returns the reason why shutdowns of this host cannot be delayed; `undefined` if they can be. */
export async function logindProblem(): Promise<string | undefined> {
  const controller = new AbortController();
  try {
    const logind = await connectLogind(() => undefined, controller.signal);
    const lock = await logind.inhibit(controller.signal);
    await lock.release();
    return undefined;
  } catch (error) {
    return errorMessage(error);
  } finally {
    controller.abort();
  }
}

async function readDelay(bus: SystemBus): Promise<number> {
  const micros = await readProperty(bus, 'InhibitDelayMaxUSec');
  if (typeof micros === 'bigint') return Number(micros / 1000n);
  throw new PodwrightError('internal', `read InhibitDelayMaxUSec of systemd-logind: ${micros} is not a time`);
}

async function readProperty(bus: SystemBus, name: string): Promise<DBusValue | undefined> {
  const properties = { destination: NAME, path: PATH, interface: 'org.freedesktop.DBus.Properties' };
  const [value] = await bus.call({ ...properties, member: 'Get', arguments: [MANAGER, name] });
  return value;
}

/** Writes logind's drop-in file. Returns false if the file already has this content. */
export async function writeConfiguration(delayMs: number, { directory, file } = CONFIGURATION): Promise<boolean> {
  const text = `# Written by the kubelet: what its shutdownGracePeriod needs\n[Login]\nInhibitDelayMaxSec=${Math.ceil(delayMs / 1000)}\n`;
  const path = join(directory, file);
  if ((await readFile(path, 'utf8').catch(() => undefined)) === text) return false;
  await mkdir(directory, { recursive: true, mode: CONTAINER_DIRECTORY });
  await writeFileAtomic(path, text, CONTAINER_FILE);
  return true;
}

/** Sends SIGHUP to logind to make it reload its configuration. */
async function reload(bus: SystemBus): Promise<void> {
  const systemd = { path: '/org/freedesktop/systemd1', interface: 'org.freedesktop.systemd1.Manager' };
  const killed = ['systemd-logind.service', 'all', 1];
  await bus.call({ destination: 'org.freedesktop.systemd1', ...systemd, member: 'KillUnit', arguments: killed });
}
