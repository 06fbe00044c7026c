/**
 * Four control planes on the same machine: upstream's, ours, Podwright's controllers on kube-apiserver, and kube-controller-manager on
 * Podwright's API server. None has a scheduler or kubelets.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer } from '@podwright/api-server';
import { createLogger, type Logger, silentLogger } from '@podwright/base';
import { autoscalingEvery, startControllers } from '@podwright/controllers';
import { createKubeClient, type KubeClient, readKubeconfig } from '@podwright/kube-client';
import { CONTROLLERS } from '../../../packages/cli/src/daemon/controllers.ts';
import { RealControlPlane } from '../../cluster/real-control-plane.fixture.ts';

/** The first one is the reference. */
export const SIDES = ['upstream', 'podwright', 'our controllers', 'our API'] as const;
export type SideName = (typeof SIDES)[number];
export type Side = { name: SideName; client: KubeClient; stop(): Promise<void> };

const MASTERS = ['system:masters', 'system:authenticated'];
const AUTOSCALING_MS = 2000;
/** Claims that wait for volumes are handled once in this period only. */
const BINDING = '--pvclaimbinder-sync-period=1s';
const MANAGER_FLAGS = [`--horizontal-pod-autoscaler-sync-period=${AUTOSCALING_MS}ms`, BINDING];
/** The names of upstream's controllers that Podwright has in `podwright controllers`. */
const OWN = [
  ...['deployment', 'replicaset', 'replicationcontroller', 'statefulset', 'daemonset', 'job', 'cronjob'],
  ...['endpoints', 'endpointslice', 'endpointslice-mirroring', 'disruption', 'horizontal-pod-autoscaler'],
  ...['persistentvolume-attach-detach', 'persistentvolume-binder', 'ephemeral-volume', 'resourceclaim'],
  ...['node-lifecycle', 'taint-eviction', 'pod-garbage-collector', 'ttl-after-finished'],
].map((name) => `${name}-controller`);

const environment = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
};
const logger: Logger =
  process.env.DEBUG === undefined ? silentLogger : createLogger({ name: 'compare', level: 'debug' });

export function startSide(name: SideName): Promise<Side> {
  switch (name) {
    case 'upstream':
      return onKubeApiserver(name, '*');
    case 'our controllers':
      return onKubeApiserver(name, ['*', ...OWN.map((one) => `-${one}`)].join());
    default:
      return onOwnServer(name);
  }
}

async function onKubeApiserver(name: SideName, controllers: string): Promise<Side> {
  const binaries = { directory: environment('PODWRIGHT_KUBERNETES_BIN'), etcd: environment('PODWRIGHT_ETCD') };
  const managerFlags = [`--controllers=${controllers}`, ...MANAGER_FLAGS];
  const plane = new RealControlPlane(binaries, { hasScheduler: false, managerFlags });
  await plane.start();
  const admin = plane.certificate('kubernetes-admin', MASTERS);
  if (admin.kind !== 'certificate') throw new Error('an administrator without a certificate');
  const tls = { ca: plane.certificateAuthority, certificate: admin.certificate, key: admin.key };
  const connect = () => createKubeClient({ server: plane.url, tls });
  const client = connect();
  const own = name === 'our controllers' ? startOwn(connect()) : undefined;
  const stop = async () => {
    await own?.();
    client.close();
    await plane.stop();
  };
  return { name, client, stop };
}

function startOwn(client: KubeClient): () => Promise<void> {
  const controllers = { ...CONTROLLERS, 'horizontal-pod-autoscaling': autoscalingEvery(AUTOSCALING_MS) };
  const running = startControllers({ client, controllers, logger });
  return async () => {
    await running.stop();
    client.close();
  };
}

async function onOwnServer(name: SideName): Promise<Side> {
  const directory = mkdtempSync(join(tmpdir(), 'pw-compare-'));
  const path = (file: string) => join(directory, file);
  const isCrossed = name === 'our API';
  if (isCrossed) writeSigningKey(path('data'));
  const server = await startApiServer({
    directory: path('data'),
    socketPath: path('api.sock'),
    listen: { host: '127.0.0.1', port: 0 },
    hasControllerManager: isCrossed,
    logger: createLogger({ name: 'apiserver', level: 'error' }),
  });
  const kubeconfig = path('admin.kubeconfig');
  writeFileSync(kubeconfig, server.kubeconfig({ username: 'kubernetes-admin', groups: MASTERS }), { mode: 0o600 });
  const client = createKubeClient(await readKubeconfig(kubeconfig));
  const controllers = isCrossed ? undefined : startOwn(server.client({ username: 'admin', groups: MASTERS }));
  const manager = isCrossed ? startManager(directory) : undefined;
  const stop = async () => {
    await controllers?.();
    await end(manager);
    client.close();
    await server.stop();
    rmSync(directory, { recursive: true });
  };
  return { name, client, stop };
}

/** The directory of the keys of service account tokens, and the file of its first key. */
const ACCOUNT_KEYS = 'account-keys';

/** Writes a key that kube-controller-manager can use too. */
function writeSigningKey(data: string): void {
  mkdirSync(join(data, ACCOUNT_KEYS), { recursive: true, mode: 0o700 });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  writeFileSync(join(data, ACCOUNT_KEYS, '1.pem'), pem, { mode: 0o600 });
}

function startManager(directory: string): ChildProcess {
  const path = (file: string) => join(directory, file);
  const pem = readFileSync(path('data/authority/authority.pem'), 'utf8');
  const keyAt = pem.search(/-----BEGIN [A-Z ]*PRIVATE KEY/);
  writeFileSync(path('ca.crt'), pem.slice(0, keyAt));
  writeFileSync(path('ca.key'), pem.slice(keyAt), { mode: 0o600 });
  const given = {
    kubeconfig: path('admin.kubeconfig'),
    'leader-elect': 'false',
    'secure-port': '0',
    'cluster-signing-cert-file': path('ca.crt'),
    'cluster-signing-key-file': path('ca.key'),
    'root-ca-file': path('ca.crt'),
    'service-account-private-key-file': join(path('data'), ACCOUNT_KEYS, '1.pem'),
    controllers: '*',
  };
  const flags = [...Object.entries(given).map(([key, value]) => `--${key}=${value}`), ...MANAGER_FLAGS];
  const log = openSync(path('manager.log'), 'a');
  const program = join(environment('PODWRIGHT_KUBERNETES_BIN'), 'kube-controller-manager');
  // it is killed with this process, however that ends
  return spawn('setpriv', ['--pdeathsig', 'KILL', program, ...flags], { stdio: ['ignore', log, log], cwd: directory });
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
