/** Pods of an API server from creation to deletion, with real containers. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { removePods } from '../kubelet/containerd.fixture.ts';
import { type ApiObject, Cluster, collectionOf, pathOf, startCluster } from './cluster.fixture.ts';
import { ClusterKubelet, nodeObject } from './cluster-kubelet.fixture.ts';

let cluster: Cluster;
let kubelet: ClusterKubelet;

before(async () => {
  cluster = await startCluster();
  await cluster.apply(nodeObject);
  kubelet = new ClusterKubelet({
    url: cluster.url,
    certificateAuthority: cluster.certificateAuthority,
    nodeCredential: cluster.nodeCredential('node'),
  });
  await kubelet.start();
});
after(async () => {
  await kubelet.end();
  await cluster[Symbol.asyncDispose]();
});

const statusOf = (object: ApiObject) => (object as unknown as Pod).status!;
const isRunning = (object: ApiObject) => statusOf(object)?.phase === 'Running';
const isReady = (object: ApiObject) =>
  statusOf(object)?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true;

/** Creates a pod and waits until it is ready. */
async function runPod(pod: ApiObject): Promise<ApiObject> {
  await cluster.apply(pod);
  return await cluster.until(pod, isReady);
}

test('a pod runs, each phase is reported, and it is deleted when it has ended within its grace period', async (t) => {
  const pod = kubelet.pod('life', { script: 'trap "sleep 0.3; exit 0" TERM; while :; do sleep 0.05; done' });
  const { resourceVersion } = (await cluster.admin.get(collectionOf(pod))).body.metadata;
  const selection = `watch=true&fieldSelector=metadata.name=life&resourceVersion=${resourceVersion}`;
  await using watch = await cluster.admin.watch(`${collectionOf(pod)}?${selection}`);
  const began = performance.now();
  await cluster.apply(pod);
  await cluster.until(pod, isRunning);
  t.diagnostic(`POST to Running: ${Math.round(performance.now() - began)} ms`);
  await cluster.until(pod, isReady);
  const ended = performance.now();
  await cluster.delete(pod);
  await cluster.untilGone(pod);
  t.diagnostic(`DELETE to gone: ${Math.round(performance.now() - ended)} ms`);
  const seen: string[] = [];
  for (let event = await watch.next(); event !== undefined; event = await watch.next()) {
    const { status, metadata } = event.object;
    const [{ state = {} } = {}] = status.containerStatuses ?? [];
    seen.push(
      `${event.type} ${status.phase} ${Object.keys(state)} ${metadata.deletionTimestamp ? 'going' : ''}`.trim(),
    );
    if (event.type === 'DELETED') break;
  }
  const phases = seen.filter((line, index) => line !== seen[index - 1]);
  assert.equal(phases[0], 'ADDED Pending');
  assert.ok(phases.indexOf('MODIFIED Pending waiting') < phases.indexOf('MODIFIED Running running'), String(phases));
  assert.equal(phases.at(-1), 'DELETED Succeeded terminated going');
  assert.ok(
    phases.includes('MODIFIED Succeeded terminated going'),
    `the end is reported before the deletion: ${phases}`,
  );
});

test('a pod that is re-created with the same name within a second runs while the old one is terminating', async () => {
  const slow = 'trap "sleep 1.5; exit 0" TERM; while :; do sleep 0.05; done';
  const pod = kubelet.pod('twice', { script: slow });
  const first = await runPod(pod);
  await cluster.delete(pod, { gracePeriodSeconds: 0 });
  const second = await runPod(kubelet.pod('twice'));
  assert.notEqual(second.metadata.uid, first.metadata.uid);
  await kubelet.until('the old one has been removed', (pods) => pods.length === 1);
  await cluster.delete(pod, { gracePeriodSeconds: 1 });
  await cluster.untilGone(pod);
});

test('a static pod has a mirror pod, alongside API server pods', async () => {
  const pod = kubelet.pod('local', {});
  const mirror = { ...pod, metadata: { name: 'local-node', namespace: 'default' } };
  await kubelet.apply('local.yaml', JSON.stringify({ ...pod, spec: { ...(pod.spec as object), nodeName: undefined } }));
  const shown = await cluster.until(mirror, isReady);
  assert.equal(shown.metadata.ownerReferences![0]!.kind, 'Node');
  await cluster.delete(mirror, { gracePeriodSeconds: 0 });
  await cluster.until(mirror, (object) => isReady(object) && object.metadata.uid !== shown.metadata.uid);
  const [local] = kubelet.handle.pods();
  assert.equal(local!.status!.containerStatuses![0]!.restartCount, 0);
  await kubelet.remove('local.yaml');
  await cluster.untilGone(mirror);
});

