/** Pods in a cluster that use devices of a DRA driver, on Podwright's runtime. Requires root. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connectService } from '@podwright/grpc';
import { createKubeClient, type KubeClient, readKubeconfig } from '@podwright/kube-client';
import { listAt, textAt, valueAt } from '@podwright/kube-kinds';
import { startKubelet } from '@podwright/kubelet';
import { PodResourcesLister } from '@podwright/placement/pod-resources-api';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { DraDriverUnderTest } from '../kubelet/dra-driver.fixture.ts';
import { killKubelet, startKubeletChild } from '../kubelet/kubelet-child.fixture.ts';
import { type RealKubelet, startRealKubelet } from '../kubelet/real-kubelet.fixture.ts';
import { type ApiObject, type Cluster, startCluster } from './cluster.fixture.ts';
import { ClaimedDevices, claimNamed, podNamed } from './dra-claims.fixture.ts';

const NODE = 'dra-node';
const DRIVER = 'dra.test';
const RESOURCE = 'dra.test/gpu';
const runtime = new RuntimeUnderTest();
let cluster: Cluster;
let client: KubeClient;
let kubelet: RealKubelet;
let driver: DraDriverUnderTest;
let devices: ClaimedDevices;
let kubeconfig: string;
before(async () => {
  cluster = await startCluster();
  const { options, logs } = runtime.place;
  const data = join(logs, 'cdi');
  mkdirSync(data, { recursive: true });
  await runtime.start({ cdiDirectories: [data] });
  kubeconfig = join(logs, 'kubeconfig');
  writeFileSync(kubeconfig, cluster.kubeconfig(cluster.nodeCredential(NODE)));
  client = createKubeClient(await readKubeconfig(kubeconfig));
  devices = new ClaimedDevices({ cluster, driver: DRIVER, node: NODE });
  await cluster.apply(devices.slice);
  kubelet = await startRealKubelet(
    { endpoint: `unix://${options.socket}`, scratch: logs, bridge: options.network.bridge },
    { nodeName: NODE, cluster: { client, heartbeatClient: client, eventClient: client } },
  );
  await cluster.untilGone(devices.slice); // the kubelet removes the slices of drivers that have not reconnected
  driver = new DraDriverUnderTest({ name: DRIVER, rootDir: kubelet.options.rootDir, data });
  await driver.start();
  await devices.offer(RESOURCE);
});
after(async () => {
  const started = kubelet as RealKubelet | undefined; // undefined if it failed to start
  for (const { metadata } of started?.handle.pods() ?? [])
    await cluster.delete(podNamed(metadata.name), { gracePeriodSeconds: 0 });
  await started?.until('no pod is left', () => kubelet.handle.pods().length === 0);
  await started?.close();
  await (driver as DraDriverUnderTest | undefined)?.kill();
  const left = await runtime.end();
  await (cluster as Cluster | undefined)?.[Symbol.asyncDispose]();
  assert.deepEqual(left, [], 'the runtime leaves nothing on the host');
});

const SERVE = 'trap "exit 0" TERM; while :; do sleep 0.05; done';
type PodGiven = { script?: string; resources?: object; restartPolicy?: string };

/** Returns a pod whose container prints the environment variables and the size of the device added by the driver. */
function podWith(name: string, { script = SERVE, resources, restartPolicy = 'Always' }: PodGiven = {}): ApiObject {
  const command = `env | grep DRA_; head -c 3 /dev/dra-dev0 | wc -c; ${script}`;
  return {
    ...podNamed(name),
    spec: {
      ...{ restartPolicy, terminationGracePeriodSeconds: 5, automountServiceAccountToken: false },
      containers: [
        {
          ...{ name: 'main', image: runtime.image, imagePullPolicy: 'Never' },
          command: ['sh', '-c', command],
          resources: resources ?? { claims: [{ name: 'gpu' }] },
        },
      ],
    },
  } as ApiObject;
}

const isReady = (pod: ApiObject) =>
  listAt(pod, 'status', 'conditions').some(
    (one) => valueAt(one, 'type') === 'Ready' && valueAt(one, 'status') === 'True',
  );
const container = (pod: ApiObject) => listAt(pod, 'status', 'containerStatuses')[0];
const healthOf = (pod: ApiObject) => listAt(container(pod), 'allocatedResourcesStatus');
const record = () => {
  const { Data } = JSON.parse(readFileSync(join(kubelet.options.rootDir, 'dra_manager_state'), 'utf8'));
  return JSON.parse(Data).ClaimInfoStateList as { ClaimName: string; PodUIDs: object }[];
};
const reported = (name: string, message: string) =>
  kubelet.until(`the failure of ${name} is reported: ${message}`, () =>
    kubelet.handle.events().some((one) => one.involvedObject.name === name && one.message.includes(message)),
  );
