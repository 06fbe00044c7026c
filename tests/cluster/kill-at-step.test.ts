/**
 * Kills a kubelet, in a separate process, just before individual steps of a pod's life, from its creation to the removal of its last trace,
 * and before individual steps of adopting a running pod. The kubelet started after that must complete the work. The pod has a CSI volume
 * and a CSI block device, a token and a ConfigMap. Steps are picked at random: TEST_SEED repeats an earlier run. TEST_KILLS is the number
 * of kills per test (2), a range of steps such as `80-99`, or `all`. Requires root.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLogger, waitFor, withTimeout } from '@podwright/base';
import { ContainerState, type CriClient, connectCri, PodSandboxState } from '@podwright/cri';
import { listAt, valueAt } from '@podwright/kube-kinds';
import { startKubelet } from '@podwright/kubelet';
import { seededRandom } from '../../packages/base/src/fuzz.fixture.ts';
import { CsiDriverUnderTest, loopsBelow, mountsBelow } from '../kubelet/csi-driver.fixture.ts';
import { killKubelet, startKubeletChild } from '../kubelet/kubelet-child.fixture.ts';
import { type RealKubelet, startRealKubelet } from '../kubelet/real-kubelet.fixture.ts';
import { type SuiteRuntime, startOurRuntime } from '../kubelet/suite-runtime.fixture.ts';
import { type ApiObject, type Cluster, startOwnCluster } from './cluster.fixture.ts';
import { CsiClaims } from './csi-claims.fixture.ts';
import type { KillMessage } from './step-killer.ts';

const NODE = 'killed-node';
const DRIVER = 'disk.test';
const KILLER = new URL('./step-killer.ts', import.meta.url);
const CLAIMS = ['files', 'raw'];
const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 1e6));
const kills = process.env.TEST_KILLS ?? '2';
/** A step number at which the kubelet is never killed: more steps than any pod's life has. */
const NEVER = Number.MAX_SAFE_INTEGER;
/** Generous timeout, to allow for a busy host. */
const PATIENCE_MS = 30_000;

let runtime: SuiteRuntime;
let cri: CriClient;
let cluster: Cluster;
let kubelet: RealKubelet;
let driver: CsiDriverUnderTest;
let claims: CsiClaims;
let child: ChildProcess;
before(async () => {
  // a real control plane cannot be used here, because it detaches volumes at other times
  ({ cluster } = await startOwnCluster());
  claims = new CsiClaims(cluster, { driver: DRIVER, node: NODE });
  runtime = await startOurRuntime('ks');
  cri = await connectCri({ runtimeEndpoint: runtime.endpoint, logger: silentLogger });
  writeFileSync(kubeconfig(), cluster.kubeconfig(cluster.nodeCredential(NODE)));
  await claims.register();
  await claims.bound('files');
  await claims.bound('raw', { volumeMode: 'Block' });
  await cluster.apply({ ...named('ConfigMap', 'settings'), data: { key: 'value' } });
  kubelet = await startRealKubelet(runtime, { nodeName: NODE, orphanPeriodMs: 500 });
  await kubelet.handle.close();
  const { rootDir } = kubelet.options;
  driver = new CsiDriverUnderTest({ name: DRIVER, rootDir, data: join(rootDir, '..', 'data') });
  await driver.start();
  child = await startKubeletChild(kubelet.options, kubeconfig(), KILLER);
});
after(async () => {
  if ((child as ChildProcess | undefined) !== undefined && !isKilled()) await killKubelet(child);
  await (driver as CsiDriverUnderTest | undefined)?.kill();
  if ((kubelet as RealKubelet | undefined) !== undefined) kubelet.handle = await startKubelet(kubelet.options);
  await (kubelet as RealKubelet | undefined)?.close();
  (cri as CriClient | undefined)?.close();
  await (cluster as Cluster | undefined)?.[Symbol.asyncDispose]();
  await (runtime as SuiteRuntime | undefined)?.stop();
});

const kubeconfig = () => join(runtime.scratch, 'kubeconfig');
const named = (kind: string, name: string) => ({ apiVersion: 'v1', kind, metadata: { name, namespace: 'default' } });
const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } };
const isReady = (pod: ApiObject) =>
  listAt(pod, 'status', 'conditions').some(
    (one) => valueAt(one, 'type') === 'Ready' && valueAt(one, 'status') === 'True',
  );