test('ephemeral containers and resizes are accepted through their subresources', async () => {
  const pod = kubelet.pod('changed');
  const resources = { requests: { cpu: '50m', memory: '16Mi' }, limits: { cpu: '100m', memory: '32Mi' } };
  const [container] = (pod.spec as Pod['spec']).containers;
  (pod.spec as Pod['spec']).containers = [{ ...container!, resources }];
  await runPod(pod);
  const debug = {
    name: 'debugger',
    image: kubelet.runtime.image,
    command: ['sh', '-c', 'sleep 60'],
    targetContainerName: 'main',
  };
  const added = await cluster.admin.patch(`${pathOf(pod)}/ephemeralcontainers`, 'strategic', {
    spec: { ephemeralContainers: [debug] },
  });
  assert.equal(added.status, 200, added.text);
  await cluster.until(pod, (object) => statusOf(object).ephemeralContainerStatuses?.[0]?.state.running !== undefined);
  const { ephemeralContainerStatuses } = statusOf((await cluster.find(pod))!);
  assert.equal('started' in ephemeralContainerStatuses![0]!, false);
  const resized = await cluster.admin.patch(`${pathOf(pod)}/resize`, 'strategic', {
    spec: { containers: [{ name: 'main', resources: { requests: { cpu: '60m' }, limits: { cpu: '120m' } } }] },
  });
  assert.equal(resized.status, 200, resized.text);
  const done = await cluster.until(pod, (object) => {
    const [one] = statusOf(object).containerStatuses ?? [];
    const isResizing = statusOf(object).conditions?.some(({ type }) => type.startsWith('PodResize'));
    return one?.resources?.limits?.cpu === '120m' && one.allocatedResources?.cpu === '60m' && !isResizing;
  });
  assert.equal(statusOf(done).containerStatuses![0]!.restartCount, 0);
  await cluster.delete(pod, { gracePeriodSeconds: 1 });
  await cluster.untilGone(pod);
});

test('a rejected pod is reported once, with a complete status', async (t) => {
  const pod = kubelet.pod('refused', {
    containers: [{ name: 'a', image: 'a', resources: { requests: { cpu: '1k' } } }],
  });
  await cluster.apply(pod);
  await cluster.until(pod, (object) => statusOf(object).phase === 'Failed');
  const patches = cluster.own?.requests.of({ verb: 'patch', resource: 'pods/status', name: 'refused' });
  await cluster.delete(pod);
  if (patches === undefined) return t.diagnostic('only Podwright’s API server records requests');
  assert.equal(patches.length, 1);
  assert.deepEqual(Object.keys(JSON.parse(patches[0]!.body).status).sort(), [
    'message',
    'observedGeneration',
    'phase',
    'reason',
    'startTime',
  ]);
});

test('pods survive a kubelet restart, after which missed changes are processed', async () => {
  const [kept, going, ends] = [
    kubelet.pod('kept'),
    kubelet.pod('going'),
    kubelet.pod('ends', { script: 'sleep 0.7', restartPolicy: 'Never' }),
  ];
  const containerOf = (object: ApiObject) => statusOf(object).containerStatuses![0]!.containerID;
  const before = await runPod(kept);
  await runPod(going);
  await cluster.apply(ends);
  await cluster.until(ends, isRunning);
  await kubelet.handle.close();
  await cluster.delete(going);
  await kubelet.restart();
  await cluster.untilGone(going);
  const ended = await cluster.until(ends, (object) => statusOf(object).phase === 'Succeeded');
  assert.equal(statusOf(ended).containerStatuses![0]!.restartCount, 0);
  const after = await cluster.until(kept, isReady);
  assert.equal(containerOf(after), containerOf(before));
  assert.equal(statusOf(after).startTime, statusOf(before).startTime);
  for (const pod of [kept, ends]) await cluster.delete(pod, { gracePeriodSeconds: 1 });
  for (const pod of [kept, ends]) await cluster.untilGone(pod);
});

test('labels and taints set by other clients apply when a pod is admitted', async () => {
  const patch = (change: object) => cluster.admin.patch(pathOf(nodeObject), 'merge', change);
  const taints = [{ key: 'leaving', value: 'soon', effect: 'NoExecute' }];
  const tolerations = [{ key: 'leaving', operator: 'Exists' }];
  await patch({ metadata: { labels: { disk: 'ssd' } }, spec: { taints } });
  const tolerant = kubelet.pod('tolerant', { tolerations });
  await runPod(tolerant); // meanwhile the kubelet has received the change
  const picky = kubelet.pod('picky', { tolerations, nodeSelector: { disk: 'ssd' } });
  await runPod(picky);
  const refused = kubelet.pod('refused');
  await cluster.apply(refused);
  if (cluster.own !== undefined) {
    // on a real control plane, a failed pod is deleted right away, so its status cannot be read
    const status = statusOf(await cluster.until(refused, (object) => statusOf(object)?.phase === 'Failed'));
    assert.equal(status.reason, 'TaintToleration');
    assert.match(status.message!, /^Pod was rejected: Predicate TaintToleration failed: node\(s\) had taints/);
    await cluster.delete(refused, { gracePeriodSeconds: 1 });
  }
  await patch({ metadata: { labels: { disk: null } }, spec: { taints: null } });
  for (const pod of [tolerant, picky]) await cluster.delete(pod, { gracePeriodSeconds: 1 });
  for (const pod of [tolerant, picky, refused]) await cluster.untilGone(pod);
});

