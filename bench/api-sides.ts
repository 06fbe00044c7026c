/** Starts the API servers to compare: Podwright's in a separate process, and kube-apiserver with etcd. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createKubeClient, type KubeClient, readKubeconfig } from '@podwright/kube-client';
import { RealControlPlane } from '../tests/cluster/real-control-plane.fixture.ts';
import type { Bench } from './bench.ts';
import { PROGRAM } from './sides.ts';
import { until } from './until.ts';

/** An API server to measure. `startMs` is the time from the start of its process to its first response. */
export type ApiSide = { client: KubeClient; pids: number[]; startMs: number; stop(): Promise<void> };

export type ApiSides = Record<'upstream' | 'podwright' | 'power', ApiSide>;
export const TITLES: Record<keyof ApiSides, string> = {
  upstream: 'kube-apiserver, etcd',
  podwright: 'Podwright',
  power: 'Podwright, writes survive a power cut',
};

/** Starts Podwright's API server with its store under `scratch`. */
export async function startOurs(
  { scratch, sides }: Pick<Bench, 'scratch' | 'sides'>,
  { name, durability }: { name: string; durability: 'process' | 'power' },
): Promise<ApiSide> {
  const directory = join(scratch, name);
  mkdirSync(directory);
  const log = openSync(join(directory, 'log'), 'a');
  const places = ['--root', join(directory, 'root'), '--state', join(directory, 'state')];
  const args = [...places, 'apiserver', '--listen', '127.0.0.1:0', '--durability', durability];
  const beginMs = performance.now();
  const child = spawn(PROGRAM, args, { stdio: ['ignore', log, log], cwd: directory });
  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  sides.push({ stop: end });
  const kubeconfig = join(directory, 'state/admin.kubeconfig');
  await until(() => (existsSync(kubeconfig) ? true : undefined));
  const client = createKubeClient(await readKubeconfig(kubeconfig));
  await until(() => client.getText('/readyz').catch(() => undefined));
  const startMs = performance.now() - beginMs;
  const stop = async () => {
    client.close();
    await end();
  };
  return { client, pids: [child.pid!], startMs, stop };
}

/**
 * Starts kube-apiserver with etcd, which persists writes to disk before it responds. Returns `undefined` if the paths of these programs are
 * not set in the environment.
 */
export async function startUpstream({ sides }: Pick<Bench, 'sides'>): Promise<ApiSide | undefined> {
  const { PODWRIGHT_KUBERNETES_BIN: directory = '', PODWRIGHT_ETCD: etcd = '' } = process.env;
  if (directory === '' || etcd === '') return undefined;
  const plane = new RealControlPlane({ directory, etcd }, { isAlone: true, isDurable: true });
  sides.push(plane);
  await plane.start();
  const admin = plane.certificate('kubernetes-admin', ['system:masters']);
  if (admin.kind !== 'certificate') throw new Error('an administrator without a certificate');
  const tls = { ca: plane.certificateAuthority, certificate: admin.certificate, key: admin.key };
  const client = createKubeClient({ server: plane.url, tls });
  const stop = async () => {
    client.close();
    await plane.stop();
  };
  return { client, pids: plane.pids, startMs: plane.serverStartMs, stop };
}

/** Returns how many bytes the processes have caused to be written to disk. */
export function writtenBytes(pids: number[]): number {
  const bytes = (pid: number) =>
    Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0);
  return pids.reduce((sum, pid) => sum + bytes(pid), 0);
}
