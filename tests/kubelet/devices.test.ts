/** Pods that use a device plugin's devices, on Podwright's runtime. Requires root. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connectService } from '@podwright/grpc';
import type { Pod } from '@podwright/kube-api';
import { PodResourcesLister } from '@podwright/placement/pod-resources-api';
import { FakePlugin } from '../../packages/placement/src/devices/fake-plugin.fixture.ts';
import { type RealKubelet, startRealKubelet } from './real-kubelet.fixture.ts';
import { docker, onDocker, type SuiteRuntime, startOurRuntime } from './suite-runtime.fixture.ts';

const WIDGET = 'example.com/widget';
const GADGET = 'example.com/gadget';
/** CDI spec for the second plugin's devices. */
const GADGETS = {
  ...{ cdiVersion: '0.6.0', kind: GADGET },
  devices: ['g1', 'g2'].map((name) => ({ name, containerEdits: { env: [`CDI_GADGET=${name}`] } })),
};
let runtime: SuiteRuntime;
let kubelet: RealKubelet;
let plugin: FakePlugin;
let note: string;
before(async () => {
  runtime = await startOurRuntime('dv', (scratch) => {
    const cdi = join(scratch, 'cdi');
    mkdirSync(cdi);
    writeFileSync(join(cdi, 'gadget.json'), JSON.stringify(GADGETS));
    return { cdiDirectories: [cdi] };
  });
  kubelet = await startRealKubelet(runtime);
  note = join(runtime.scratch, 'note');
  writeFileSync(note, 'from the plugin\n');
  plugin = new FakePlugin(join(kubelet.options.rootDir, 'device-plugins'), WIDGET, {
    devices: ['w1', 'w2'],
    preStartRequired: true,
    answer: (ids) => ({
      envs: { WIDGETS: ids.join(',') },
      mounts: [{ containerPath: '/note', hostPath: note, readOnly: true }],
      devices: [{ containerPath: '/dev/widget', hostPath: '/dev/zero', permissions: 'r' }],
    }),
  });
});
after(async () => {
  await (plugin as FakePlugin | undefined)?.stop();
  await (kubelet as RealKubelet | undefined)?.close(); // if it was started
  await (runtime as SuiteRuntime | undefined)?.stop();
});

const write = (name: string, count: number, command: string, resource = WIDGET) =>
  kubelet.apply(
    `${name}.yaml`,
    `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: '${runtime.image}'
    imagePullPolicy: Never
    command: [sh, -c, '${command}; sleep 3600']
    resources: {limits: {${resource}: ${count}}}
`,
  );

const condition = (pod: Pod, type: string) => pod.status?.conditions?.find((one) => one.type === type);
const isReady = (pod: Pod) => condition(pod, 'Ready')?.status === 'True';
const allocatable = () => kubelet.handle.node().status.allocatable[WIDGET];

/** Returns a pod's devices according to the pod resources API. */
async function resourcesOf(podName: string) {
  const socket = join(kubelet.options.rootDir, 'pod-resources/kubelet.sock');
  const client = connectService(PodResourcesLister, socket, { maxReceiveBytes: 1 << 20 });
  try {
    return (await client.get({ podName, podNamespace: 'default' })).podResources!;
  } finally {
    client.close();
  }
}

async function logOf(pod: Pod, lines: number): Promise<string[]> {
  let log: string[] = [];
  await kubelet.until(`${lines} lines of ${pod.metadata.name}`, async () => {
    log = await kubelet.log(pod);
    return log.length >= lines;
  });
  return log;
}

test('a pod waits for the plugin, gets its devices, and releases them to the next pod', async () => {
  await write('first', 2, 'echo $WIDGETS; cat /note; head -c 3 /dev/widget | wc -c');
  await kubelet.until('the pod waits', () =>
    kubelet.handle.events().some(({ reason, message }) => reason === 'WaitingForDevices' && message.includes(WIDGET)),
  );
  await plugin.start();
  const first = await kubelet.pod('first', isReady);
  const [ids, ...rest] = await logOf(first, 3);
  assert.deepEqual(
    [ids!.split(',').toSorted(), rest],
    [
      ['w1', 'w2'],
      ['from the plugin', '3'],
    ],
  );
  assert.equal(allocatable(), '2');
  assert.deepEqual(
    plugin.calls.map(({ method }) => method),
    ['allocate', 'preStart'],
  );
  const { containers } = await resourcesOf('first');
  assert.deepEqual(containers[0]?.devices.flatMap(({ deviceIds }) => deviceIds).toSorted(), ['w1', 'w2']);
  plugin.change(['w1', { id: 'w2', isHealthy: false }]);
  const health = (pod: Pod) => pod.status?.containerStatuses?.[0]?.allocatedResourcesStatus?.[0]?.resources;
  const unwell = await kubelet.pod('first', (pod) => health(pod)?.some((one) => one.health === 'Unhealthy') === true);
  assert.deepEqual(health(unwell)?.find((one) => one.health === 'Unhealthy')?.resourceID, 'w2');
  plugin.change(['w1', 'w2']);
  await write('second', 1, 'echo $WIDGETS');
  const { status } = await kubelet.pod('second', (pod) => pod.status?.phase === 'Failed');
  assert.equal(status?.reason, `OutOf${WIDGET}`);
  await kubelet.remove('first.yaml');
  await kubelet.until('the first pod is removed', () =>
    kubelet.handle.pods().every((one) => one.metadata.name !== 'first'),
  );
  await write('third', 1, 'echo $WIDGETS');
  const third = await kubelet.pod('third', isReady);
  assert.match((await logOf(third, 1))[0]!, /^w[12]$/);
});

test('a restarted kubelet restores device allocations, and the pod keeps running', async () => {
  const before = await kubelet.pod('third', isReady);
  await kubelet.restart();
  const after = await kubelet.pod('third', isReady);
  assert.equal(after.status!.containerStatuses![0]!.containerID, before.status!.containerStatuses![0]!.containerID);
  assert.equal(allocatable(), '0');
  await plugin.stop();
  await plugin.start();
  await kubelet.until('the devices are registered again', () => allocatable() === '2');
  await write('fourth', 2, 'echo $WIDGETS');
  const { status } = await kubelet.pod('fourth', (pod) => pod.status?.phase === 'Failed');
  assert.equal(status?.reason, `OutOf${WIDGET}`);
});

test('a plugin discovered by its socket prefers a device, which is added through CDI', async () => {
  const found = new FakePlugin(join(kubelet.options.rootDir, 'plugins'), GADGET, {
    devices: [],
    prefer: () => ['g2'],
    answer: (ids) => ({ cdiDevices: ids.map((id) => ({ name: `${GADGET}=${id}` })) }),
  });
  mkdirSync(join(kubelet.options.rootDir, 'plugins'), { recursive: true });
  await found.announce(join(kubelet.options.rootDir, 'plugins_registry'));
  try {
    await write('gadget', 1, 'echo $CDI_GADGET', GADGET);
    await kubelet.until('the pod waits for the first devices', () =>
      kubelet.handle.events().some(({ reason, message }) => reason === 'WaitingForDevices' && message.includes(GADGET)),
    );
    found.change(['g1', 'g2']);
    if (onDocker)
      await kubelet.until('the pod is refused', () =>
        kubelet.handle.events().some(({ message }) => docker.noCdi.test(message)),
      );
    else assert.deepEqual(await logOf(await kubelet.pod('gadget', isReady), 1), ['g2']);
    assert.deepEqual(
      found.calls.map(({ method }) => method),
      ['prefer', 'allocate'],
    );
  } finally {
    await found.stop();
  }
});