test('a critical pod preempts another pod, but a non-critical one does not', async () => {
  const { cpu } = kubelet.handle.node().status.allocatable;
  const requesting = (name: string, spec: object) => {
    const pod = kubelet.pod(name, spec as Record<string, unknown>);
    const [container] = (pod.spec as Pod['spec']).containers;
    container!.resources = { requests: { cpu: cpu! } };
    return pod;
  };
  const first = requesting('first', {});
  await runPod(first);
  const second = requesting('second', {});
  await cluster.apply(second);
  const refused = await cluster.until(second, (object) => statusOf(object)?.phase === 'Failed');
  assert.equal(statusOf(refused).reason, 'OutOfcpu');
  const vital = requesting('vital', { priorityClassName: 'system-node-critical', priority: 2_000_001_000 });
  await runPod(vital);
  const { phase, reason, conditions } = statusOf((await cluster.find(first))!);
  assert.deepEqual([phase, reason], ['Failed', 'Preempting']);
  assert.ok(conditions!.some(({ type, status }) => type === 'DisruptionTarget' && status === 'True'));
  for (const pod of [first, second, vital]) await cluster.delete(pod, { gracePeriodSeconds: 1 });
  for (const pod of [first, second, vital]) await cluster.untilGone(pod);
});

test('a node that terminates its local pods leaves API server pods for the next start', async () => {
  const pod = kubelet.pod('stays');
  const before = await runPod(pod);
  const local = kubelet.pod('own');
  const manifest = { ...local, spec: { ...(local.spec as object), nodeName: undefined } };
  await kubelet.apply('own.yaml', JSON.stringify(manifest));
  const mirror = { ...local, metadata: { name: 'own-node', namespace: 'default' } };
  await cluster.until(mirror, isReady);
  assert.equal(await kubelet.handle.endPods({ ofApi: false }), false);
  const names = kubelet.handle.pods().map(({ metadata }) => metadata.name);
  assert.deepEqual(names, ['stays']);
  await kubelet.remove('own.yaml');
  await kubelet.restart();
  const containerOf = (object: ApiObject) => statusOf(object).containerStatuses![0]!.containerID;
  assert.equal(containerOf(await cluster.until(pod, isReady)), containerOf(before));
  await cluster.delete(pod, { gracePeriodSeconds: 1 });
  await cluster.untilGone(pod);
  await cluster.untilGone(mirror);
});

test('a reported pod end is final, even if the kubelet is killed before recording it', async () => {
  const pod = kubelet.pod('ended', { script: 'exit 0', restartPolicy: 'Never' });
  await cluster.apply(pod);
  const { metadata } = await cluster.until(pod, (object) => statusOf(object).phase === 'Succeeded');
  await kubelet.handle.close();
  const file = join(kubelet.options.rootDir, 'pod-statuses', `${metadata.uid}.json`);
  const record = JSON.parse(readFileSync(file, 'utf8'));
  record.status.phase = 'Pending';
  Object.assign(record.status.containerStatuses[0], { state: { waiting: {} }, containerID: undefined });
  writeFileSync(file, JSON.stringify(record));
  await removePods(kubelet.runtime.endpoint);
  await kubelet.restart();
  await kubelet.until('it is loaded', (pods) => pods.some(({ status }) => status?.phase === 'Succeeded'));
  const [local] = kubelet.handle.pods();
  assert.equal(local!.status!.containerStatuses![0]!.state.terminated?.exitCode, 0);
  await cluster.delete(pod);
  await cluster.untilGone(pod);
});

test('pods continue without the API server, which receives their status afterwards', async (t) => {
  const { own } = cluster;
  if (own === undefined) return t.diagnostic('only Podwright’s API server can be stopped');
  const [kept, ends] = [kubelet.pod('kept'), kubelet.pod('ends', { script: 'sleep 1', restartPolicy: 'Never' })];
  await runPod(kept);
  await cluster.apply(ends);
  await cluster.until(ends, isRunning);
  await own.pause();
  await kubelet.until('one has ended meanwhile', (pods) => pods.some(({ status }) => status?.phase === 'Succeeded'));
  await own.resume();
  cluster.admin.close();
  cluster = new Cluster(own);
  await cluster.until(ends, (object) => statusOf(object).phase === 'Succeeded');
  assert.ok(isReady((await cluster.find(kept))!));
  for (const pod of [kept, ends]) await cluster.delete(pod, { gracePeriodSeconds: 1 });
  for (const pod of [kept, ends]) await cluster.untilGone(pod);
});
