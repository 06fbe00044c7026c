/** Pods on an Engine that remaps the users of all containers (`userns-remap`). */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import {
  type ContainerConfigSchema,
  type MessageInitShape,
  NamespaceMode,
  type PodSandboxConfigSchema,
} from '@podwright/cri';
import { runChecked } from '@podwright/host';
import { busyboxImage, type DockerEngine, MAPPED_USERS, startDockerEngine } from './docker-engine.fixture.ts';
import { type Dockershim, openDockershim } from './dockershim.fixture.ts';

const BRIDGE = 'pwdockmap0';

let docker: DockerEngine;
let dockershim: Dockershim;
before(async () => {
  docker = await startDockerEngine({ mapsUsers: true });
  dockershim = await openDockershim(docker.socket, (options) => {
    const { confDir } = options.network;
    mkdirSync(confDir);
    const ipam = { type: 'host-local', subnet: '10.233.0.0/24', dataDir: join(confDir, 'addresses') };
    const plugins = [{ type: 'bridge', bridge: BRIDGE, isGateway: true, ipam }];
    writeFileSync(join(confDir, '10.conflist'), JSON.stringify({ cniVersion: '0.4.0', name: 'pods', plugins }));
    return { ...options, network: { ...options.network, plugin: 'cni' } };
  });
});
after(async () => {
  await dockershim?.[Symbol.asyncDispose]();
  await docker?.stop();
  await runChecked('ip', ['link', 'delete', BRIDGE]).catch(() => undefined);
});

type Pod = Exclude<MessageInitShape<typeof PodSandboxConfigSchema>, { $typeName: string }>;
type Container = Exclude<MessageInitShape<typeof ContainerConfigSchema>, { $typeName: string }>;

/** Creates a pod and a container, which is not started. */
async function made(name: string, pod: Pod, container: Container) {
  const { runtime } = dockershim.cri;
  const logDirectory = join(dockershim.scratch, name);
  const config = { metadata: { name, namespace: 'default', uid: name, attempt: 0 }, logDirectory, ...pod };
  const { podSandboxId } = await runtime.runPodSandbox({ config });
  const own = { metadata: { name: 'c' }, image: { image: busyboxImage }, logPath: 'c.log', ...container };
  const command = ['sh', '-c', 'echo ran; exec sleep 1000'];
  const request = { podSandboxId, config: { command, ...own }, sandboxConfig: config };
  const { containerId } = await runtime.createContainer(request);
  const remove = async () => {
    await runtime.stopPodSandbox({ podSandboxId });
    await runtime.removePodSandbox({ podSandboxId });
  };
  return { containerId, log: join(logDirectory, 'c.log'), remove };
}

/** Runs a script in a container; returns its output and the host UID of the container's process. */
async function inside(containerId: string, script: string): Promise<{ user: number; said: string }> {
  const { runtime } = dockershim.cri;
  const { info } = await runtime.containerStatus({ containerId, verbose: true });
  const { pid } = JSON.parse(info.info!) as { pid: number };
  const [, user] = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  const { stdout } = await runtime.execSync({ containerId, cmd: ['sh', '-c', script], timeout: 10n });
  return { user: Number(user), said: Buffer.from(stdout).toString() };
}

test('a pod with mapped users has its network, its files, world-readable volumes, and its log', async () => {
  const volume = join(dockershim.scratch, 'volume');
  mkdirSync(volume);
  for (const [name, mode] of [
    ['open', 0o644],
    ['closed', 0o600],
  ] as const)
    writeFileSync(join(volume, name), name, { mode });
  const mounts = [{ hostPath: volume, containerPath: '/data' }];
  const { containerId, log, remove } = await made('mapped', { hostname: 'mapped' }, { mounts });
  await dockershim.cri.runtime.startContainer({ containerId });
  const script = 'id -u; cat /etc/hostname /data/open; cat /data/closed 2>&1; ip -o -4 addr show eth0';
  const { user, said } = await inside(containerId, script);
  assert.equal(user, MAPPED_USERS);
  assert.match(said, /^0\nmapped\nopen.*Permission denied\n.* inet 10\.233\./s);
  const logged = () => (existsSync(log) && readFileSync(log, 'utf8').includes('"ran')) || undefined;
  await waitFor(async () => logged(), { intervalMs: 20, signal: AbortSignal.timeout(30_000) });
  await remove();
});

test('a pod on the host network or with privileges has unmapped users', async () => {
  const onHost = { linux: { securityContext: { namespaceOptions: { network: NamespaceMode.NODE } } } };
  const host = await made('host', onHost, onHost);
  await dockershim.cri.runtime.startContainer({ containerId: host.containerId });
  assert.deepEqual(await inside(host.containerId, 'hostname'), { user: 0, said: `${hostname()}\n` });
  await host.remove();
  // the privileged container is only created, because not every host can start one
  const privileged = { linux: { securityContext: { privileged: true } } };
  await (await made('privileged', privileged, privileged)).remove();
});
