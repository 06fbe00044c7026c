import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorMessage, silentLogger } from '@podwright/base';
import { type CriClient, connectCri } from '@podwright/cri';
import { runChecked } from '@podwright/host';
import { makeExampleImage, writeExampleArchive } from '../scripts/example-image.ts';

/** A CRI runtime to measure. */
export type Side = { cri: CriClient; pid: number; directory: string; socket: string; stop: () => Promise<void> };

export type PodwrightSetup = {
  /** Name of the daemon's directory under `scratch`. */
  name: string;
  command: 'runtime' | 'node';
  /** `default`: default settings. `matched`: with containerd's CNI configuration and OCI runtime. */
  setup: 'default' | 'matched';
  /** Index of the side, which selects its bridge and subnet. */
  index: number;
  /** Lines for the start of the daemon's configuration file, before any table. */
  top?: string;
  /** Lines for the end of the `[runtime]` table in the daemon's configuration file; they may start further tables. */
  settings?: string;
};

/** containerd and runc to compare with, from the environment or PATH. */
export const PEER = {
  containerd: process.env.PODWRIGHT_BENCH_CONTAINERD ?? 'containerd',
  runc: process.env.PODWRIGHT_BENCH_RUNC ?? 'runc',
};

export const IMAGE = 'localhost/podwright/busybox:1';
export const PAUSE_IMAGE = 'localhost/podwright/pause:1';
const CONNECT_TIMEOUT_MS = 30_000;
/**
 * Included in the names of all bridges, tables and cgroups that this benchmark creates, so that it can find and remove them. Interface
 * names are limited to 15 characters.
 */
export const BRIDGE = `pwb${process.pid}n`;

/** Writes the network configuration from containerd's documentation, with its own bridge and subnet. Returns the network's name. */
export function writeNetworkList(directory: string, index: number): string {
  const bridge = {
    type: 'bridge',
    bridge: `${BRIDGE}${index}`,
    isGateway: true,
    ipMasq: true,
    ipam: {
      type: 'host-local',
      dataDir: join(directory, 'ipam'),
      ranges: [[{ subnet: subnetOf(index) }]],
      routes: [{ dst: '0.0.0.0/0' }],
    },
  };
  const plugins = [bridge, { type: 'portmap', capabilities: { portMappings: true } }];
  const list = { cniVersion: '0.4.0', name: bridge.bridge, plugins };
  writeFileSync(join(directory, 'cni/10-bench.conflist'), JSON.stringify(list));
  return list.name;
}

export const subnetOf = (index: number) => `10.${201 + index}.0.0/16`;

/**
 * Mounts a tmpfs for a daemon's state. By default both sides keep their state in /run, which is in memory too; on disk, the benchmark would
 * measure the disk.
 */
async function makeState(path: string): Promise<void> {
  mkdirSync(path);
  await runChecked('mount', ['-t', 'tmpfs', '-o', 'mode=711', 'tmpfs', path]); // `leaveNothing` unmounts it
}

/** Starts containerd with runc, with all its files in a subdirectory of `scratch`. `index` distinguishes bridges and subnets. */
export async function startContainerd(
  scratch: string,
  { name: own, index } = { name: 'containerd', index: 0 },
): Promise<Side> {
  const directory = join(scratch, own);
  for (const name of ['cni', 'certs']) mkdirSync(join(directory, name), { recursive: true });
  writeNetworkList(directory, index);
  const socket = join(directory, 'c.sock');
  await makeState(join(directory, 'state'));
  writeFileSync(join(directory, 'config.toml'), containerdConfig(directory, socket));
  const daemon = startDaemon(directory, [PEER.containerd, '--config', join(directory, 'config.toml')]);
  const side = await connected(daemon, directory, socket);
  for (const [name, config] of [
    [IMAGE, {}],
    [PAUSE_IMAGE, { Entrypoint: ['/bin/sleep', '1000000000'], Cmd: [] }],
  ] as const) {
    const archive = join(scratch, 'containerd-image.tar');
    await writeExampleArchive(archive, { name, config });
    const ctr = PEER.containerd.includes('/') ? join(dirname(PEER.containerd), 'ctr') : 'ctr';
    await runChecked(ctr, ['-a', socket, '-n', 'k8s.io', 'images', 'import', archive]);
  }
  return side;
}

function containerdConfig(directory: string, socket: string): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  const binaryName = PEER.runc === 'runc' ? '' : `BinaryName = "${PEER.runc}"\n`;
  return `version = 2
root = "${directory}/root"
state = "${directory}/state"
[grpc]
address = "${socket}"
[plugins."io.containerd.internal.v1.opt"]
path = "${directory}/opt"
[${cri}]
restrict_oom_score_adj = true
sandbox_image = "${PAUSE_IMAGE}"
[${cri}.cni]
bin_dir = "/usr/lib/cni"
conf_dir = "${directory}/cni"
[${cri}.registry]
config_path = "${directory}/certs"
[${cri}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[${cri}.containerd.runtimes.runc.options]
${binaryName}Root = "${directory}/state/runc"
`;
}

