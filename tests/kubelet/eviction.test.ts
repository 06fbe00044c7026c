/** Eviction on a standalone node with a small in-memory disk or few PIDs, on Podwright's runtime. Requires root. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { DEFAULT_EVICTION, type EvictionOptions } from '@podwright/kubelet-configuration';
import { type RealKubelet, startRealKubelet } from './real-kubelet.fixture.ts';
import { type SuiteRuntime, startOurRuntime } from './suite-runtime.fixture.ts';

/** Short intervals for tests. */
const HASTY = { ...DEFAULT_EVICTION, hard: {}, periodMs: 100, transitionMs: 500 };

let runtime: SuiteRuntime;
before(async () => {
  runtime = await startOurRuntime('ev');
});
after(async () => {
  await (runtime as SuiteRuntime | undefined)?.stop();
});

/** Starts a kubelet whose root directory is on a 64 MiB disk that does not hold images. */
async function start(context: TestContext, eviction: Partial<EvictionOptions>): Promise<RealKubelet> {
  const rootDir = join(runtime.scratch, 'disk');
  mkdirSync(rootDir);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', rootDir]);
  const kubelet = await startRealKubelet(runtime, { rootDir, eviction: { ...HASTY, ...eviction } });
  context.after(async () => {
    await kubelet.close();
    execFileSync('umount', [rootDir]);
    execFileSync('rmdir', [rootDir]);
  });
  return kubelet;
}

function podText(name: string, { script = 'exec sleep 1000', more = '', resources = '{}' } = {}): string {
  return `
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 0
  volumes: [{name: data, emptyDir: {}}]
  ${more}
  containers:
  - name: main
    image: ${runtime.image}
    command: [sh, -c, '${script}']
    volumeMounts: [{name: data, mountPath: /data}]
    resources: ${resources}
`;
}

const isRunning = ({ status }: Pod) => status?.phase === 'Running';
const isFailed = ({ status }: Pod) => status?.phase === 'Failed';
const conditionOf = (kubelet: RealKubelet, type: string) =>
  kubelet.handle.node().status.conditions.find((one) => one.type === type)?.status;
const eventsOf = (kubelet: RealKubelet, name: string) =>
  kubelet.handle.events().filter(({ involvedObject }) => involvedObject.name === name);

test('the pod that fills the disk is evicted, and new pods are refused under pressure; a pod that exceeds its own limit is always evicted', async (t) => {
  const kubelet = await start(t, { hard: { 'nodefs.available': '50%' } });
  const resources = '{limits: {ephemeral-storage: 2Mi}}';
  const script = 'head -c 5000000 /dev/zero >/f; exec sleep 1000';
  await kubelet.apply('big.yaml', podText('big', { resources, script })); // measured every ten seconds
  await kubelet.apply('quiet.yaml', podText('quiet', { resources }));
  await kubelet.pod('quiet', isRunning);
  await kubelet.apply(
    'greedy.yaml',
    podText('greedy', { script: 'sleep 1; head -c 40000000 /dev/zero >/data/f; exec sleep 1000' }),
  );
  const { status } = await kubelet.pod('greedy', isFailed);
  assert.equal(status?.reason, 'Evicted');
  assert.match(
    status?.message ?? '',
    /^The node was low on resource: ephemeral-storage\. Threshold quantity: 32Mi, available: \d+Ki\. /,
  );
  const disruption = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  assert.deepEqual([disruption?.status, disruption?.reason], ['True', 'TerminationByKubelet']);
  const evicted = eventsOf(kubelet, 'greedy').find(({ reason }) => reason === 'Evicted');
  assert.equal(evicted?.metadata.annotations?.starved_resource, 'ephemeral-storage');
  assert.equal(conditionOf(kubelet, 'DiskPressure'), 'True');
  await kubelet.apply('late.yaml', podText('late'));
  const late = await kubelet.pod('late', isFailed);
  assert.equal(late.status?.message, 'Pod was rejected: The node had condition: [DiskPressure]. ');
  await kubelet.until('the disk pressure is over', () => conditionOf(kubelet, 'DiskPressure') === 'False');
  await kubelet.apply('next.yaml', podText('next'));
  await kubelet.pod('next', isRunning);
  await kubelet.pod('quiet', isRunning);
  const reasons = eventsOf(kubelet, 'node').map(({ reason }) => reason);
  for (const reason of ['NodeHasDiskPressure', 'EvictionThresholdMet', 'NodeHasNoDiskPressure'])
    assert.ok(reasons.includes(reason), `${reason} among ${reasons}`);
  const big = await kubelet.pod('big', isFailed);
  assert.equal(big.status?.message, 'Pod ephemeral local storage usage exceeds the total limit of containers 2Mi. ');
  await kubelet.pod('quiet', isRunning);
});

test('a fast-writing pod is evicted before the next period and before the disk is full', async (t) => {
  const kubelet = await start(t, { hard: { 'nodefs.available': '50%' }, periodMs: 600_000 });
  const script = 'while :; do head -c 500000 /dev/zero >>/data/f; sleep 0.1; done';
  await kubelet.apply('writer.yaml', podText('writer', { script }));
  const { status } = await kubelet.pod('writer', isFailed);
  assert.equal(status?.reason, 'Evicted');
  const availableKi = Number(/available: (\d+)Ki/.exec(status?.message ?? '')?.[1]);
  assert.ok(availableKi > 16 << 10, `half of the 32 MiB below the threshold is left: ${status?.message}`);
});

test('under permanent PID pressure all pods except critical ones are evicted one after another, by priority', async (t) => {
  const kubelet = await start(t, {});
  const vital = podText('vital', { more: 'priorityClassName: system-node-critical' });
  await kubelet.apply('pods.yaml', [vital, podText('low'), podText('high', { more: 'priority: 5' })].join('---'));
  await Promise.all(['vital', 'low', 'high'].map((name) => kubelet.pod(name, isRunning)));
  kubelet.options.eviction = { ...HASTY, hard: { 'pid.available': '1G' } };
  await kubelet.restart();
  await Promise.all(['low', 'high'].map((name) => kubelet.pod(name, isFailed)));
  await kubelet.pod('vital', isRunning);
  const order = kubelet.handle
    .events()
    .flatMap(({ reason, involvedObject }) => (reason === 'Evicted' ? [involvedObject.name] : []));
  assert.deepEqual(order, ['low', 'high']);
});
