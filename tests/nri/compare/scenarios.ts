import { existsSync } from 'node:fs';
import { waitFor } from '@podwright/base';
import { ContainerState } from '@podwright/cri';
import { runChecked } from '@podwright/host';
import type { PluginHandlers } from '@podwright/nri';
import { ADJUSTMENTS } from './adjustments.ts';
import type { ScenarioRun } from './scenario-run.ts';

type Scenario = (run: ScenarioRun) => Promise<void>;

const RESOURCES = { cpuPeriod: 100_000n, cpuQuota: 50_000n, cpuShares: 512n, memoryLimitInBytes: 64n << 20n };
const fails = () => Promise.reject(new Error('the probe fails'));

/** A scenario with a pod and a container that use most CRI fields, from creation to removal. Each stop and removal is repeated. */
async function life(run: ScenarioRun): Promise<void> {
  await run.probe();
  const pod = await run.runPod('life', {
    labels: { app: 'web', 'io.kubernetes.pod.name': 'life' },
    annotations: { team: 'a' },
    linux: { overhead: RESOURCES, resources: { ...RESOURCES, cpuShares: 1024n } },
  });
  const container = await run.create(pod, 'main', {
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
  await run.start(container);
  const linux = { ...RESOURCES, memoryLimitInBytes: 80n << 20n };
  await run.call('UpdateContainerResources', () =>
    run.side.cri.runtime.updateContainerResources({ containerId: container, linux: linux as never }),
  );
  await run.call('UpdatePodSandboxResources', () =>
    run.side.cri.runtime.updatePodSandboxResources({
      podSandboxId: pod,
      overhead: RESOURCES as never,
      resources: linux as never,
    }),
  );
  await run.stop(container);
  await run.stop(container);
  await run.remove(container);
  await run.remove(container);
  await run.stopPod(pod);
  await run.stopPod(pod);
  await run.removePod(pod);
  await run.removePod(pod);
}

/** A container that exits on its own with an exit code. */
async function ownExit(run: ScenarioRun): Promise<void> {
  const probe = await run.probe();
  const pod = await run.runPod('exits');
  const container = await run.create(pod, 'main', { command: ['sh', '-c', 'exit 3'] });
  await run.start(container);
  await probe.until('StopContainer');
  await run.stop(container);
  await run.remove(container);
  await run.removePod(pod);
}

/** A pod that is removed along with an exited container and one that was never started. */
async function removedAtOnce(run: ScenarioRun): Promise<void> {
  const probe = await run.probe();
  const pod = await run.runPod('at-once');
  const exits = await run.create(pod, 'exits', { command: ['true'] });
  await run.start(exits);
  await probe.until('StopContainer');
  await run.create(pod, 'created');
  await run.removePod(pod);
}

/** A running container and its pod that are removed without being stopped first. */
async function removedRunning(run: ScenarioRun): Promise<void> {
  await run.probe();
  const pod = await run.runPod('running');
  const container = await run.create(pod, 'main');
  await run.start(container);
  await run.remove(container);
  await run.removePod(pod);
}

/** A container whose command does not exist. */
async function failedStart(run: ScenarioRun): Promise<void> {
  await run.probe();
  const pod = await run.runPod('no-command');
  const container = await run.create(pod, 'main', { command: ['/no/such/command'] });
  await run.start(container);
  await run.remove(container);
  await run.removePod(pod);
}

/** Returns a scenario in which the plugin's handler for one event fails. */
const failing =
  (event: keyof PluginHandlers): Scenario =>
  async (run) => {
    await run.probe({ answers: { [event]: fails } });
    const pod = await run.runPod('fails');
    if (pod === '') return;
    const container = await run.create(pod, 'main');
    if (container !== '') {
      await run.start(container);
      await run.call('UpdateContainerResources', () =>
        run.side.cri.runtime.updateContainerResources({ containerId: container, linux: RESOURCES as never }),
      );
      await run.call('UpdatePodSandboxResources', () =>
        run.side.cri.runtime.updatePodSandboxResources({ podSandboxId: pod }),
      );
      await run.stop(container);
      await run.remove(container);
    }
    await run.stopPod(pod);
    await run.removePod(pod);
  };

/** Pods with host namespaces, with a PID namespace shared by all containers, and with privileged containers. */
async function namespaces(run: ScenarioRun): Promise<void> {
  await run.probe();
  const host = await run.runPod('host', {
    linux: { securityContext: { namespaceOptions: { network: 2, ipc: 2, pid: 2 } } },
    hostname: '',
  });
  const inHost = { linux: { securityContext: { namespaceOptions: { network: 2, ipc: 2, pid: 2 } } } };
  await run.create(host, 'in-host', inHost);
  const shared = await run.runPod('shared', { linux: { securityContext: { namespaceOptions: { pid: 0 } } } });
  await run.create(shared, 'in-shared', { linux: { securityContext: { namespaceOptions: { pid: 0 } } } });
  const privileged = await run.runPod('privileged', { linux: { securityContext: { privileged: true } } });
  await run.create(privileged, 'is-privileged', { linux: { securityContext: { privileged: true } } });
}

/** A scenario with a plugin that connects when there already are containers and pods in each state. */
async function lateConnection(run: ScenarioRun): Promise<void> {
  const pod = await run.runPod('late');
  await run.create(pod, 'created');
  const running = await run.create(pod, 'running');
  await run.start(running);
  const exited = await run.create(pod, 'exited', { command: ['true'] });
  await run.start(exited);
  const hasExited = async () => {
    const { status } = await run.side.cri.runtime.containerStatus({ containerId: exited });
    return status?.state === ContainerState.CONTAINER_EXITED || undefined;
  };
  await waitFor(hasExited, { intervalMs: 10, signal: AbortSignal.timeout(20_000) });
  const stopped = await run.runPod('stopped');
  await run.stopPod(stopped);
  await run.probe();
  await run.stop(running);
  await run.remove(exited);
  await run.removePod(stopped);
  await run.removePod(pod);
}

/** A scenario with two plugins: the second receives the container with the changes made by the first. */
async function severalPlugins(run: ScenarioRun): Promise<void> {
  const adjust = (key: string) => ({
    annotations: { [key]: 'yes' },
    env: [{ key: 'ORDER', value: key }],
    mounts: [{ destination: `/${key}`, type: 'tmpfs', source: 'tmpfs', options: ['ro'] }],
  });
  await run.probe({
    index: '60',
    answers: {
      createContainer: () => ({ adjust: { ...adjust('sixty'), env: [{ key: '-ORDER', value: '' }] } }),
    },
  });
  await run.probe({ index: '40', answers: { createContainer: () => ({ adjust: adjust('forty') }) } });
  const pod = await run.runPod('several');
  await run.create(pod, 'main');
  await run.removePod(pod);
}

/** A scenario with two plugins that set the same field, which is a conflict. */
async function conflict(run: ScenarioRun): Promise<void> {
  const answers = { createContainer: () => ({ adjust: { annotations: { same: 'x' } } }) };
  await run.probe({ index: '40', answers });
  await run.probe({ index: '60', answers });
  const pod = await run.runPod('conflict');
  await run.create(pod, 'main');
  await run.removePod(pod);
}

/**
 * A plugin that changes an update, updates and evicts other containers in response to a creation, and updates a container on its own
 * initiative.
 */
async function updates(run: ScenarioRun): Promise<void> {
  const pod = await run.runPod('updates');
  const other = await run.create(pod, 'other');
  const victim = await run.create(pod, 'victim');
  await run.start(other);
  await run.start(victim);
  const limit = (containerId: string, megabytes: number) => ({
    containerId,
    linux: { resources: { memory: { limit: { value: BigInt(megabytes << 20) } } } },
  });
  const probe = await run.probe({
    answers: {
      createContainer: () => ({ update: [limit(other, 90)], evict: [{ containerId: victim, reason: 'test' }] }),
      updateContainer: ({ container }) => ({ update: [limit(container!.id, 91)] }),
    },
  });
  const limitOf = async (name: string, containerId: string) => {
    const { status } = await run.side.cri.runtime.containerStatus({ containerId });
    const { memoryLimitInBytes = 0n, cpuShares = 0n } = status?.resources?.linux ?? {};
    run.note(`limit of ${name}`, { memory: String(memoryLimitInBytes), shares: String(cpuShares) });
  };
  const main = await run.create(pod, 'main');
  await limitOf('other', other);
  const { status } = await run.side.cri.runtime.containerStatus({ containerId: victim });
  run.note('state of the victim', ContainerState[status?.state ?? 0] ?? '');
  await run.start(main);
  await run.call('UpdateContainerResources', () =>
    run.side.cri.runtime.updateContainerResources({ containerId: main, linux: RESOURCES as never }),
  );
  await limitOf('main', main);
  await run.call('UpdateContainers', () => probe.update([limit(other, 92)]));
  await limitOf('other, again', other);
  await run.removePod(pod);
}

/** Records what each adjustment changes in the OCI spec. */
async function effects(run: ScenarioRun): Promise<void> {
  let adjust: object | undefined;
  await run.probe({ answers: { createContainer: () => (adjust === undefined ? undefined : { adjust }) } });
  const pod = await run.runPod('effects');
  const resources = { ...RESOURCES, cpusetCpus: '0' };
  const fields = { linux: { resources, securityContext: { runAsUser: { value: 0n } } } };
  const plain = await run.create(pod, 'plain', fields);
  for (const [name, one] of Object.entries(ADJUSTMENTS)) {
    adjust = one;
    const adjusted = await run.create(pod, name, fields);
    if (adjusted !== '') await run.noteEffects(name, plain, adjusted);
  }
  adjust = undefined;
  await run.removePod(pod);
}

/**
 * Records what the plugins in PODWRIGHT_NRI_PLUGINS change. Those from containerd's NRI repository act on these annotations or adjust every
 * container.
 */
async function programs(run: ScenarioRun): Promise<void> {
  await run.probe({ index: '99' });
  const pod = await run.runPod('programs', {
    annotations: {
      'devices.noderesource.dev/container.device': '[{path: /dev/nri-null, type: c, major: 1, minor: 3}]',
      'mounts.noderesource.dev/container.mount':
        '[{source: /home, destination: /host-home, type: bind, options: [bind, ro]}]',
      'ulimits.nri.containerd.io/container.ulimit': '[{type: nofile, hard: 4096, soft: 1024}]',
    },
  });
  const plain = await run.create(pod, 'plain');
  run.note(
    'hooks of every container',
    (await run.specOf(plain)).filter((line) => line.startsWith('hooks')),
  );
  for (const name of ['device', 'mount', 'ulimit']) await run.noteEffects(name, plain, await run.create(pod, name));
  await run.start(plain);
  await run.stop(plain);
  await run.removePod(pod);
}

/**
 * Moves a network device of the host into a pod, using the annotation read by `network-device-injector` from containerd's repository. Notes
 * where the device is while the pod runs and after it stops. Without that plugin, it stays on the host.
 */
async function networkDevice(run: ScenarioRun): Promise<void> {
  const name = `pwn${process.pid}d`;
  const isOnHost = () => existsSync(`/sys/class/net/${name}`);
  await runChecked('ip', ['link', 'add', name, 'type', 'veth', 'peer', 'name', `${name}p`]);
  try {
    await run.probe({ index: '99' });
    const annotations = { 'netdevice.noderesource.dev/pod': JSON.stringify([{ name, new_name: 'moved' }]) };
    const pod = await run.runPod('device', { annotations });
    const container = await run.create(pod, 'main');
    await run.start(container);
    const cmd = ['sh', '-c', 'cd /sys/class/net; for one in *; do echo $one $(cat $one/operstate); done'];
    const { stdout } = await run.side.cri.runtime.execSync({ containerId: container, cmd, timeout: 60n });
    run.note('devices of the pod', Buffer.from(stdout).toString().split('\n'));
    run.note('the device is on the host while the pod runs', isOnHost());
    await run.stopPod(pod);
    run.note('the device is on the host after the stop', isOnHost());
    await run.removePod(pod);
  } finally {
    if (isOnHost()) await runChecked('ip', ['link', 'del', name]);
  }
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
  networkDevice,
  ...Object.fromEntries(EVENTS_THAT_MAY_FAIL.map((event) => [`failing-${event}`, failing(event)])),
};
