/** API objects that pods in a cluster depend on, with real containers on Podwright's runtime. Requires root. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { createKubeClient, type KubeClient } from '@podwright/kube-client';
import { startKubelet } from '@podwright/kubelet';
import { type RealKubelet, startRealKubelet } from '../kubelet/real-kubelet.fixture.ts';
import { type SuiteRuntime, startOurRuntime } from '../kubelet/suite-runtime.fixture.ts';
import { type ApiObject, type Cluster, pathOf, startCluster } from './cluster.fixture.ts';

const NODE = 'node';
let runtime: SuiteRuntime;
let cluster: Cluster;
let client: KubeClient;
let kubelet: RealKubelet;

before(async () => {
  cluster = await startCluster();
  await cluster.apply(
    { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
  );
  runtime = await startOurRuntime('ob');
  client = nodeClient();
  kubelet = await startRealKubelet(runtime, {
    nodeName: NODE,
    cluster: { client, heartbeatClient: client, eventClient: client },
  });
});

after(async () => {
  if ((kubelet as RealKubelet | undefined) !== undefined) {
    await removePods();
    await kubelet.close();
  }
  (client as KubeClient | undefined)?.close();
  await (cluster as Cluster | undefined)?.[Symbol.asyncDispose]();
  await (runtime as SuiteRuntime | undefined)?.stop();
});

/** Deletes all pods at the API server, over a separate connection, because a test may have cut the others. */
async function removePods(): Promise<void> {
  const admin = cluster.client(cluster.adminCredential());
  for (const { metadata } of kubelet.handle.pods()) await admin.delete(pathOf(podAt(metadata.name)));
  admin.close();
  await kubelet.until('no pod is left', () => kubelet.handle.pods().length === 0);
}

function nodeClient(): KubeClient {
  const credential = cluster.nodeCredential(NODE);
  assert.ok(credential.kind === 'certificate');
  const tls = { ca: cluster.certificateAuthority, certificate: credential.certificate, key: credential.key };
  return createKubeClient({ server: cluster.url, tls });
}

function service(namespace: string, name: string, clusterIP: string, port: number): ApiObject {
  return { apiVersion: 'v1', kind: 'Service', metadata: { namespace, name }, spec: { clusterIP, ports: [{ port }] } };
}

const configMap = (name: string, data: Record<string, string>, more: object = {}): ApiObject => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'shop', name }, data, ...more },
});

const secret = (name: string, data: Record<string, string>): ApiObject => ({
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'shop', name } },
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
});

const podAt = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'shop', name } });

/** Returns a pod with one container, which sleeps by default. */
function pod(name: string, spec: Record<string, unknown>, container: Record<string, unknown> = {}): ApiObject {
  const main = {
    name: 'main',
    image: runtime.image,
    imagePullPolicy: 'Never',
    command: ['sleep', '3600'],
    ...container,
  };
  return {
    ...podAt(name),
    spec: { nodeName: NODE, terminationGracePeriodSeconds: 0, restartPolicy: 'Never', containers: [main], ...spec },
  };
}

const mainOf = ({ status }: ApiObject) => (status as Pod['status'] | undefined)?.containerStatuses?.[0];

/** Returns the termination message of a pod's container. */
async function messageOf(name: string): Promise<string> {
  const ended = await cluster.until(podAt(name), ({ status }) => /Succeeded|Failed/.test(String(status?.phase)));
  return mainOf(ended)?.state.terminated?.message ?? '';
}

const isRunning = ({ status }: ApiObject) => status?.phase === 'Running';
const eventsOf = (name: string) =>
  kubelet.handle
    .events()
    .flatMap(({ involvedObject, reason, message }) => (involvedObject.name === name ? [`${reason}: ${message}`] : []));
const volumeOf = (uid: string, plugin: string, volume: string) =>
  join(kubelet.options.rootDir, 'pods', uid, 'volumes', `kubernetes.io~${plugin}`, volume);

async function runPod(object: ApiObject): Promise<string> {
  await cluster.apply(object);
  return (await cluster.until(podAt(object.metadata.name!), isRunning)).metadata.uid!;
}

