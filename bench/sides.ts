import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorMessage, runChecked, silentLogger } from '@podwright/base';
import { type CriClient, connectCri } from '@podwright/cri';
import { makeExampleImage, writeExampleArchive } from '../scripts/example-image.ts';

/** A CRI runtime under measurement, and its socket. */
export type Side = { cri: CriClient; pid: number; directory: string; socket: string; stop: () => Promise<void> };

/** How one of Podwright's daemons is set up. */
export type PodwrightSetup = {
  /** Of its directories. */
  name: string;
  command: 'runtime' | 'node';
  /** `default`: as somebody has it who set nothing. `matched`: containerd's CNI configuration and OCI runtime. */
  setup: 'default' | 'matched';
  /** Distinguishes bridges and subnets. */
  index: number;
  /** First lines of its configuration, before all tables. */
  top?: string;
  /** More lines of its configuration. */
  settings?: string;
};

/** The peer's programs: Debian's, or those that the environment names. */
export const PEER = {
  containerd: process.env.PODWRIGHT_BENCH_CONTAINERD ?? 'containerd',
  runc: process.env.PODWRIGHT_BENCH_RUNC ?? 'runc',
};

export const IMAGE = 'localhost/podwright/busybox:1';
export const PAUSE_IMAGE = 'localhost/podwright/pause:1';
const CONNECT_TIMEOUT_MS = 30_000;
/** How names of this run's bridges, tables and cgroups begin, or have in them; the kernel allows bridges 15 characters. */
export const BRIDGE = `pwb${process.pid}n`;

/** The network configuration that containerd's documentation has, with a bridge and a subnet of its own; its name. */
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

const subnetOf = (index: number) => `10.${201 + index}.0.0/16`;

/**
 * The directory of a daemon's state, in memory as /run is, where both sides have it by default: what comes and goes with each pod
 * would otherwise be on a disk, which is not what is compared.
 */
async function makeState(path: string): Promise<void> {
  mkdirSync(path);
  await runChecked('mount', ['-t', 'tmpfs', '-o', 'mode=711', 'tmpfs', path]); // `leaveNothing` unmounts it
}

/** containerd with runc, all of it in a directory of `scratch`; `index` distinguishes bridges and subnets. */
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

/** One of Podwright's daemons, started as users start it, without an image. */
export async function startPodwright(scratch: string, setup: PodwrightSetup): Promise<Side> {
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
hard = {} # how full the host is, is not measured
`,
  );
  const program = new URL('../bin/podwright', import.meta.url).pathname;
  const daemon = startDaemon(directory, [program, '--config', config, setup.command]);
  return connected(daemon, directory, join(directory, 'run/cri.sock'));
}

/** Gives one of Podwright's daemons the image of the bench's pods. */
export async function loadImage({ cri, directory }: Side): Promise<void> {
  const layout = join(directory, 'layout');
  await makeExampleImage(layout);
  for await (const { event } of cri.transfers.load({ path: layout, name: '' })) if (event.case === 'loaded') break;
}

export function startDaemon(directory: string, [file, ...args]: string[]): ChildProcess {
  const log = openSync(join(directory, 'daemon.log'), 'a');
  const beside = file!.includes('/') ? `${dirname(file!)}:` : ''; // containerd finds its shim there
  const PATH = `${beside}${process.env.PATH}:/usr/sbin:/sbin`;
  // a terminal's Ctrl-C is for the bench, which needs its daemons to take down what they run
  return spawn(file!, args, { stdio: ['ignore', log, log], env: { ...process.env, PATH }, detached: true });
}

/** What may be stopped while it starts: it is, as soon as it has started. */
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
 * No monitor or shim ends with its daemon: what a measurement that failed has left is taken down before. What it was still
 * asking for when a signal came is found by the next look.
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
