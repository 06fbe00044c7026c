import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Failpoint, type Logger, noFailpoint, silentLogger } from '@podwright/base';
import { create, type MessageInitShape, type PodSandboxConfig, PodSandboxConfigSchema } from '@podwright/cri';
import { namesInSync, runProgram } from '@podwright/host';
import { readMounts } from '@podwright/system';
import { CheckpointStore } from '../../packages/dockershim/src/checkpoints/checkpoint-store.ts';
import { connectEngine, type Engine } from '../../packages/dockershim/src/engine/engine.ts';
import { removeContainer } from '../../packages/dockershim/src/engine/remove-container.ts';
import { CniPlugin } from '../../packages/dockershim/src/network/cni-plugin.ts';
import { DockerBridge } from '../../packages/dockershim/src/network/docker-bridge.ts';
import type { NetworkPlugin } from '../../packages/dockershim/src/network/network-plugin.ts';
import type { DockershimOptions } from '../../packages/dockershim/src/options.ts';
import { sandboxDependencies } from '../../packages/dockershim/src/sandbox/sandbox-dependencies.ts';
import { sandboxHandlers } from '../../packages/dockershim/src/sandbox/sandbox-handlers.ts';
import {
  busyboxImage,
  type DockerEngine,
  type DockerEngineOptions,
  startDockerEngine,
} from './docker-engine.fixture.ts';

/** Directories and network for a dockershim's sandboxes. Plain values, so that they can be passed to a child process. */
export type SandboxPlace = { socket: string; root: string; confDir: string; binDirs: string[]; bridge: string };

/** CRI calls for sandboxes on an Engine, handled in this process as by the dockershim's server. */
export type SandboxShim = {
  engine: Engine;
  network: NetworkPlugin;
  checkpoints: CheckpointStore;
  dependencies: ReturnType<typeof sandboxDependencies>;
  run: (config: PodSandboxConfig, runtimeHandler?: string) => Promise<string>;
  stop: (id: string) => Promise<void>;
  remove: (id: string) => Promise<void>;
  status: (id: string) => Promise<NonNullable<Awaited<ReturnType<Handlers['podSandboxStatus']>>['status']>>;
  list: (filter?: object) => Promise<{ id: string; state: number }[]>;
  close: () => void;
};

type Handlers = ReturnType<typeof sandboxHandlers>;

export type SandboxShimOptions = {
  failpoint?: Failpoint;
  logger?: Logger;
  network?: NetworkPlugin;
  signal?: AbortSignal;
  hairpinMode?: 'hairpin-veth' | 'promiscuous-bridge';
};

const BIN_DIR = '/usr/lib/cni';

/** Starts an Engine with its own directories, and a CNI network with its own bridge. */
export async function startPlace(
  options: DockerEngineOptions = {},
): Promise<{ engine: DockerEngine; place: SandboxPlace; end: () => Promise<void> }> {
  const engine = await startDockerEngine(options);
  const bridge = `pwd${process.pid}`;
  const { scratch, socket } = engine;
  const place = { socket, root: join(scratch, 'shim'), confDir: join(scratch, 'net.d'), binDirs: [BIN_DIR], bridge };
  mkdirSync(place.confDir);
  writeNetwork(place, [bridgePlugin(place), { type: 'portmap', capabilities: { portMappings: true } }]);
  await makeSandboxImage(socket);
  const end = async () => {
    await runProgram('ip', ['link', 'del', bridge]);
    await engine.stop();
  };
  return { engine, place, end };
}

/** A sandbox image whose process just sleeps. */
const SANDBOX_IMAGE = 'localhost/podwright/pause:1';

async function makeSandboxImage(socket: string): Promise<void> {
  const engine = await connectEngine(socket);
  const container = await engine.containers.create('pause', { Image: busyboxImage, Labels: {}, HostConfig: {} });
  const [repo, tag] = ['localhost/podwright/pause', '1'];
  const body = { Cmd: ['sleep', '1000000'] };
  await engine.http.done({ what: 'commit', method: 'POST', path: '/commit', query: { container, repo, tag }, body });
  await engine.containers.remove(container);
  engine.close();
}

/** Writes the CNI network configuration with these plugins. It is the only one in the place's configuration directory. */
export function writeNetwork(place: SandboxPlace, plugins: object[]): void {
  const list = { cniVersion: '1.0.0', name: 'pods', plugins };
  writeFileSync(join(place.confDir, '10-pods.conflist'), JSON.stringify(list));
}