test('a pod in a namespace with hundreds of objects has its variables, files, services and a valid token', async () => {
  await cluster.apply(
    configMap('conf', { COLOUR: 'blue', 'file.txt': 'text' }),
    secret('keys', { PASSWORD: 's3cret' }),
    configMap('ca', { 'ca.crt': 'certificate' }),
    service('shop', 'my-db', '10.96.0.7', 5432),
  );
  await cluster.apply(...Array.from({ length: 500 }, (_, index) => secret(`other-${index}`, { key: 'x'.repeat(100) })));
  const sources = [
    { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
    { configMap: { name: 'ca' } },
    { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
  ];
  const script = `env | grep -E '^(COLOUR|PASSWORD|MY_DB_PORT|KUBERNETES_SERVICE_HOST|MINE)=' | sort
cat /conf/file.txt; echo; cat /api/ca.crt; echo; cat /api/namespace; echo
ls -lnL /api/token | cut -d' ' -f1; cut -d. -f1 /api/token | wc -w`;
  await cluster.apply(
    pod(
      'whole',
      {
        volumes: [
          { name: 'conf', configMap: { name: 'conf' } },
          { name: 'api', projected: { sources } },
        ],
      },
      {
        command: ['sh', '-c', `(${script}) > /dev/termination-log`],
        envFrom: [{ configMapRef: { name: 'conf' } }],
        env: [
          { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'keys', key: 'PASSWORD' } } },
          { name: 'MINE', value: '$(MY_DB_SERVICE_HOST)' },
        ],
        volumeMounts: [
          { name: 'conf', mountPath: '/conf' },
          { name: 'api', mountPath: '/api' },
        ],
      },
    ),
  );
  assert.deepEqual((await messageOf('whole')).trim().split('\n'), [
    'COLOUR=blue',
    'KUBERNETES_SERVICE_HOST=10.96.0.1',
    'MINE=10.96.0.7',
    'MY_DB_PORT=tcp://10.96.0.7:5432',
    'PASSWORD=s3cret',
    ...['text', 'certificate', 'shop', '-rw-r--r--', '1'],
  ]);
  const requests = cluster.own?.requests.all.filter(({ user }) => user === `system:node:${NODE}`) ?? [];
  for (const { query, responseBytes } of requests.filter(({ resource }) => /^(secrets|configmaps)$/.test(resource))) {
    assert.match(query, /fieldSelector=metadata.name/, query);
    assert.ok(responseBytes < 10_000, String(responseBytes));
  }
});

test('a token is bound to its pod, stored in memory, and revoked with the pod', async () => {
  const token = { serviceAccountToken: { path: 'token', audience: '', expirationSeconds: 3607 } };
  const uid = await runPod(
    pod(
      'token',
      { securityContext: { runAsUser: 1000 }, volumes: [{ name: 'api', projected: { sources: [token] } }] },
      { volumeMounts: [{ name: 'api', mountPath: '/api' }] },
    ),
  );
  const path = join(volumeOf(uid, 'projected', 'api'), 'token');
  const { uid: owner, mode } = statSync(path);
  assert.deepEqual([owner, (mode & 0o777).toString(8)], [1000, '600']);
  const text = readFileSync(path, 'utf8');
  const caller = cluster.client({ kind: 'token', token: text });
  const review = await caller.create('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
  });
  caller.close();
  if (review.status === 201) assert.equal(review.body.status.userInfo.username, 'system:serviceaccount:shop:default');
  else assert.notEqual(review.status, 401, 'the API server rejects the token');
  assert.match(
    readFileSync('/proc/self/mountinfo', 'utf8'),
    new RegExp(`${uid}/volumes/kubernetes.io~projected/api .*tmpfs`),
  );
  await cluster.delete(podAt('token'));
  await cluster.untilGone(podAt('token'));
  await kubelet.until('the token file has been removed', () => !existsSync(path));
});

test('a pod waits for missing objects, reports them like upstream, and starts when they appear', async () => {
  await cluster.apply(
    pod(
      'waits',
      { volumes: [{ name: 'v', configMap: { name: 'late' } }] },
      { volumeMounts: [{ name: 'v', mountPath: '/v' }] },
    ),
    pod('unset', {}, { env: [{ name: 'X', valueFrom: { secretKeyRef: { name: 'later', key: 'x' } } }] }),
  );
  await kubelet.until('the missing object is reported', () =>
    eventsOf('waits').includes('FailedMount: MountVolume.SetUp failed for volume "v" : configmap "late" not found'),
  );
  const waiting = await cluster.until(podAt('unset'), ({ status }) => {
    return mainOf({ status } as ApiObject)?.state.waiting?.reason === 'CreateContainerConfigError';
  });
  assert.equal(mainOf(waiting)?.state.waiting?.message, 'secret "later" not found');
  await cluster.apply(configMap('late', { a: '1' }), secret('later', { x: '1' }));
  await Promise.all(['waits', 'unset'].map((name) => cluster.until(podAt(name), isRunning)));
});

test('changes reach the files of running pods; immutable objects do not change; deleted objects remain in the files', async () => {
  await cluster.apply(configMap('live', { a: '1' }), configMap('fixed', { a: '1' }, { immutable: true }));
  const volumes = ['live', 'fixed'].map((name) => ({ name, configMap: { name } }));
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
  const uid = await runPod(pod('changes', { volumes }, { volumeMounts }));
  const files = (name: string) => {
    const directory = volumeOf(uid, 'configmap', name);
    const names = readdirSync(directory).filter((one) => !one.startsWith('..'));
    return names.map((one) => `${one}=${readFileSync(join(directory, one), 'utf8')}`).join();
  };
  assert.deepEqual([files('live'), files('fixed')], ['a=1', 'a=1']);
  await cluster.apply(configMap('live', { a: '2', b: 'x'.repeat(1_000_000) }));
  await kubelet.until('the change has arrived', () => files('live').startsWith('a=2,b=xxx'));
  await cluster.delete(configMap('live', {}));
  await kubelet.until('the deletion is reported', () =>
    eventsOf('changes').some((event) => event.includes('configmap "live" not found')),
  );
  assert.ok(files('live').startsWith('a=2,b=xxx'));
  assert.ok(isRunning((await cluster.find(podAt('changes')))!));
});

