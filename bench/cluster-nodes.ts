/**
 * Starts the measured nodes, which join a real control plane: upstream's kubelet (PODWRIGHT_BENCH_KUBELET is the path of its binary) and
 * Podwright's.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bearerToken, createKubeClient, type KubeClient, NODES } from '@podwright/kube-client';
import { startUpstreamKubelet } from '../scripts/upstream-kubelet.ts';
import { type Cluster, startCluster } from '../tests/cluster/cluster.fixture.ts';
import type { Bench } from './bench.ts';
import { ByteCounter } from './byte-counter.ts';
import { BRIDGE, loadImage, type Side, startContainerd, startPodwright } from './sides.ts';
import { until } from './until.ts';

const UPSTREAM = process.env.PODWRIGHT_BENCH_KUBELET;
const FIRST_PORT = 11_900;

/** A node of the cluster. `counter` counts the bytes between the node and the API server. */
export type ClusterNode = {
  name: string;
  runtime: Side;
  /** PIDs of the node's daemons: the kubelet, plus the runtime if it is a separate process. */
  pids: number[];
  counter: ByteCounter;
};

/** Nodes by column: upstream's kubelet on containerd, `podwright node`, and Podwright's kubelet on containerd. */
export type ClusterNodes = Record<'containerd' | 'podwright' | 'matched', ClusterNode>;

export type MeasuredCluster = { client: KubeClient; nodes: ClusterNodes };

export type StartedKubelet = { index: number; kubeconfig: string; name: string };

/** Runs `work` with a control plane and its nodes started; upstream's kubelet only if PODWRIGHT_BENCH_KUBELET is set. */
export async function withCluster<T>(bench: Bench, work: (measured: MeasuredCluster) => Promise<T>): Promise<T> {
  const { scratch, sides } = bench;
  await using cluster = await startCluster();
  const ends: (() => Promise<unknown>)[] = [];
  const client = adminClient(cluster);
  const prepare = async (name: string, index: number) => {
    const counter = await ByteCounter.start(new URL(cluster.url));
    ends.push(() => counter.close());
    const kubeconfig = join(scratch, `${name}.kubeconfig`);
    const text = cluster.kubeconfig(cluster.nodeCredential(name)).replace(cluster.url, counter.url);
    writeFileSync(kubeconfig, text, { mode: 0o600 });
    return { counter, started: { index, kubeconfig, name } };
  };
  const onContainerd = async (name: string, index: number, begin: Begin): Promise<ClusterNode> => {
    const runtime = await startContainerd(scratch, { name, index });
    sides.push(runtime);
    const { counter, started } = await prepare(name, index);
    const child = await begin(runtime.directory, started);
    ends.push(() => end(child));
    return { name, runtime, pids: [child.pid!, runtime.pid], counter };
  };
  try {
    const nodes = {
      podwright: await ourNode(bench, prepare),
      matched: await onContainerd('cluster-ours', 14, ourKubelet),
      ...(UPSTREAM !== undefined && { containerd: await onContainerd('cluster-upstream', 15, upstreamKubelet) }),
    } as ClusterNodes;
    for (const { name } of Object.values(nodes)) await untilReady(client, name);
    return await work({ client, nodes });
  } finally {
    for (const stop of ends.reverse()) await stop();
    client.close();
  }
}

type Begin = (directory: string, started: StartedKubelet) => Promise<ChildProcess> | ChildProcess;
type Prepare = (name: string, index: number) => Promise<{ counter: ByteCounter; started: StartedKubelet }>;

function adminClient(cluster: Cluster): KubeClient {
  const credential = cluster.adminCredential();
  const identity =
    credential.kind === 'certificate'
      ? { tls: { ca: cluster.certificateAuthority, certificate: credential.certificate, key: credential.key } }
      : { tls: { ca: cluster.certificateAuthority }, authorization: bearerToken(credential.token) };
  return createKubeClient({ server: cluster.url, ...identity });
}

export async function untilReady(client: KubeClient, name: string): Promise<void> {
  type Node = { metadata: object; status?: { conditions?: { type: string; status: string }[] } };
  let seen: unknown;
  const isReady = async () => {
    const node = await client.get<Node>(NODES, { name }).catch((error: unknown) => {
      seen = String(error);
      return undefined;
    });
    seen = node?.status?.conditions ?? seen;
    return node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') || undefined;
  };
  await until(isReady, 100).catch((error: unknown) => {
    throw new Error(`node ${name} is not ready: ${JSON.stringify(seen)}`, { cause: error });
  });
}

/** Returns the part of a Podwright kubelet's configuration file that does not depend on its directories. */
const settingsOf = ({ index, kubeconfig }: StartedKubelet) => `[cluster]
kubeconfig = "${kubeconfig}"
[kubelet.server]
address = "127.0.0.1"
port = ${FIRST_PORT + 2 * index}
healthz_port = ${FIRST_PORT + 2 * index + 1}
`;

async function ourNode({ scratch, sides }: Bench, prepare: Prepare): Promise<ClusterNode> {
  const [name, index] = ['cluster-node', 13];
  const { counter, started } = await prepare(name, index);
  const setup = {
    name,
    command: 'node',
    setup: 'default',
    index,
    top: `node_name = "${name}"`,
    settings: settingsOf(started),
  } as const;
  const runtime = await startPodwright(scratch, setup);
  sides.push(runtime);
  await loadImage(runtime);
  return { name, runtime, pids: [runtime.pid], counter };
}

function ourKubelet(directory: string, started: StartedKubelet): ChildProcess {
  const config = join(directory, 'kubelet.toml');
  writeFileSync(
    config,
    `root = "${directory}/kubelet"
state = "${directory}/kubelet-run"
manifests = "${directory}/manifests"
pod_logs = "${directory}/logs"
cgroup_parent = "/${BRIDGE}${started.index}"
log_level = "warn"
node_name = "${started.name}"
${settingsOf(started)}`,
  );
  mkdirSync(join(directory, 'manifests'), { recursive: true });
  const program = new URL('../bin/podwright', import.meta.url).pathname;
  const args = ['--config', config, 'kubelet', '--container-runtime-endpoint', `unix://${directory}/c.sock`];
  const log = openSync(join(directory, 'kubelet.log'), 'a');
  const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
  return spawn(program, args, { stdio: ['ignore', log, log], env: { ...process.env, PATH } });
}

/** Starts upstream's kubelet, using the containerd whose files are in `directory`. */
export async function upstreamKubelet(
  directory: string,
  { index, kubeconfig, name }: StartedKubelet,
): Promise<ChildProcess> {
  const manifests = join(directory, 'manifests');
  mkdirSync(manifests, { recursive: true });
  const { child } = await startUpstreamKubelet({
    ...{ program: UPSTREAM!, directory, manifests },
    root: join(directory, 'kubelet'),
    logs: join(directory, 'logs'),
    endpoint: `unix://${directory}/c.sock`,
    ports: { https: FIRST_PORT + 2 * index, healthz: FIRST_PORT + 2 * index + 1 },
    cgroupRoot: `/${BRIDGE}${index}`,
    flags: ['--hostname-override', name, '--kubeconfig', kubeconfig],
  });
  return child;
}

/** Terminates a daemon and waits for it to exit. */
export async function end(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  if (child.exitCode === null && child.kill('SIGTERM')) await ended;
}
