import { ContainerState, type PluginHandlers } from '@podwright/nri';
import { ADJUSTMENTS } from './adjustments.ts';
import type { World } from './world.ts';

type Scenario = (world: World) => Promise<void>;

const RESOURCES = { cpuPeriod: 100_000n, cpuQuota: 50_000n, cpuShares: 512n, memoryLimitInBytes: 64n << 20n };
const fails = () => Promise.reject(new Error('the probe fails'));

/** A pod with most fields of the CRI, from its creation to its removal. */
async function life(world: World): Promise<void> {
  await world.probe();
  const pod = await world.runPod('life', {
    labels: { app: 'web', 'io.kubernetes.pod.name': 'life' },
    annotations: { team: 'a' },
    linux: { overhead: RESOURCES, resources: { ...RESOURCES, cpuShares: 1024n } },
  });
  const container = await world.create(pod, 'main', {
    labels: { part: 'front' },
    annotations: { note: 'b' },
    envs: [{ key: 'A', value: Buffer.from('1') }],
    workingDir: '/tmp',
    mounts: [{ containerPath: '/host-etc', hostPath: '/etc', readonly: true }],
    devices: [{ containerPath: '/dev/zero2', hostPath: '/dev/zero', permissions: 'rw' }],
    linux: {
      resources: { ...RESOURCES, cpusetCpus: '0', oomScoreAdj: 100n, unified: {} },
      securityContext: { runAsUser: { value: 1000n }, supplementalGroups: [7n], seccomp: { profileType: 0 } },
    },
  });
  await world.start(container);
  const linux = { ...RESOURCES, memoryLimitInBytes: 80n << 20n };
  await world.call('UpdateContainerResources', () =>
    world.side.cri.runtime.updateContainerResources({ containerId: container, linux: linux as never }),
  );
  await world.call('UpdatePodSandboxResources', () =>
    world.side.cri.runtime.updatePodSandboxResources({
      podSandboxId: pod,
      overhead: RESOURCES as never,
      resources: linux as never,
    }),
  );
  await world.stop(container);
  await world.stop(container);
  await world.remove(container);
  await world.remove(container);
  await world.stopPod(pod);
  await world.stopPod(pod);
  await world.removePod(pod);
  await world.removePod(pod);
}

/** A container that ends by itself, with an exit code. */
async function ownExit(world: World): Promise<void> {
  const probe = await world.probe();
  const pod = await world.runPod('exits');
  const container = await world.create(pod, 'main', { command: ['sh', '-c', 'exit 3'] });
  await world.start(container);
  await probe.until('StopContainer');
  await world.stop(container);
  await world.remove(container);
  await world.removePod(pod);
}

/** A pod that is removed while its containers run, are created, and have exited. */
async function removedAtOnce(world: World): Promise<void> {
  const probe = await world.probe();
  const pod = await world.runPod('at-once');
  const exits = await world.create(pod, 'exits', { command: ['true'] });
  await world.start(exits);
  await probe.until('StopContainer');
  await world.create(pod, 'created');
  await world.removePod(pod);
}

/** A running container that is removed without a stop, and a pod that is removed without one. */
async function removedRunning(world: World): Promise<void> {
  await world.probe();
  const pod = await world.runPod('running');
  const container = await world.create(pod, 'main');
  await world.start(container);
  await world.remove(container);
  await world.removePod(pod);
}

/** A container whose command does not exist. */
async function failedStart(world: World): Promise<void> {
  await world.probe();
  const pod = await world.runPod('no-command');
  const container = await world.create(pod, 'main', { command: ['/no/such/command'] });
  await world.start(container);
  await world.remove(container);
  await world.removePod(pod);
}