/** Starts one of Podwright's daemons by its command, without loading images. */
export async function startPodwright(scratch: string, setup: PodwrightSetup): Promise<Side> {
  const { directory, config } = await writeConfiguration(scratch, setup);
  const daemon = startDaemon(directory, [PROGRAM, '--config', config, setup.command]);
  return connected(daemon, directory, join(directory, 'run/cri.sock'));
}

export const PROGRAM = new URL('../bin/podwright', import.meta.url).pathname;

/** Creates a daemon's directory and writes its configuration. */
export async function writeConfiguration(
  scratch: string,
  setup: PodwrightSetup,
): Promise<{ directory: string; config: string }> {
  const directory = join(scratch, setup.name);
  for (const name of ['cni', 'certs']) mkdirSync(join(directory, name), { recursive: true });
  if (setup.setup === 'matched') writeNetworkList(directory, setup.index);
  await makeState(join(directory, 'run'));
  const config = join(directory, 'config.toml');
  writeFileSync(
    config,
    `root = "${directory}/root"
state = "${directory}/run"
pod_logs = "${directory}/logs"
cgroup_parent = "/${BRIDGE}${setup.index}"
log_level = "warn"
${setup.top ?? ''}
[network]
bridge = "${BRIDGE}${setup.index}"
subnet = "${subnetOf(setup.index)}"
cni_conf_dir = "${directory}/cni"
[runtime]
registry_config_dir = "${directory}/certs"
${setup.setup === 'matched' ? `oci_runtime = "${PEER.runc}"` : ''}
${setup.settings ?? ''}
[kubelet.eviction]
hard = {} # a full disk of the host must not evict pods
`,
  );
  return { directory, config };
}

/** Loads the image of the benchmark pods into one of Podwright's daemons. */
export async function loadImage({ cri, directory }: Side): Promise<void> {
  const layout = join(directory, 'layout');
  await makeExampleImage(layout);
  for await (const { event } of cri.transfers.load({ path: layout, name: '' })) if (event.case === 'loaded') break;
}

export function startDaemon(directory: string, [file, ...args]: string[]): ChildProcess {
  const log = openSync(join(directory, 'daemon.log'), 'a');
  const ownDirectory = file!.includes('/') ? `${dirname(file!)}:` : ''; // where containerd finds its shim
  const PATH = `${ownDirectory}${process.env.PATH}:/usr/sbin:/sbin`;
  // daemons run detached, so that Ctrl-C reaches only the benchmark, which still needs them to remove their pods
  return spawn(file!, args, { stdio: ['ignore', log, log], env: { ...process.env, PATH }, detached: true });
}

/** Returns a `stop` for a side that may still be starting; it stops the side as soon as it has started. */
export function startedOrStarting(side: Promise<Pick<Side, 'stop'>>): Pick<Side, 'stop'> {
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= side.then(
      (one) => one.stop(),
      () => undefined,
    );
    return stopped;
  };
  return { stop };
}

export async function connected(daemon: ChildProcess, directory: string, socket: string): Promise<Side> {
  const ended = new Promise((resolve) => daemon.once('exit', resolve));
  const end = async () => {
    daemon.kill('SIGTERM');
    await ended;
  };
  try {
    const cri = await connectCri({
      runtimeEndpoint: `unix://${socket}`,
      logger: silentLogger,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
    });
    const stop = async () => {
      if (daemon.exitCode !== null) return;
      rmSync(join(directory, 'root/manifests'), { recursive: true, force: true });
      await removeSandboxes(cri).catch((error) => console.error(`${directory}: ${errorMessage(error)}`));
      cri.close();
      await end();
    };
    return { cri, pid: daemon.pid!, directory, socket, stop };
  } catch (error) {
    await end();
    throw error;
  }
}

/**
 * Removes all sandboxes, because monitors and shims outlive their daemon. Lists them again afterwards, because calls in flight when a
 * signal arrived may have created more.
 */
async function removeSandboxes({ runtime }: CriClient): Promise<void> {
  for (let look = 1; ; look++) {
    const { items } = await runtime.listPodSandbox({});
    if (items.length === 0) return;
    const removals = items.map(async ({ id: podSandboxId }) => {
      await runtime.stopPodSandbox({ podSandboxId });
      await runtime.removePodSandbox({ podSandboxId });
    });
    const failure = (await Promise.allSettled(removals)).find(({ status }) => status === 'rejected');
    if (look === MOST_LOOKS && failure !== undefined) throw (failure as PromiseRejectedResult).reason;
    if (look === MOST_LOOKS) return;
  }
}

const MOST_LOOKS = 4;
