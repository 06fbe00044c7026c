import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { silentLogger } from '@podwright/base';
import { connectCri } from '@podwright/cri';
import { runChecked, runProgram } from '@podwright/host';
import { writeExampleArchive } from '../../scripts/example-image.ts';

export const busyboxImage = 'localhost/podwright/busybox:1';
const PAUSE_IMAGE = 'localhost/podwright/pause:1';

export type ContainerdOptions = {
  /** Path of the containerd binary. Default: the one in PATH. The shim must be in the same directory. */
  program?: string;
  /** Returns lines to add to containerd's configuration. */
  configuration?: (scratch: string) => string;
};

/** A containerd that keeps all its state in a scratch directory. */
export type Containerd = {
  scratch: string;
  endpoint: string;
  bridge: string;
  image: string;
  load: (archive: string) => Promise<void>;
  /** Kills the daemon and restarts it after `meanwhile`; containers keep running. */
  restart: (meanwhile: () => Promise<void>) => Promise<void>;
  stop: () => Promise<void>;
};

/** `name` must be unique among the containerds of a test run. At most 4 letters, because the bridge name consists of it and the PID. */
export async function startContainerd(name: string, options: ContainerdOptions = {}): Promise<Containerd> {
  const { program = 'containerd', configuration = () => '' } = options;
  const scratch = mkdtempSync(join(tmpdir(), `pwk-${name}-`));
  const bridge = `pwk${name}${process.pid}`;
  const socket = join(scratch, 'c.sock');
  writeConfiguration(scratch, { socket, bridge, further: configuration(scratch) });
  let daemon = spawnDaemon(program, scratch);
  const containerd: Containerd = {
    scratch,
    endpoint: `unix://${socket}`,
    bridge,
    image: busyboxImage,
    load: (archive) => loadArchive(socket, archive),
    restart: async (meanwhile) => {
      const ended = once(daemon, 'exit');
      daemon.kill('SIGKILL');
      await ended;
      await meanwhile();
      daemon = spawnDaemon(program, scratch);
    },
    stop: () => stop(daemon, scratch, bridge),
  };
  try {
    await importImages(scratch, socket);
  } catch (error) {
    await containerd.stop();
    throw error;
  }
  return containerd;
}

function spawnDaemon(program: string, scratch: string): ChildProcess {
  const log = openSync(join(scratch, 'containerd.log'), 'a');
  const ownDirectory = program.includes('/') ? `${dirname(program)}:` : ''; // with its shim
  const env = { ...process.env, PATH: `${ownDirectory}${process.env.PATH}:/usr/sbin:/sbin` };
  const daemon = spawn(program, ['--config', join(scratch, 'config.toml')], { stdio: ['ignore', log, log], env });
  closeSync(log);
  return daemon;
}

/** Writes a CNI configuration with a bridge of this name and a subnet derived from this process's PID. */
export function writeNetwork(scratch: string, bridge: string): void {
  mkdirSync(join(scratch, 'cni'));
  const subnet = `10.${100 + (process.pid % 100)}.${Math.floor(process.pid / 100) % 256}.0/24`;
  const ipam = {
    type: 'host-local',
    dataDir: join(scratch, 'ipam'),
    ranges: [[{ subnet }]],
    routes: [{ dst: '0.0.0.0/0' }],
  };
  const plugins = [
    { type: 'bridge', bridge, isGateway: true, ipMasq: false, ipam },
    { type: 'portmap', capabilities: { portMappings: true } },
  ];
  writeFileSync(join(scratch, 'cni/10-test.conflist'), JSON.stringify({ cniVersion: '0.4.0', name: bridge, plugins }));
}

function writeConfiguration(
  scratch: string,
  { socket, bridge, further }: { socket: string; bridge: string; further: string },
): void {
  mkdirSync(join(scratch, 'certs'));
  writeNetwork(scratch, bridge);
  writeFileSync(
    join(scratch, 'config.toml'),
    `version = 2
root = "${scratch}/root"
state = "${scratch}/state"
[grpc]
  address = "${socket}"
[plugins."io.containerd.internal.v1.opt"]
  path = "${scratch}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  sandbox_image = "${PAUSE_IMAGE}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${scratch}/cni"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "${scratch}/certs"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
${further}`,
  );
}

async function importImages(scratch: string, socket: string): Promise<void> {
  const cri = await connectCri({ runtimeEndpoint: socket, logger: silentLogger, connectTimeoutMs: 30_000 });
  cri.close();
  const archive = join(scratch, 'image.tar');
  await writeExampleArchive(archive, { name: busyboxImage });
  await loadArchive(socket, archive);
  await writeExampleArchive(archive, {
    name: PAUSE_IMAGE,
    config: { Entrypoint: ['/bin/sleep', '1000000000'], Cmd: [] },
  });
  await loadArchive(socket, archive);
}

async function loadArchive(socket: string, archive: string): Promise<void> {
  await runChecked('ctr', ['-a', socket, '-n', 'k8s.io', 'images', 'import', archive]);
}

/** Removes leftover pods through the CRI, stops containerd and deletes all its state. */
async function stop(daemon: ChildProcess, scratch: string, bridge: string): Promise<void> {
  await removePods(join(scratch, 'c.sock')).catch(() => undefined);
  const ended = new Promise((resolve) => daemon.once('exit', resolve));
  if (daemon.exitCode === null && daemon.kill('SIGTERM')) await ended;
  for (const mount of await mountsBelow(scratch)) await runProgram('umount', ['-l', mount]);
  await runProgram('ip', ['link', 'delete', bridge]);
  await rm(scratch, { recursive: true, force: true });
}

/** Stops and removes all pods of a container runtime through the CRI. */
export async function removePods(runtimeEndpoint: string): Promise<void> {
  const cri = await connectCri({ runtimeEndpoint, logger: silentLogger, connectTimeoutMs: 1000 });
  const { items } = await cri.runtime.listPodSandbox({});
  for (const { id } of items) {
    await cri.runtime.stopPodSandbox({ podSandboxId: id });
    await cri.runtime.removePodSandbox({ podSandboxId: id });
  }
  cri.close();
}

/** Returns the mount points under a directory, deepest first. */
async function mountsBelow(directory: string): Promise<string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  const mounts = lines.map((line) => line.split(' ')[4] ?? '');
  return mounts.filter((mount) => mount.startsWith(`${directory}/`)).sort((a, b) => b.length - a.length);
}