export function bridgePlugin({ bridge, root }: SandboxPlace) {
  const ranges = [[{ subnet: '10.235.0.0/16' }]];
  const ipam = { type: 'host-local', dataDir: join(root, '../addresses'), ranges };
  return { type: 'bridge', bridge, isGateway: true, ipam };
}

/** Returns the CRI calls for sandboxes, handled in this process. */
export async function openShim(place: SandboxPlace, options: SandboxShimOptions = {}): Promise<SandboxShim> {
  const { failpoint = noFailpoint, logger = silentLogger, hairpinMode = 'hairpin-veth' } = options;
  const engine = await connectEngine(place.socket);
  const { confDir, binDirs } = place;
  const network =
    options.network ?? new CniPlugin({ network: { confDir, binDirs, cacheDir: join(place.root, 'cni') }, logger });
  await network.init({ hairpinMode, nonMasqueradeCidr: '', mtu: 0 });
  const checkpoints = new CheckpointStore(join(place.root, 'sandboxes'), logger);
  const services = {
    ...{ engine, network, logger, failpoint },
    options: { sandboxImage: SANDBOX_IMAGE } as DockershimOptions,
  };
  const dependencies = sandboxDependencies({
    ...{ services, checkpoints },
    ensureImage: async () => undefined,
    removeContainer: (id, signal) => removeContainer(engine, id, signal),
  });
  const handlers = sandboxHandlers(dependencies);
  const context = { signal: options.signal ?? new AbortController().signal, service: '', method: '' };
  const call = <A extends object, R>(method: (request: never, context: never) => Promise<R>, request: A) =>
    method(request as never, context as never);
  return {
    ...{ engine, network, checkpoints, dependencies },
    run: async (config, runtimeHandler = '') => {
      const request = { config, runtimeHandler };
      return (await call(handlers.runPodSandbox, request)).podSandboxId!;
    },
    stop: async (podSandboxId) => void (await call(handlers.stopPodSandbox, { podSandboxId })),
    remove: async (podSandboxId) => void (await call(handlers.removePodSandbox, { podSandboxId })),
    status: async (podSandboxId) =>
      (await call(handlers.podSandboxStatus, { podSandboxId, verbose: true })).status as never,
    list: async (filter) => (await call(handlers.listPodSandbox, { filter })).items as { id: string; state: number }[],
    close: () => engine.close(),
  };
}

export const dockerBridge = (): NetworkPlugin => new DockerBridge();

/** Returns a sandbox config like those that a kubelet sends. */
export function podConfig(name: string, more: MessageInitShape<typeof PodSandboxConfigSchema> = {}): PodSandboxConfig {
  const uid = `${name}-uid`;
  const labels = {
    'io.kubernetes.pod.name': name,
    'io.kubernetes.pod.namespace': 'default',
    'io.kubernetes.pod.uid': uid,
  };
  const base = {
    metadata: { name, uid, namespace: 'default', attempt: 0 },
    hostname: name,
    labels,
    annotations: { 'a/b': 'c' },
    dnsConfig: { servers: ['10.0.0.10'], searches: ['svc.local'], options: ['ndots:5'] },
  };
  return create(PodSandboxConfigSchema, { ...base, ...(more as object) });
}

/** Returns what sandboxes have left behind in the directories and on the host, one item per line. */
export async function remains(place: SandboxPlace): Promise<string[]> {
  const engine = await connectEngine(place.socket);
  const containers = await engine.containers.list({}).finally(() => engine.close());
  const { stdout: rules } = await runProgram('iptables-save', []);
  const scratch = join(place.root, '..');
  const files = (path: string) => namesInSync(join(scratch, path)).map((name) => `${path}: ${name}`);
  return [
    ...containers.map(({ Names, State }) => `container: ${Names[0]} ${State}`),
    ...namesInSync(`/sys/class/net/${place.bridge}/brif`).map((name) => `link: ${name}`),
    ...rules
      .split('\n')
      .filter((line) => line.includes('10.235.'))
      .map((line) => `rule: ${line}`),
    ...files('addresses/pods').filter((name) => /\d+\.\d+/.test(name)),
    ...files('shim/sandboxes'),
    ...files('shim/cni/attachments'),
    ...readMounts()
      .filter(
        ({ mountPoint }) => mountPoint.startsWith(join(scratch, 'exec/netns/')) && !mountPoint.endsWith('default'),
      )
      .map(({ mountPoint }) => `netns: ${mountPoint}`),
  ];
}