const REFUSED = 'Failed to prepare dynamic resources: prepare dynamic resources: ';

async function logOf({ metadata: { name, uid } }: ApiObject, lines: number): Promise<string[]> {
  const file = join(kubelet.options.podLogsDir, `default_${name}_${uid}`, 'main/0.log');
  const read = () => readFileSync(file, 'utf8').split('\n').slice(0, -1);
  await kubelet.until(`${lines} lines of ${file}`, () => read().length >= lines);
  return read().map((line) => line.split(' ').slice(3).join(' '));
}

async function claimsByApi(name: string) {
  const socket = join(kubelet.options.rootDir, 'pod-resources/kubelet.sock');
  const lister = connectService(PodResourcesLister, socket, { maxReceiveBytes: 1 << 20 });
  try {
    const { podResources } = await lister.get({ podName: name, podNamespace: 'default' });
    return podResources!.containers[0]!.dynamicResources;
  } finally {
    lister.close();
  }
}

test('a pod has the device from its own claim, which the driver unprepares afterwards', async () => {
  const created = await devices.create(podWith('own'));
  const pod = await cluster.until(podNamed('own'), isReady);
  const claim = textAt(listAt(pod, 'status', 'resourceClaimStatuses')[0], 'resourceClaimName');
  assert.deepEqual(await logOf(created, 2), [`DRA_dev0=${claim}`, '3']);
  const { uid } = (await cluster.find(claimNamed(claim)))!.metadata;
  const cdi = `${DRIVER}/claim=${uid}-dev0`;
  assert.deepEqual(healthOf(pod), [{ name: 'claim:gpu', resources: [{ resourceID: cdi, health: 'Unknown' }] }]);
  await driver.health('dev0', 'UNHEALTHY', 'too hot');
  const health = (one: ApiObject) => listAt(healthOf(one)[0], 'resources')[0];
  const unhealthy = await cluster.until(podNamed('own'), (one) => valueAt(health(one), 'health') === 'Unhealthy');
  assert.deepEqual(health(unhealthy), { resourceID: cdi, health: 'Unhealthy', message: 'too hot' });
  const [listed] = await claimsByApi('own');
  assert.deepEqual([listed?.claimName, listed?.claimNamespace], [claim, 'default']);
  const [{ driverName, poolName, deviceName, cdiDevices } = {}] = listed!.claimResources;
  assert.deepEqual([driverName, poolName, deviceName, cdiDevices?.[0]?.name], [DRIVER, 'pool', 'dev0', cdi]);
  assert.deepEqual(Object.keys(record()[0]!.PodUIDs), [created.metadata.uid]);
  await devices.deletePod('own');
  assert.deepEqual(await driver.claimCalls(), [`nodePrepareResources ${claim}`, `nodeUnprepareResources ${claim}`]);
  assert.deepEqual([driver.specifications(), record()], [[], []]);
});

test('two pods share a claim, which is prepared once and unprepared after the last', async () => {
  driver.forget();
  await devices.claim('shared');
  for (const name of ['one', 'two']) {
    await devices.create(podWith(name), 'shared');
    await cluster.until(podNamed(name), isReady);
  }
  await devices.deletePod('one');
  assert.deepEqual(await driver.claimCalls(), ['nodePrepareResources shared']);
  await devices.deletePod('two');
  assert.deepEqual(await driver.claimCalls(), ['nodePrepareResources shared', 'nodeUnprepareResources shared']);
});

test('an extended resource may be satisfied by a driver’s device', async () => {
  driver.forget();
  const created = await devices.createExtended(
    podWith('extended', { resources: { limits: { [RESOURCE]: '1' }, requests: { [RESOURCE]: '1' } } }),
    RESOURCE,
  );
  await cluster.until(podNamed('extended'), isReady);
  const [, claim] = (await driver.claimCalls())[0]!.split(' ');
  assert.deepEqual(await logOf(created, 2), [`DRA_dev0=${claim}`, '3']);
  await devices.deletePod('extended');
  assert.deepEqual(await driver.claimCalls(), [`nodePrepareResources ${claim}`, `nodeUnprepareResources ${claim}`]);
});

