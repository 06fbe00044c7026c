/** Upstream's kubelet, for those who have its program: comparisons and measurements. */
import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';

/** The node's name for every kubelet under comparison. */
export const NODE_NAME = 'node';

/** Signals of eviction, none of which may remove pods from a full disk. */
const SIGNALS = ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'pid.available'];

export type UpstreamKubeletOptions = {
  program: string;
  /** Its configuration, certificates and log (`kubelet.log`). */
  directory: string;
  root: string;
  manifests: string;
  logs: string;
  /** Of the runtime, with `unix://`. */
  endpoint: string;
  ports: { readOnly: number; https: number; healthz: number };
  /** More flags. */
  flags?: string[];
};

/** Upstream takes no loopback address for a node's. */
export function nodeAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.find(({ internal, family }) => !internal && family === 'IPv4')!.address;
}

/** Starts it as it has to be set up without a cluster and for cgroup v1. Whoever calls this ends it. */
export function startUpstreamKubelet(options: UpstreamKubeletOptions): ChildProcess {
  const { program, directory, root, flags = [] } = options;
  const file = join(directory, 'kubelet.json');
  writeFileSync(file, JSON.stringify(configuration(options)));
  const log = openSync(join(directory, 'kubelet.log'), 'a');
  const places = ['--config', file, '--root-dir', root, '--cert-dir', join(directory, 'pki')];
  const node = ['--hostname-override', NODE_NAME, '--node-ip', nodeAddress()];
  const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
  const env = { ...process.env, PATH };
  return spawn(program, [...places, ...node, ...flags], { stdio: ['ignore', log, log], env });
}

function configuration({ manifests, logs, endpoint, ports }: UpstreamKubeletOptions) {
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
    evictionHard: Object.fromEntries(SIGNALS.map((signal) => [signal, '0%'])),
    address: '127.0.0.1',
    readOnlyPort: ports.readOnly,
    port: ports.https,
    healthzPort: ports.healthz,
    authentication: { webhook: { enabled: false }, anonymous: { enabled: true } },
    authorization: { mode: 'AlwaysAllow' },
  };
}