/** Returns a scenario in which the plugin's handler of one event fails. */
const failing =
  (event: keyof PluginHandlers): Scenario =>
  async (world) => {
    await world.probe({ answers: { [event]: fails } });
    const pod = await world.runPod('fails');
    if (pod === '') return;
    const container = await world.create(pod, 'main');
    if (container !== '') {
      await world.start(container);
      await world.call('UpdateContainerResources', () =>
        world.side.cri.runtime.updateContainerResources({ containerId: container, linux: RESOURCES as never }),
      );
      await world.call('UpdatePodSandboxResources', () =>
        world.side.cri.runtime.updatePodSandboxResources({ podSandboxId: pod }),
      );
      await world.stop(container);
      await world.remove(container);
    }
    await world.stopPod(pod);
    await world.removePod(pod);
  };

/** Pods with the host's network, with one PID namespace for all containers, and with a target container. */
async function namespaces(world: World): Promise<void> {
  await world.probe();
  const host = await world.runPod('host', {
    linux: { securityContext: { namespaceOptions: { network: 2, ipc: 2, pid: 2 } } },
    hostname: '',
  });
  const inHost = { linux: { securityContext: { namespaceOptions: { network: 2, ipc: 2, pid: 2 } } } };
  await world.create(host, 'in-host', inHost);
  const shared = await world.runPod('shared', { linux: { securityContext: { namespaceOptions: { pid: 0 } } } });
  await world.create(shared, 'in-shared', { linux: { securityContext: { namespaceOptions: { pid: 0 } } } });
  const privileged = await world.runPod('privileged', { linux: { securityContext: { privileged: true } } });
  await world.create(privileged, 'is-privileged', { linux: { securityContext: { privileged: true } } });
}

/** A plugin that connects when pods and containers exist in all states. */
async function lateConnection(world: World): Promise<void> {
  const pod = await world.runPod('late');
  await world.create(pod, 'created');
  const running = await world.create(pod, 'running');
  await world.start(running);
  const exited = await world.create(pod, 'exited', { command: ['true'] });
  await world.start(exited);
  for (;;) {
    const { status } = await world.side.cri.runtime.containerStatus({ containerId: exited });
    if (status?.state === 2) break;
  }
  const stopped = await world.runPod('stopped');
  await world.stopPod(stopped);
  await world.probe();
  await world.stop(running);
  await world.remove(exited);
  await world.removePod(stopped);
  await world.removePod(pod);
}

/** Three plugins of which each sees the changes of those before it. */
async function severalPlugins(world: World): Promise<void> {
  const adjust = (key: string) => ({
    annotations: { [key]: 'yes' },
    env: [{ key: 'ORDER', value: key }],
    mounts: [{ destination: `/${key}`, type: 'tmpfs', source: 'tmpfs', options: ['ro'] }],
  });
  await world.probe({
    index: '60',
    answers: {
      createContainer: () => ({ adjust: { ...adjust('sixty'), env: [{ key: '-ORDER', value: '' }] } }),
    },
  });
  await world.probe({ index: '40', answers: { createContainer: () => ({ adjust: adjust('forty') }) } });
  const pod = await world.runPod('several');
  await world.create(pod, 'main');
  await world.removePod(pod);
}

/** Two plugins that set the same field. */
async function conflict(world: World): Promise<void> {
  const answers = { createContainer: () => ({ adjust: { annotations: { same: 'x' } } }) };
  await world.probe({ index: '40', answers });
  await world.probe({ index: '60', answers });
  const pod = await world.runPod('conflict');
  await world.create(pod, 'main');
  await world.removePod(pod);
}

