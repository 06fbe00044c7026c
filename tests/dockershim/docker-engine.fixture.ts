import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  createReadStream,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { readMounts } from '@podwright/system';
import { connectEngine } from '../../packages/dockershim/src/engine/engine.ts';
import { writeExampleArchive } from '../../scripts/example-image.ts';

export const busyboxImage = 'localhost/podwright/busybox:1';

/** A Docker Engine that keeps all its state in a scratch directory. */
export type DockerEngine = {
  scratch: string;
  socket: string;
  /** Returns the daemon's PID, for faults such as SIGSTOP. */
  pid: () => number;
  /** Kills the daemon and restarts it after `meanwhile`; containers keep running (`live-restore`). */
  restart: (meanwhile?: () => Promise<void>) => Promise<void>;
  stop: () => Promise<void>;
};

export type DockerEngineOptions = {
  /** Additional dockerd flags, for example `--log-driver`. */
  flags?: string[];
  /** Shields the daemon from Ctrl-C at the terminal, because the caller needs it to remove its containers. */
  detached?: boolean;
  /** Size of a separate disk for the Engine's data, in bytes. */
  diskBytes?: number;
  /** Maps the users of all containers to `MAPPED_USERS` and up (`userns-remap`). */
  mapsUsers?: boolean;
};

/**
 * Starts Debian's Docker Engine with its own containerd, data root and socket, but without a bridge or firewall rules, and loads the
 * busybox image.
 */
export async function startDockerEngine(options: DockerEngineOptions = {}): Promise<DockerEngine> {
  const scratch = mkdtempSync(join(tmpdir(), 'pwd-'));
  const socket = join(scratch, 'docker.sock');
  if (options.diskBytes !== undefined) {
    mkdirSync(join(scratch, 'data'));
    await runChecked('mount', ['-t', 'tmpfs', '-o', `size=${options.diskBytes}`, 'tmpfs', join(scratch, 'data')]);
  }
  let daemon = spawnDaemon(scratch, options);
  const engine: DockerEngine = {
    scratch,
    socket,
    pid: () => daemon.pid!,
    restart: async (meanwhile) => {
      const ended = once(daemon, 'exit');
      daemon.kill('SIGKILL');
      await ended;
      // remove the PID file: containerd exits with the daemon, but the next daemon would take its unreaped zombie for a running containerd
      await rm(join(scratch, 'exec/containerd/containerd.pid'), { force: true });
      await meanwhile?.();
      daemon = spawnDaemon(scratch, options);
      await answers(socket, daemon, scratch);
    },
    stop: () => stop(daemon, scratch, socket),
  };
  try {
    await answers(socket, daemon, scratch);
    await loadBusybox(scratch, socket);
  } catch (error) {
    await engine.stop();
    throw error;
  }
  return engine;
}

/** Host UID of root in the containers of an Engine that maps users. */
export const MAPPED_USERS = 200_000;

/**
 * Returns a command prefix that enters a mount namespace with different /etc/subuid and /etc/subgid files. Mounts propagate into it from
 * the host.
 */
function mappingUsers(scratch: string): string[] {
  chmodSync(scratch, 0o711); // mapped users must reach the data root in it
  const ranges = join(scratch, 'ranges');
  writeFileSync(ranges, `nobody:${MAPPED_USERS}:65536\n`);
  const binds = ['/etc/subuid', '/etc/subgid'].map((path) => `mount --bind ${ranges} ${path}`).join(' && ');
  return ['unshare', '--mount', '--propagation', 'slave', 'sh', '-c', `${binds} && exec "$0" "$@"`];
}

function spawnDaemon(scratch: string, options: DockerEngineOptions): ChildProcess {
  const { flags = [], detached = false, mapsUsers = false } = options;
  const log = openSync(join(scratch, 'dockerd.log'), 'a');
  const settings = {
    'data-root': join(scratch, 'data'),
    'exec-root': join(scratch, 'exec'),
    host: `unix://${join(scratch, 'docker.sock')}`,
    pidfile: join(scratch, 'dockerd.pid'),
    bridge: 'none',
    iptables: 'false',
    'live-restore': 'true',
    ...(mapsUsers && { 'userns-remap': 'nobody:nogroup' }),
  };
  const all = [...Object.entries(settings).map(([name, value]) => `--${name}=${value}`), ...flags];
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
  const [program, ...args] = [...(mapsUsers ? mappingUsers(scratch) : []), 'dockerd', ...all];
  const daemon = spawn(program!, args, { stdio: ['ignore', log, log], env, detached });
  closeSync(log);
  return daemon;
}

async function answers(socket: string, daemon: ChildProcess, scratch: string): Promise<void> {
  await waitFor(
    async () => {
      if (daemon.exitCode !== null)
        throw new Error(`dockerd has exited: ${readFileSync(join(scratch, 'dockerd.log'), 'utf8').slice(-2000)}`);
      const engine = await connectEngine(socket).catch(() => undefined);
      engine?.close();
      return engine;
    },
    { intervalMs: 100, signal: AbortSignal.timeout(60_000) },
  );
}

async function loadBusybox(scratch: string, socket: string): Promise<void> {
  const archive = join(scratch, 'busybox.tar');
  await writeExampleArchive(archive, { name: busyboxImage });
  await loadArchive(socket, archive);
}

export async function loadArchive(socket: string, archive: string): Promise<void> {
  const engine = await connectEngine(socket);
  for await (const { error } of engine.archives.load(createReadStream(archive)))
    if (error !== undefined) throw new Error(error);
  engine.close();
}

async function stop(daemon: ChildProcess, scratch: string, socket: string): Promise<void> {
  const engine = await connectEngine(socket).catch(() => undefined);
  for (const { Id } of (await engine?.containers.list({})) ?? []) await engine?.containers.remove(Id);
  engine?.close();
  if (daemon.exitCode === null && daemon.signalCode === null) {
    const ended = once(daemon, 'exit');
    daemon.kill('SIGTERM');
    await ended;
  }
  // a daemon that was killed and restarted leaves mounts behind: its data root (bind-mounted on itself) and namespaces
  const left = readMounts().filter(({ mountPoint }) => mountPoint.startsWith(`${scratch}/`));
  for (const { mountPoint } of left.reverse()) await runChecked('umount', [mountPoint]);
  await rm(scratch, { recursive: true, force: true });
}