const podNamed = (name: string): ApiObject => ({
  ...named('Pod', name),
  spec: {
    ...{ nodeName: NODE, terminationGracePeriodSeconds: 5, automountServiceAccountToken: false },
    volumes: [
      ...CLAIMS.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
      {
        name: 'needs',
        projected: { sources: [{ serviceAccountToken: { path: 'token' } }, { configMap: { name: 'settings' } }] },
      },
    ],
    containers: [
      {
        ...{ name: 'main', image: runtime.image, imagePullPolicy: 'Never' },
        command: ['sh', '-c', `trap 'exit 0' TERM; cat /needs/* > /files/seen; while :; do sleep 0.05; done`],
        volumeMounts: ['files', 'needs'].map((name) => ({ name, mountPath: `/${name}` })),
        volumeDevices: [{ name: 'raw', devicePath: '/dev/raw' }],
      },
    ],
  },
});

async function until<T>(what: string, look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  using signal = withTimeout(undefined, PATIENCE_MS, what);
  return await waitFor(look, { intervalMs: 20, signal });
}

/** Returns traces of pods in the runtime, on the host, in the driver and at the API server. */
async function remains(): Promise<string[]> {
  const { rootDir } = kubelet.options;
  const listed = (directory: string) => readdirSync(join(rootDir, directory), { recursive: true }).map(String);
  const { items } = await cri.runtime.listPodSandbox({});
  const { containers } = await cri.runtime.listContainers({});
  return [
    ...mountsBelow(rootDir),
    ...loopsBelow(driver.data),
    ...loopsBelow(rootDir),
    ...listed('pods'),
    ...listed('plugins/kubernetes.io').filter((path) => !EMPTY.has(path)),
    ...listed('pod-statuses'),
    ...items.map(({ id }) => `sandbox ${id}`),
    ...containers.map(({ id }) => `container ${id}`),
    ...listAt(await cluster.find(node), 'status', 'volumesInUse').map(String),
  ];
}

/** Empty directories that the kubelet leaves behind, like upstream's. */
const EMPTY = new Set(['csi', `csi/${DRIVER}`, 'csi/volumeDevices']);

/** Asserts that the pod exists exactly once in the runtime, on the host and in the driver. */
async function assertOnce(name: string): Promise<void> {
  const { items } = await cri.runtime.listPodSandbox({ filter: { state: { state: PodSandboxState.SANDBOX_READY } } });
  assert.deepEqual(
    items.map(({ metadata }) => metadata!.name),
    [name],
  );
  const running = { filter: { state: { state: ContainerState.CONTAINER_RUNNING } } };
  assert.equal((await cri.runtime.listContainers(running)).containers.length, 1);
  const { rootDir } = kubelet.options;
  const mounts = mountsBelow(rootDir);
  assert.deepEqual(mounts, [...new Set(mounts)], 'nothing is mounted twice');
  assert.equal(mounts.length, 5, `staged and published, the device published and bound, the token: ${mounts}`);
  assert.deepEqual(
    [driver.data, rootDir].map((place) => loopsBelow(place).length),
    [1, 1],
    'the driver’s and the kubelet’s',
  );
}

/** Whether the kubelet process has exited, which it only does if killed. */
const isKilled = () => child.exitCode !== null || child.signalCode !== null;

/** Starts another kubelet if the running one has been killed. */
async function survive(): Promise<void> {
  if (isKilled()) child = await startKubeletChild(kubelet.options, kubeconfig(), KILLER);
}

/** Makes the running kubelet kill itself before the given step, counted from now on; NEVER disarms it. */
function arm(killAt: number): void {
  child.send(killMessage(killAt));
}

function killMessage(killAt: number): KillMessage {
  writeFileSync(record(), '');
  return { killAt, record: record() };
}

const record = () => join(runtime.scratch, 'steps');
/** Returns the steps that the kubelet has recorded since `arm`. If it was killed, it has not executed the last one. */
const recorded = () => readFileSync(record(), 'utf8').split('\n').slice(0, -1);

/** Runs a pod from creation to removal, attaching its volumes on the way, while the kubelet is killed before a step. Returns the steps. */
async function live(killAt: number): Promise<string[]> {
  await survive();
  await liveOnce(killAt);
  const steps = recorded();
  for (const claim of CLAIMS) await claims.detach(claim);
  return steps;
}

async function liveOnce(killAt: number): Promise<void> {
  const name = `life-${killAt}`;
  const pod = podNamed(name);
  arm(killAt);
  await cluster.apply(pod);
  for (const claim of CLAIMS) await claims.attach(claim);
  const has = async (holds: (object: ApiObject | undefined) => boolean) =>
    isKilled() || holds(await cluster.find(pod)) || undefined;
  await until(`start ${name}`, () => has((object) => object !== undefined && isReady(object)));
  if (isKilled()) {
    // with every other `killAt`, the pod is deleted while no kubelet is running
    if (killAt % 2 === 1) return endWithout(pod);
    await survive();
    await cluster.until(pod, isReady);
  }
  await assertOnce(name);
  await cluster.delete(pod);
  await until(`end ${name}`, () => has((object) => object === undefined));
  await survive();
  await cluster.untilGone(pod);
  await untilClean();
  if (!isKilled()) return;
  await survive();
  await untilClean();
}

