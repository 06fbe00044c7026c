/** Starts the kubelets to compare: upstream's (PODWRIGHT_BENCH_KUBELET is the path of its binary) and Podwright's. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { runChecked } from '@podwright/host';
import { startUpstreamKubelet } from '../scripts/upstream-kubelet.ts';
import type { Bench } from './bench.ts';
import { BRIDGE, loadImage, type Side, startContainerd, startPodwright } from './sides.ts';

const UPSTREAM = process.env.PODWRIGHT_BENCH_KUBELET;
/** Maximum size of a container's log file, large enough that a log of a hundred megabytes is never rotated. */
const MAX_LOG_SIZE = '1Gi';
const FIRST_PORT = 10_900;

/** A kubelet with a manifest directory and an HTTP API. Each of its pods creates a file in `out` once it runs. */
export type KubeletSide = {
  runtime: Side;
  manifests: string;
  out: string;
  url: string;
  pid: number;
  stop: () => Promise<void>;
};

/** Kubelets by column: upstream's on containerd, Podwright's with its own runtime (`podwright node`), and Podwright's on containerd. */
export type Sides = Record<'containerd' | 'podwright' | 'matched', KubeletSide>;

type Ports = { https: number; healthz: number };
type Certificate = { certificate: string; key: string };
type Setup = { index: number; ports: Ports; certificate: Certificate };
type Begin = (directory: string, setup: Setup) => Promise<ChildProcess>;

const portsOf = (index: number): Ports => ({ https: FIRST_PORT + 2 * index, healthz: FIRST_PORT + 2 * index + 1 });

/**
 * Runs `work` with the kubelets started, each on its own runtime; upstream's only if PODWRIGHT_BENCH_KUBELET is set. All serve HTTPS with
 * the same certificate, which this process trusts. `indices` keep their bridges, subnets and ports apart.
 */
export async function withKubelets<T>(
  { scratch, sides }: Bench,
  { name, indices }: { name: string; indices: [number, number, number] },
  work: (all: Sides) => Promise<T>,
): Promise<T> {
  const certificate = await makeCertificate(join(scratch, name));
  const started: KubeletSide[] = [];
  const start = async (kind: string, index: number, begin: Begin) => {
    const runtime = await startContainerd(scratch, { name: `${name}-${kind}`, index });
    sides.push(runtime);
    const manifests = join(runtime.directory, 'manifests');
    mkdirSync(manifests);
    const ports = portsOf(index);
    const child = await begin(runtime.directory, { index, ports, certificate });
    const side = kubeletSide(runtime, { manifests, ports, child });
    started.push(side);
    return side;
  };
  const [ourNode, ours, upstreams] = indices;
  try {
    const ports = portsOf(ourNode);
    const settings = serverSettings(ports, certificate);
    const node = { name: `${name}-node`, command: 'node', setup: 'default', index: ourNode, settings } as const;
    const runtime = await startPodwright(scratch, node);
    sides.push(runtime);
    await loadImage(runtime);
    const all = {
      podwright: kubeletSide(runtime, { manifests: join(runtime.directory, 'root/manifests'), ports }),
      matched: await start('ours', ours, ourKubelet),
      ...(UPSTREAM !== undefined && { containerd: await start('upstream', upstreams, upstreamKubelet) }),
    };
    return await work(all as Sides);
  } finally {
    for (const { stop } of started) await stop();
  }
}

async function makeCertificate(directory: string): Promise<Certificate> {
  mkdirSync(directory, { recursive: true });
  const [certificate, key] = [join(directory, 'server.crt'), join(directory, 'server.key')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  await runChecked('openssl', ['req', '-x509', ...kind, ...names, '-keyout', key, '-out', certificate]);
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(certificate, 'utf8')]);
  return { certificate, key };
}

type SideParts = { manifests: string; ports: Ports; child?: ChildProcess };

function kubeletSide(runtime: Side, { manifests, ports, child }: SideParts): KubeletSide {
  const out = join(runtime.directory, 'out');
  mkdirSync(out, { recursive: true });
  const ended = new Promise((resolve) => child?.once('exit', resolve));
  const stop = async () => {
    if (child === undefined || child.exitCode !== null) return;
    child.kill('SIGTERM');
    await ended;
  };
  return { runtime, manifests, out, url: `https://127.0.0.1:${ports.https}`, pid: child?.pid ?? runtime.pid, stop };
}

/** Returns the part of a configuration file that both of Podwright's kubelets share. It does not depend on their directories. */
const serverSettings = ({ https, healthz }: Ports, { certificate, key }: Certificate) => `[kubelet]
container_log_max_size = "${MAX_LOG_SIZE}"
[kubelet.server]
address = "127.0.0.1"
port = ${https}
healthz_port = ${healthz}
tls_cert_file = "${certificate}"
tls_private_key_file = "${key}"
anonymous_auth = true
`;

async function ourKubelet(directory: string, setup: Setup): Promise<ChildProcess> {
  const config = join(directory, 'kubelet.toml');
  writeFileSync(
    config,
    `root = "${directory}/kubelet"
state = "${directory}/kubelet-run"
manifests = "${directory}/manifests"
pod_logs = "${directory}/logs"
cgroup_parent = "/${BRIDGE}${setup.index}"
log_level = "warn"
${serverSettings(setup.ports, setup.certificate)}[kubelet.eviction]
hard = {}
`,
  );
  const program = new URL('../bin/podwright', import.meta.url).pathname;
  const endpoint = `unix://${directory}/c.sock`;
  const args = ['--config', config, 'kubelet', '--container-runtime-endpoint', endpoint];
  const log = openSync(join(directory, 'kubelet.log'), 'a');
  const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
  return spawn(program, args, { stdio: ['ignore', log, log], env: { ...process.env, PATH } });
}

async function upstreamKubelet(directory: string, { index, ports, certificate }: Setup): Promise<ChildProcess> {
  const served = ['--tls-cert-file', certificate.certificate, '--tls-private-key-file', certificate.key];
  const { child } = await startUpstreamKubelet({
    program: UPSTREAM!,
    directory,
    root: join(directory, 'kubelet'),
    manifests: join(directory, 'manifests'),
    logs: join(directory, 'logs'),
    endpoint: `unix://${directory}/c.sock`,
    ports,
    cgroupRoot: `/${BRIDGE}${index}`,
    // enables --seccomp-default, which is the default of Podwright's kubelet
    flags: [...served, '--container-log-max-size', MAX_LOG_SIZE, '--seccomp-default'],
  });
  return child;
}