/** A plugin that changes updates, updates another container, evicts one, and updates one unasked. */
async function updates(world: World): Promise<void> {
  const pod = await world.runPod('updates');
  const other = await world.create(pod, 'other');
  const victim = await world.create(pod, 'victim');
  await world.start(other);
  await world.start(victim);
  const limit = (containerId: string, megabytes: number) => ({
    containerId,
    linux: { resources: { memory: { limit: { value: BigInt(megabytes << 20) } } } },
  });
  const probe = await world.probe({
    answers: {
      createContainer: () => ({ update: [limit(other, 90)], evict: [{ containerId: victim, reason: 'test' }] }),
      updateContainer: ({ container }) => ({ update: [limit(container!.id, 91)] }),
    },
  });
  const limitOf = async (name: string, containerId: string) => {
    const { status } = await world.side.cri.runtime.containerStatus({ containerId });
    const { memoryLimitInBytes = 0n, cpuShares = 0n } = status?.resources?.linux ?? {};
    world.note(`limit of ${name}`, { memory: String(memoryLimitInBytes), shares: String(cpuShares) });
  };
  const main = await world.create(pod, 'main');
  await limitOf('other', other);
  const { status } = await world.side.cri.runtime.containerStatus({ containerId: victim });
  world.note('state of the victim', ContainerState[status?.state ?? 0] ?? '');
  await world.start(main);
  await world.call('UpdateContainerResources', () =>
    world.side.cri.runtime.updateContainerResources({ containerId: main, linux: RESOURCES as never }),
  );
  await limitOf('main', main);
  await world.call('UpdateContainers', () => probe.update([limit(other, 92)]));
  await limitOf('other, again', other);
  await world.removePod(pod);
}

/** What each adjustment changes in the OCI specification. */
async function effects(world: World): Promise<void> {
  let adjust: object | undefined;
  await world.probe({ answers: { createContainer: () => (adjust === undefined ? undefined : { adjust }) } });
  const pod = await world.runPod('effects');
  const resources = { ...RESOURCES, cpusetCpus: '0' };
  const fields = { linux: { resources, securityContext: { runAsUser: { value: 0n } } } };
  const plain = await world.create(pod, 'plain', fields);
  for (const [name, one] of Object.entries(ADJUSTMENTS)) {
    adjust = one;
    const adjusted = await world.create(pod, name, fields);
    if (adjusted !== '') await world.noteEffects(name, plain, adjusted);
  }
  adjust = undefined;
  await world.removePod(pod);
}

/** What the programs of PODWRIGHT_NRI_PLUGINS change: containerd's samples read these annotations, or adjust every container. */
async function programs(world: World): Promise<void> {
  await world.probe({ index: '99' });
  const pod = await world.runPod('programs', {
    annotations: {
      'devices.noderesource.dev/container.device': '[{path: /dev/nri-null, type: c, major: 1, minor: 3}]',
      'mounts.noderesource.dev/container.mount':
        '[{source: /home, destination: /host-home, type: bind, options: [bind, ro]}]',
      'ulimits.nri.containerd.io/container.ulimit': '[{type: nofile, hard: 4096, soft: 1024}]',
    },
  });
  const plain = await world.create(pod, 'plain');
  world.note(
    'hooks of every container',
    (await world.specOf(plain)).filter((line) => line.startsWith('hooks')),
  );
  for (const name of ['device', 'mount', 'ulimit']) await world.noteEffects(name, plain, await world.create(pod, name));
  await world.start(plain);
  await world.stop(plain);
  await world.removePod(pod);
}

const EVENTS_THAT_MAY_FAIL = [
  ...(['runPodSandbox', 'stopPodSandbox', 'removePodSandbox', 'updatePodSandbox', 'postUpdatePodSandbox'] as const),
  ...(['createContainer', 'postCreateContainer', 'startContainer', 'postStartContainer'] as const),
  ...(['updateContainer', 'postUpdateContainer', 'stopContainer', 'removeContainer'] as const),
  'validateContainerAdjustment' as const,
];

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  life,
  ownExit,
  removedAtOnce,
  removedRunning,
  failedStart,
  namespaces,
  lateConnection,
  severalPlugins,
  conflict,
  updates,
  effects,
  programs,
  ...Object.fromEntries(EVENTS_THAT_MAY_FAIL.map((event) => [`failing-${event}`, failing(event)])),
};