test('a failure to prepare a claim is reported with upstream’s message and retried', async () => {
  await devices.claim('broken');
  await driver.plan({ broken: { error: 'no such device' } });
  await devices.create(podWith('broken'), 'broken');
  await reported('broken', `${REFUSED}NodePrepareResources failed for ResourceClaim broken: no such device`);
  await cluster.until(podNamed('broken'), (pod) => textAt(container(pod), 'state', 'waiting', 'reason') !== '');
  await driver.plan({});
  await cluster.until(podNamed('broken'), isReady);
  await devices.deletePod('broken');
  driver.forget();
  await driver.behave({ nodePrepareResources: { hang: true } });
  await devices.create(podWith('hangs'), 'broken');
  await driver.called('nodePrepareResources');
  await devices.deletePod('hangs');
  await driver.behave({});
  assert.deepEqual(await driver.claimCalls(), ['nodePrepareResources broken', 'nodeUnprepareResources broken']);
});

test('a pod is refused another pod’s claim and a deleted claim', async () => {
  const create = (name: string, claim: string) =>
    cluster.apply({
      ...podWith(name),
      spec: { ...podWith(name).spec, nodeName: NODE, resourceClaims: [{ name: 'gpu', resourceClaimName: claim }] },
    } as ApiObject);
  await devices.claim('strange');
  await devices.allocate('strange', { metadata: { name: 'other', uid: 'other' } } as ApiObject);
  const { uid } = (await cluster.find(claimNamed('strange')))!.metadata;
  const [pod] = await create('stranger', 'strange');
  await reported(
    'stranger',
    `${REFUSED}pod stranger (${pod!.metadata.uid}) is not allowed to use ResourceClaim strange (${uid})`,
  );
  await create('late', 'gone');
  await reported('late', `${REFUSED}fetch ResourceClaim gone: resourceclaims.resource.k8s.io "gone" not found`);
  for (const name of ['stranger', 'late']) await devices.deletePod(name);
});

test('a pod’s claims are unprepared before its termination is reported', async () => {
  driver.forget();
  await driver.behave({ nodeUnprepareResources: { error: 14 } });
  await devices.create(podWith('done', { script: 'exit 0', restartPolicy: 'Never' }));
  await driver.called('nodeUnprepareResources', 2);
  assert.match(textAt((await cluster.find(podNamed('done')))!, 'status', 'phase'), /^(Pending|Running)$/);
  await driver.behave({});
  await cluster.until(podNamed('done'), (pod) => textAt(pod, 'status', 'phase') === 'Succeeded');
  assert.deepEqual(driver.specifications(), []);
  await devices.deletePod('done');
});

test('a pod waits for an unavailable driver, even if it terminates meanwhile', async () => {
  await devices.claim('waits');
  await devices.claim('ends');
  await devices.create(podWith('ends'), 'ends');
  await cluster.until(podNamed('ends'), isReady);
  await driver.kill();
  driver.forget();
  driver.unregister();
  await devices.create(podWith('waits'), 'waits');
  await reported('waits', `${REFUSED}DRA driver ${DRIVER} is not registered`);
  await cluster.delete(podNamed('ends'));
  await kubelet.until('its container has been removed', async () => {
    const { containers } = await runtime.cri.runtime.listContainers({ filter: { state: { state: 1 } } });
    return containers.length === 0;
  });
  assert.notEqual(await cluster.find(podNamed('ends')), undefined);
  await driver.start();
  await cluster.untilGone(podNamed('ends'));
  await cluster.until(podNamed('waits'), isReady);
  await devices.deletePod('waits');
  assert.deepEqual((await driver.claimCalls()).toSorted(), [
    ...['nodePrepareResources waits', 'nodeUnprepareResources ends', 'nodeUnprepareResources waits'],
  ]);
});

test('after a kill the next kubelet unprepares leftover claims, and does not re-prepare those of running pods', async () => {
  await kubelet.handle.close();
  const child = await startKubeletChild(kubelet.options, kubeconfig);
  await cluster.untilGone(devices.slice); // deleted by a starting kubelet
  await cluster.apply(devices.slice);
  await devices.claim('kept');
  await devices.claim('left');
  await devices.create(podWith('kept'), 'kept');
  const before = await cluster.until(podNamed('kept'), isReady);
  await driver.behave({ nodePrepareResources: { hangAfter: true } });
  driver.forget();
  await devices.create(podWith('left'), 'left');
  await driver.called('nodePrepareResources');
  await killKubelet(child);
  await driver.behave({});
  await cluster.delete(podNamed('left'), { gracePeriodSeconds: 0 });
  driver.forget();
  kubelet.handle = await startKubelet(kubelet.options);
  await driver.called('nodeUnprepareResources');
  await kubelet.until('it is recorded', () => record().length === 1);
  const now = await cluster.until(podNamed('kept'), isReady);
  assert.equal(textAt(container(now), 'containerID'), textAt(container(before), 'containerID'));
  assert.deepEqual(await driver.claimCalls(), ['nodeUnprepareResources left']);
  await devices.deletePod('kept');
  assert.deepEqual([driver.specifications(), record()], [[], []]);
});
