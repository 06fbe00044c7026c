/** Starts upstream's kubelet, for comparisons and measurements, if its program is available. */
import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createCgroup, discoverCgroups } from '@podwright/host';

/** The node's name for every kubelet under comparison. */
export const NODE_NAME = 'node';

/** Eviction signals, which are all disabled so that a full disk does not evict pods. */
const SIGNALS = ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'pid.available'];

export type UpstreamKubeletOptions = {
  program: string;
  /** Directory of its configuration, certificates and log (`kubelet.log`). */
  directory: string;
  root: string;
  manifests: string;
  logs: string;
  /** Endpoint of the runtime, with `unix://`. */
  endpoint: string;
  ports: { readOnly?: number; https: number; healthz: number };
  /** Parent of its cgroup `kubepods`. A kubelet kills all unknown processes there, so that two kubelets must not share it. */
  cgroupRoot: string;
  /** Further flags. */
  flags?: string[];
  /** Fields that override those of the configuration. */
  configuration?: object;
  /** Returns the command line that runs a program at the kubelet's place, such as another network namespace. Default: here. */
  command?: (...words: string[]) => string[];
};

/** The first address of the host that is not a loopback address, which upstream rejects as a node's. */
export function nodeAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.find(({ internal, family }) => !internal && family === 'IPv4')!.address;
}

export type UpstreamKubelet = { child: ChildProcess; stop: () => Promise<void> };

/** Starts the kubelet with settings for cgroup v1 and without a cluster. Its pods keep running when it is stopped. */
export async function startUpstreamKubelet(options: UpstreamKubeletOptions): Promise<UpstreamKubelet> {
  const { program, directory, root, flags = [], cgroupRoot, command = (...words) => words } = options;
  await createCgroup(await discoverCgroups(), cgroupRoot);
  const settings = join(directory, 'kubelet.json');
  writeFileSync(settings, JSON.stringify({ ...configuration(options), ...options.configuration }));
  const log = openSync(join(directory, 'kubelet.log'), 'a');
  const places = ['--config', settings, '--root-dir', root, '--cert-dir', join(directory, 'pki')];
  const node = ['--hostname-override', NODE_NAME, '--node-ip', nodeAddress()];
  const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
  const env = { ...process.env, PATH };
  const [file, ...args] = command(program, ...places, ...node, ...flags);
  const child = spawn(file!, args, { stdio: ['ignore', log, log], env });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    if (child.exitCode === null && child.kill('SIGTERM')) await ended;
  };
  return { child, stop };
}

function configuration({ manifests, logs, endpoint, ports, cgroupRoot }: UpstreamKubeletOptions) {
  return {
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    staticPodPath: manifests,
    containerRuntimeEndpoint: endpoint,
    podLogsDir: logs,
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    cgroupDriver: 'cgroupfs',
    cgroupRoot,
    evictionHard: Object.fromEntries(SIGNALS.map((signal) => [signal, '0%'])),
    address: '127.0.0.1',
    readOnlyPort: ports.readOnly,
    port: ports.https,
    healthzPort: ports.healthz,
    authentication: { webhook: { enabled: false }, anonymous: { enabled: true } },
    authorization: { mode: 'AlwaysAllow' },
  };
}
