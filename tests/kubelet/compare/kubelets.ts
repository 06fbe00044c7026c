import { spawn } from 'node:child_process';
import { openSync, readFileSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@podwright/base';
import { kubeletOptions, type Pod, startKubelet } from '@podwright/kubelet';

/** Where a kubelet under comparison has everything. */
export type Places = { scratch: string; root: string; logs: string; manifests: string };

/** An event, without what differs from run to run. */
export type SeenEvent = { object: string; fieldPath: string; type: string; reason: string; message: string };

export type ComparedKubelet = {
  pods(): Promise<Pod[]>;
  events(): Promise<SeenEvent[]>;
  stop(): Promise<void>;
};

export const NODE_NAME = 'node';
const READ_ONLY_PORT = 10_355;
const PORTS = { port: 10_350, healthzPort: 10_348 };

/** Upstream takes no loopback address for a node's. */
function nodeAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.find(({ internal, family }) => !internal && family === 'IPv4')!.address;
}

/** Upstream's, as it has to be set up without a cluster and for cgroup v1, with nothing that evicts pods on a full disk. */
export function startUpstream(program: string, endpoint: string, places: Places): ComparedKubelet {
  const never = ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'pid.available'];
  const config = {
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    staticPodPath: places.manifests,
    fileCheckFrequency: '1s',
    containerRuntimeEndpoint: endpoint,
    podLogsDir: places.logs,
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    cgroupDriver: 'cgroupfs',
    evictionHard: Object.fromEntries(never.map((signal) => [signal, '0%'])),
    address: '127.0.0.1',
    readOnlyPort: READ_ONLY_PORT,
    ...PORTS,
    authentication: { webhook: { enabled: false }, anonymous: { enabled: true } },
    authorization: { mode: 'AlwaysAllow' },
  };
  const file = join(places.scratch, 'kubelet.json');
  writeFileSync(file, JSON.stringify(config));
  const logFile = join(places.scratch, 'kubelet.log');
  const log = openSync(logFile, 'w');
  const flags = ['--config', file, '--root-dir', places.root, '--cert-dir', join(places.scratch, 'pki')];
  const node = ['--hostname-override', NODE_NAME, '--node-ip', nodeAddress(), '-v=4'];
  const child = spawn(program, [...flags, ...node], { stdio: ['ignore', log, log] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return {
    pods: async () => {
      const answer = await fetch(`http://127.0.0.1:${READ_ONLY_PORT}/pods`);
      return ((await answer.json()) as { items: Pod[] | null }).items ?? [];
    },
    events: async () => eventsOfLog(readFileSync(logFile, 'utf8')),
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Without an API server upstream's events are in its log alone. */
function eventsOfLog(text: string): SeenEvent[] {
  const lines = text.split('\n').filter((line) => line.includes('"Event occurred"'));
  return lines.map((line) => {
    const field = (key: string): string =>
      JSON.parse(`"${new RegExp(`${key}="((?:[^"\\\\]|\\\\.)*)"`).exec(line)?.[1] ?? ''}"`);
    const [object, fieldPath, type, reason] = [field('object'), field('fieldPath'), field('type'), field('reason')];
    return { object, fieldPath, type, reason, message: field('message') };
  });
}

export async function startOurs(endpoint: string, cgroupRoot: string, places: Places): Promise<ComparedKubelet> {
  const kubelet = await startKubelet(
    kubeletOptions({
      nodeName: NODE_NAME,
      nodeIp: nodeAddress(),
      runtimeEndpoint: endpoint,
      manifestDir: places.manifests,
      rootDir: places.root,
      podLogsDir: places.logs,
      cgroupRoot,
      logger: createLogger({ level: 'error' }),
    }),
  );
  return {
    pods: async () => kubelet.pods(),
    events: async () =>
      kubelet.events().map(({ involvedObject, type, reason, message }) => ({
        object: `${involvedObject.namespace}/${involvedObject.name}`,
        fieldPath: involvedObject.fieldPath ?? '',
        type,
        reason,
        message,
      })),
    stop: () => kubelet.close(),
  };
}