async function endWithout(pod: ApiObject): Promise<void> {
  await cluster.delete(pod, { gracePeriodSeconds: 0 });
  await survive();
  await untilClean();
}

/** Waits until no trace of any pod is left, or the kubelet is killed. */
async function untilClean(): Promise<void> {
  let left: string[] = [];
  const isClean = async () => {
    left = await remains();
    return isKilled() || left.length === 0 || undefined;
  };
  await until('nothing is left', isClean).catch(() => assert.deepEqual(left, []));
}

/** Returns the selected steps: the requested range, all, or a random one from each of TEST_KILLS equal parts. */
function momentsIn(steps: string[]): number[] {
  const all = [...steps.keys()];
  if (kills === 'all') return all;
  const [first, last] = kills.split('-').map(Number);
  if (last !== undefined) return all.slice(first, last + 1);
  const count = Math.min(first!, steps.length);
  const random = seededRandom(seed);
  const width = steps.length / count;
  return Array.from({ length: count }, (_, part) => Math.floor(part * width + random(Math.max(1, Math.floor(width)))));
}

/** Runs `work` for the selected steps. A run may have fewer steps than the recorded one, but the kubelet must be killed at least once. */
async function each(steps: string[], work: (killAt: number) => Promise<unknown>): Promise<void> {
  let killed = 0;
  for (const killAt of momentsIn(steps)) {
    await work(killAt).catch((error: unknown) => {
      throw new Error(`killed before step ${killAt}, ${steps[killAt]}: ${error}`, { cause: error });
    });
    if (recorded().length > killAt) killed++;
  }
  assert.ok(killed > 0, 'a kubelet has been killed before its step');
}

test(`a kubelet killed before a step of a pod’s life duplicates and leaks nothing (TEST_SEED=${seed})`, async (context) => {
  const steps = await live(NEVER);
  assert.ok(steps.length > 20, 'the steps are recorded');
  context.diagnostic(`${steps.length} steps`);
  await each(steps, live);
});

/** A new kubelet that records no further step for this long has adopted everything. */
const ADOPTED_MS = 1500;

/** Restarts the kubelet, which adopts a running pod and is killed before a step. Returns the steps. */
async function adopt(killAt: number): Promise<string[]> {
  await killKubelet(child);
  process.env.KILL = JSON.stringify(killMessage(killAt));
  try {
    child = await startKubeletChild(kubelet.options, kubeconfig(), KILLER);
    await until('the running pod is adopted', hasAdopted());
    if (!isKilled()) await killKubelet(child);
  } catch (error) {
    if (recorded().length <= killAt) throw error; // otherwise it was killed before it was ready
  } finally {
    delete process.env.KILL;
  }
  child = await startKubeletChild(kubelet.options, kubeconfig(), KILLER);
  return recorded();
}

function hasAdopted(): () => true | undefined {
  let [steps, sinceMs] = [0, performance.now()];
  return () => {
    const { length } = recorded();
    if (length !== steps) [steps, sinceMs] = [length, performance.now()];
    return isKilled() || (steps > 0 && performance.now() - sinceMs > ADOPTED_MS) || undefined;
  };
}

test(`a kubelet killed while it adopts a pod does not change the pod (TEST_SEED=${seed})`, async (context) => {
  await survive();
  arm(NEVER);
  const pod = podNamed('stays');
  await cluster.apply(pod);
  for (const claim of CLAIMS) await claims.attach(claim);
  const main = (object: ApiObject) => listAt(object, 'status', 'containerStatuses')[0];
  const before = main(await cluster.until(pod, isReady));
  const steps = await adopt(NEVER);
  assert.ok(steps.length > 0, 'the steps are recorded');
  context.diagnostic(`${steps.length} steps`);
  await each(steps, async (killAt) => {
    await adopt(killAt);
    await assertOnce('stays');
    const now = main(await cluster.until(pod, isReady));
    assert.deepEqual([valueAt(now, 'containerID'), valueAt(now, 'restartCount')], [valueAt(before, 'containerID'), 0]);
  });
  await cluster.delete(pod);
  await cluster.untilGone(pod);
  await untilClean();
});
