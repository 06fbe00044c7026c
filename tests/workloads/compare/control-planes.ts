/**
 * The four control planes to compare: upstream's, Podwright's, Podwright's controllers with kube-apiserver, and Podwright's API server with
 * kube-controller-manager. None of them has a scheduler or kubelet.
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

/** Names of the control planes to compare. The first one is the reference for the others. */
export const SIDES = ['upstream', 'podwright', 'our controllers', 'our API'] as const;
export type SideName = (typeof SIDES)[number];
export type Side = {
  name: SideName;
  client: KubeClient;
  /** Returns a client with another user's identity. The caller must close it. */
  connectAs(username: string, groups: string[]): Promise<KubeClient>;
  stop(): Promise<void>;
};

const MASTERS = ['system:masters', 'system:authenticated'];
/** Sync period of the autoscalers. Upstream's default is 15 seconds. */
const AUTOSCALING_MS = 2000;
/** Makes upstream retry binding pending claims every second, which it does only once per period. The default is 15 seconds. */
const BINDING_FLAG = '--pvclaimbinder-sync-period=1s';
const MANAGER_FLAGS = [`--horizontal-pod-autoscaler-sync-period=${AUTOSCALING_MS}ms`, BINDING_FLAG];
/** Upstream controllers that are disabled in favor of `podwright controllers`. */
const REPLACED_CONTROLLERS = [
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
      return onKubeApiserver(name, ['*', ...REPLACED_CONTROLLERS.map((one) => `-${one}`)].join());
    default:
      return onPodwrightServer(name);
  }
}

async function onKubeApiserver(name: SideName, controllers: string): Promise<Side> {
  const binaries = { directory: environment('PODWRIGHT_KUBERNETES_BIN'), etcd: environment('PODWRIGHT_ETCD') };
  const managerFlags = [`--controllers=${controllers}`, ...MANAGER_FLAGS];
  const plane = new RealControlPlane(binaries, { hasScheduler: false, managerFlags });
  await plane.start();
  const connectAs = (username: string, groups: string[]) => {
    const credential = plane.certificate(username, groups);
    if (credential.kind !== 'certificate') throw new Error(`the user ${username} has no certificate`);
    const { certificate, key } = credential;
    return createKubeClient({ server: plane.url, tls: { ca: plane.certificateAuthority, certificate, key } });
  };
  const connect = () => connectAs('kubernetes-admin', MASTERS);
  const client = connect();
  const stopOurs = name === 'our controllers' ? startOurControllers(connect()) : undefined;
  const stop = async () => {
    await stopOurs?.();
    client.close();
    await plane.stop();
  };
  return { name, client, connectAs: async (...user) => connectAs(...user), stop };
}

function startOurControllers(client: KubeClient): () => Promise<void> {
  const controllers = { ...CONTROLLERS, 'horizontal-pod-autoscaling': autoscalingEvery(AUTOSCALING_MS) };
  const running = startControllers({ client, controllers, logger });
  return async () => {
    await running.stop();
    client.close();
  };
}

async function onPodwrightServer(name: SideName): Promise<Side> {
  const directory = mkdtempSync(join(tmpdir(), 'pw-compare-'));
  const path = (file: string) => join(directory, file);
  const hasUpstreamManager = name === 'our API';
  if (hasUpstreamManager) writeSigningKey(path('data'));
  const server = await startApiServer({
    directory: path('data'),
    socketPath: path('api.sock'),
    listen: { host: '127.0.0.1', port: 0 },
    hasControllerManager: hasUpstreamManager,
    logger: createLogger({ name: 'apiserver', level: 'error' }),
  });
  const kubeconfig = path('admin.kubeconfig');
  writeFileSync(kubeconfig, server.kubeconfig({ username: 'kubernetes-admin', groups: MASTERS }), { mode: 0o600 });
  const client = createKubeClient(await readKubeconfig(kubeconfig));
  const controllers = hasUpstreamManager
    ? undefined
    : startOurControllers(server.client({ username: 'admin', groups: MASTERS }));
  const manager = hasUpstreamManager ? startManager(directory) : undefined;
  const stop = async () => {
    await controllers?.();
    await end(manager);
    client.close();
    await server.stop();
    rmSync(directory, { recursive: true });
  };
  const connectAs = async (username: string, groups: string[]) => {
    const file = path('user.kubeconfig');
    writeFileSync(file, server.kubeconfig({ username, groups }), { mode: 0o600 });
    return createKubeClient(await readKubeconfig(file));
  };
  return { name, client, connectAs, stop };
}

/** Subdirectory of the API server's directory with the keys that sign service account tokens. The first key is `1.pem`. */
const ACCOUNT_KEYS = 'account-keys';

/** Creates the API server's first key for signing service account tokens, as an RSA key, so that kube-controller-manager can use it too. */
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
  // the kernel kills the program when this process exits, for whatever reason
  return spawn('setpriv', ['--pdeathsig', 'KILL', program, ...flags], { stdio: ['ignore', log, log], cwd: directory });
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