test('a forbidden object is distinguished from a missing one', async () => {
  if (cluster.own === undefined) return; // a real control plane has no faults
  await cluster.apply(secret('closed', { a: '1' }));
  const { own } = cluster;
  const faults = (['watch', 'list'] as const).map((verb) =>
    own.faults.add(
      { kind: 'status', code: 403, reason: 'Forbidden', message: 'no way' },
      { verb, resource: 'secrets' },
    ),
  );
  await cluster.apply(
    pod(
      'shut',
      { volumes: [{ name: 's', secret: { secretName: 'closed' } }] },
      { volumeMounts: [{ name: 's', mountPath: '/s' }] },
    ),
  );
  const expected = /^FailedMount: .*"s" : failed to sync secret cache: timed out waiting for the condition: .*no way/;
  await kubelet.until('it is reported', () => eventsOf('shut').some((event) => expected.test(event)));
  for (const fault of faults) fault.remove();
  await cluster.until(podAt('shut'), isRunning);
});

test('a claim’s local volume is mounted once it is bound', async () => {
  const path = join(runtime.scratch, 'disk');
  const claim: ApiObject = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'shop', name: 'data' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      volumeName: 'disk',
      resources: { requests: { storage: '1Gi' } },
      storageClassName: '',
    },
  };
  const [stored] = await cluster.apply(claim);
  await cluster.apply(
    pod(
      'claims',
      { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }] },
      { command: ['sh', '-c', 'echo kept > /d/file'], volumeMounts: [{ name: 'd', mountPath: '/d' }] },
    ),
  );
  const reports = (text: string) => kubelet.until(text, () => eventsOf('claims').some((event) => event.includes(text)));
  await reports('failed to process volumes=[d]: error processing PVC shop/data: PVC is not bound');
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'disk' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      local: { path },
      claimRef: { namespace: 'shop', name: 'data', uid: stored!.metadata.uid },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [NODE] }] }] },
      },
    },
  } as ApiObject);
  // a real control plane has a controller that sets this status as well
  const status = '/api/v1/namespaces/shop/persistentvolumeclaims/data/status';
  await cluster.admin.patch(status, 'merge', { status: { phase: 'Bound' } });
  await reports(`MountVolume.NewMounter initialization failed for volume "disk" : path "${path}" does not exist`);
  mkdirSync(path);
  await messageOf('claims');
  assert.equal(readFileSync(join(path, 'file'), 'utf8'), 'kept\n');
});

test('the watches of a deleted pod are closed', async () => {
  await removePods();
  const watches = (cluster.own?.requests.all ?? []).filter(
    ({ verb, resource }) => verb === 'watch' && /^(secrets|configmaps)$/.test(resource),
  );
  await kubelet.until('no watch is left', () => watches.every(({ isOver }) => isOver));
});

test('without the API server a container restarts with cached objects, and a restarted kubelet adopts its pods', async () => {
  if (cluster.own === undefined) return; // a real control plane is not stopped
  await cluster.apply(configMap('away', { a: '1' }));
  const volumes = [{ name: 'v', configMap: { name: 'away' } }];
  const again = { command: ['sh', '-c', 'echo "$A" >> /kept/starts; sleep 3600'] };
  const uid = await runPod(
    pod(
      'away',
      { restartPolicy: 'Always', volumes: [...volumes, { name: 'kept', emptyDir: {} }] },
      {
        ...again,
        env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'away', key: 'a' } } }],
        volumeMounts: [
          { name: 'v', mountPath: '/v' },
          { name: 'kept', mountPath: '/kept' },
        ],
      },
    ),
  );
  const file = join(volumeOf(uid, 'empty-dir', 'kept'), 'starts');
  const starts = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  await kubelet.until('the first start', () => starts() === '1\n');
  await cluster.own.pause();
  const [container] = kubelet.handle.pods().find(({ metadata }) => metadata.uid === uid)!.status!.containerStatuses!;
  await kubelet.handle.cri.runtime.stopContainer({ containerId: container!.containerID!.split('//')[1]!, timeout: 0n });
  await kubelet.until('it has restarted', () => starts() === '1\n1\n');
  await kubelet.handle.close();
  kubelet.handle = await startKubelet(kubelet.options);
  await cluster.own.resume();
  const admin = cluster.client(cluster.adminCredential());
  await admin.update(pathOf(configMap('away', {})), configMap('away', { a: '2' }));
  admin.close();
  await kubelet.until('the change', () => {
    return readFileSync(join(volumeOf(uid, 'configmap', 'v'), 'a'), 'utf8') === '2';
  });
  assert.equal(starts(), '1\n1\n', 'the new kubelet adopted the container');
});
