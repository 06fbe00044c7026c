/** Starts upstream's kubelet for comparisons and benchmarks, if its binary is available. */
import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createCgroup, discoverCgroups } from '@podwright/host';

/** Node name of all kubelets that are compared with each other. */
export const NODE_NAME = 'node';

/** Eviction signals. All are disabled, so that a full disk does not evict pods. */
const SIGNALS = ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'pid.available'];

export type UpstreamKubeletOptions = {
  program: string;
  /** Directory for the kubelet's configuration, certificates and log (`kubelet.log`). */
  directory: string;
  root: string;
  manifests: string;
  logs: string;
  /** The runtime's endpoint, including `unix://`. */
  endpoint: string;
  ports: { readOnly?: number; https: number; healthz: number };
  /** Parent of the kubelet's `kubepods` cgroup. A kubelet kills all unknown processes there, so two kubelets must not share it. */
  cgroupRoot: string;
  flags?: string[];
  /** Fields that override those of the default configuration. */
  configuration?: object;
  /**
   * Returns the command line that runs a program in the kubelet's environment, such as another network namespace. Default: the current one.
   */
  command?: (...words: string[]) => string[];
};

/** The host's first non-loopback address. Upstream rejects loopback addresses as node addresses. */
export function nodeAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.find(({ internal, family }) => !internal && family === 'IPv4')!.address;
}

export type UpstreamKubelet = { child: ChildProcess; stop: () => Promise<void> };

/** Starts the kubelet with cgroup v1 support and without a cluster. Its pods keep running when it is stopped. */
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
