import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FakeRuntime } from '@podwright/cri/testing';
import type { EphemeralContainer, Pod } from '@podwright/kube-api';
import { NODES, PODS } from '@podwright/kube-client';
import { refusal } from '@podwright/kube-client/testing';
import { startFakeCluster } from '../fake-cluster.fixture.ts';
import { apiPod, fakeApi } from './api-pods.fixture.ts';

const isRunning = ({ status }: Pod) => status?.phase === 'Running';
const conditionOf = (pod: Pod, wanted: string) => pod.status?.conditions?.find(({ type }) => type === wanted);
const isEnded = ({ status }: Pod) => status?.phase === 'Failed';
const callsOf = (runtime: FakeRuntime, wanted: string) =>
  runtime.calls.filter(({ method }) => method === wanted).length;
const soon = () => new Date(Date.now() + 1000).toISOString();

const staticPod = (command: string) => `
apiVersion: v1
kind: Pod
metadata: { name: local }
spec: { containers: [{ name: main, image: 'busybox:1', command: ['${command}'] }] }`;

function going(pod: Pod, seconds = 1) {
  const metadata = { ...pod.metadata, deletionTimestamp: soon(), deletionGracePeriodSeconds: seconds, generation: 2 };
  return { ...pod, metadata };
}

test('an API server pod runs, and its status is reported along with other writers’ conditions', async () => {
  const { api, shown, close } = await startFakeCluster();
  const pod = apiPod('web');
  const gate = { type: 'example.com/seen', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' } as const;
  api.put(PODS, { ...pod, status: { ...pod.status!, conditions: [gate, ...pod.status!.conditions!] } });
  const running = await shown('web', isRunning);
  assert.deepEqual(conditionOf(running, gate.type), gate);
  assert.equal(conditionOf(running, 'Ready')?.status, 'True');
  assert.equal(conditionOf(running, 'Ready')?.observedGeneration, 1);
  const [first] = api.callsOf({ verb: 'patch', plural: 'pods' });
  assert.equal((first!.body as { metadata: { uid: string } }).metadata.uid, 'uid-web');
  assert.equal(first!.patchType, 'strategic');
  await close();
});

test('a deleted pod stops, is reported as ended, and is then removed from the API server', async () => {
  const { api, kubelet, shown, gone, close } = await startFakeCluster();
  api.put(PODS, apiPod('web'));
  const running = await shown('web', isRunning);
  const phases: (string | undefined)[] = [];
  api.put(PODS, going(running));
  const watched = api.script.bind(api);
  watched({ verb: 'delete', plural: 'pods' }, (call: object) => {
    phases.push(api.stored<typeof running>(PODS, { namespace: 'default', name: 'web' })?.status?.phase);
    assert.deepEqual((call as { how: object }).how, { gracePeriodSeconds: 0, preconditions: { uid: 'uid-web' } });
    api.remove(PODS, { namespace: 'default', name: 'web' });
  });
  await gone('web');
  assert.deepEqual(phases, ['Failed']);
  await kubelet.until('nothing is left of it', () => kubelet.handle.pods().length === 0);
  const count = (verb: 'get' | 'patch' | 'delete') => api.callsOf({ verb, plural: 'pods' }).length;
  assert.equal(count('delete'), 1);
  assert.equal(count('get'), 0);
  await close();
});

test('a pod with finalizers is deleted only once', async () => {
  const { api, kubelet, shown, close } = await startFakeCluster();
  api.put(PODS, apiPod('kept', { finalizers: ['example.com/keep'] }));
  const running = await shown('kept', isRunning);
  api.script({ verb: 'delete', plural: 'pods' }, () => {
    const known = api.stored<typeof running>(PODS, { namespace: 'default', name: 'kept' })!;
    api.put(PODS, { ...known, metadata: { ...known.metadata, deletionGracePeriodSeconds: 0 } });
  });
  api.put(PODS, going(running));
  await api.waitForCalls({ verb: 'delete', plural: 'pods' });
  api.put(PODS, apiPod('later'));
  await shown('later', isRunning);
  assert.equal(api.callsOf({ verb: 'delete', plural: 'pods' }).length, 1);
  assert.ok(await shown('kept', ({ status }) => status?.phase === 'Failed'));
  api.remove(PODS, { namespace: 'default', name: 'kept' });
  await kubelet.until('it is removed', () => kubelet.handle.pods().length === 1);
  await close();
});

test('a pod deleted and recreated with the same name starts while the old one stops', async () => {
  const { api, kubelet, shown, close } = await startFakeCluster();
  api.put(PODS, apiPod('web'));
  await shown('web', isRunning);
  kubelet.runtime.inject('stopContainer', { error: new Error('not yet') });
  api.remove(PODS, { namespace: 'default', name: 'web' });
  api.put(PODS, apiPod('web', { uid: 'uid-other' }));
  const other = await shown('web', isRunning);
  assert.equal(other.metadata.uid, 'uid-other');
  assert.equal(kubelet.handle.pods().length, 2);
  kubelet.runtime.inject('stopContainer', { times: 0 });
  await kubelet.until('the old one is removed', () => kubelet.handle.pods().length === 1);
  await close();
});

test('a pod with unsupported fields fails, and an invalid one does no harm', async () => {
  const { api, shown, close } = await startFakeCluster();
  const volumes = [{ name: 'data', rbd: { image: 'x' } }];
  const containers = [{ name: 'c', image: 'busybox:1' }];
  api.put(PODS, apiPod('foreign', { spec: { containers, volumes } as object }));
  api.put(PODS, apiPod('odd', { spec: { containers: 'many' } as object }));
  api.put(PODS, {
    metadata: { name: '../../x', namespace: 'default', uid: 'u' },
    spec: { nodeName: 'node' },
  } as object as Pod);
  const failed = await shown('foreign', ({ status }) => status?.phase === 'Failed');
  assert.equal(failed.status!.reason, 'UnexpectedAdmissionError');
  assert.equal(failed.status!.message, 'Pod was rejected: spec.volumes[0].rbd is not supported');
  const odd = await shown('odd', ({ status }) => status?.phase === 'Failed');
  assert.match(odd.status!.message!, /spec.containers must be a list/);
  api.put(PODS, apiPod('web', { spec: { futureField: { deep: [1] } } as object }));
  assert.deepEqual((await shown('web', isRunning)).spec['futureField' as 'hostname'], { deep: [1] });
  await close();
});

test('a readiness gate that is set at the API server makes the pod ready', async () => {
  const { api, shown, close } = await startFakeCluster();
  api.put(PODS, apiPod('web', { spec: { readinessGates: [{ conditionType: 'example.com/gate' }] } }));
  const running = await shown('web', isRunning);
  assert.equal(conditionOf(running, 'Ready')?.reason, 'ReadinessGatesNotReady');
  const gate = { type: 'example.com/gate', status: 'True' } as const;
  api.put(PODS, { ...running, status: { ...running.status!, conditions: [gate, ...running.status!.conditions!] } });
  await shown('web', (pod) => conditionOf(pod, 'Ready')?.status === 'True');
  await close();
});

test('after a restart, a pod keeps its status at the API server, and an ended one stays ended', async () => {
  const api = fakeApi();
  const ended = apiPod('done');
  const startTime = '2026-02-03T04:05:06Z';
  api.put(PODS, { ...ended, status: { phase: 'Failed', reason: 'Evicted', message: 'gone', startTime } });
  const { kubelet, shown, close } = await startFakeCluster({ api });
  api.put(PODS, apiPod('web'));
  const before = await shown('web', isRunning);
  await kubelet.restart();
  await kubelet.pod('web', isRunning);
  const after = await shown('web', isRunning);
  assert.deepEqual(after.status, before.status);
  const done = await shown('done', () => true);
  assert.deepEqual([done.status!.phase, done.status!.reason, done.status!.startTime], ['Failed', 'Evicted', startTime]);
  assert.equal(callsOf(kubelet.runtime, 'runPodSandbox'), 1);
  await close();
});

test('a static pod has a mirror pod at the API server, which is recreated if deleted, and removed with the pod', async () => {
  const { api, kubelet, shown, gone, close } = await startFakeCluster();
  kubelet.apply(staticPod('one'));
  const mirror = await shown('local-node', isRunning);
  const { annotations, ownerReferences } = mirror.metadata;
  assert.deepEqual(ownerReferences, [
    { apiVersion: 'v1', kind: 'Node', name: 'node', uid: 'uid-of-node', controller: true },
  ]);
  const { uid } = kubelet.runtime.sandboxes[0]!.config.metadata!;
  assert.equal(annotations!['kubernetes.io/config.hash'], uid);
  assert.equal(annotations!['podwright.dev/config.content'], undefined);
  assert.equal(annotations!['kubernetes.io/config.source'], 'file');
  assert.deepEqual(mirror.spec.tolerations, [{ operator: 'Exists', effect: 'NoExecute' }]);
  api.remove(PODS, { namespace: 'default', name: 'local-node' });
  const again = await shown('local-node', (pod) => isRunning(pod) && pod.metadata.uid !== mirror.metadata.uid);
  api.put(PODS, going(again));
  const third = await shown('local-node', (pod) => isRunning(pod) && pod.metadata.uid !== again.metadata.uid);
  kubelet.apply(staticPod('two'));
  await shown('local-node', (pod) => isRunning(pod) && pod.metadata.uid !== third.metadata.uid);
  kubelet.apply('');
  await gone('local-node');
  await close();
});

test('static pods may not reference API objects', async () => {
  const { api, kubelet, shown, close } = await startFakeCluster();
  kubelet.apply(`
apiVersion: v1
kind: Pod
metadata: { name: wrong }
spec: { serviceAccountName: default, containers: [{ name: main, image: 'busybox:1' }] }
---
apiVersion: v1
kind: Pod
metadata: { name: right }
spec: { containers: [{ name: main, image: 'busybox:1' }] }`);
  await shown('right-node', isRunning);
  assert.equal(api.stored(PODS, { namespace: 'default', name: 'wrong-node' }), undefined);
  assert.match(String(kubelet.handle.manifestErrors()), /static pods may not reference serviceaccounts/);
  await close();
});

test('without the API server, static pods run, and running API pods are kept until it has been read', async () => {
  const first = await startFakeCluster();
  first.api.put(PODS, apiPod('web'));
  await first.shown('web', isRunning);
  await first.kubelet.handle.close();
  const api = fakeApi();
  api.put(PODS, first.api.stored(PODS, { namespace: 'default', name: 'web' })!);
  const refused = refusal(503, 'ServiceUnavailable');
  api.script({ verb: 'watch', plural: 'nodes' }, refused);
  api.script({ verb: 'list', plural: 'nodes' }, refused);
  const { runtime } = first.kubelet;
  const manifest = staticPod('one');
  const second = await startFakeCluster({ api, runtime, manifest, untilReady: false });
  await second.kubelet.pod('local-node', isRunning);
  assert.equal(second.kubelet.handle.areSourcesReady, false);
  await second.kubelet.handle.sourcesReady;
  await second.kubelet.pod('web', isRunning);
  assert.equal(callsOf(runtime, 'stopContainer'), 0);
  await second.shown('local-node', isRunning);
  await second.close();
  await first.close();
});

test('during an outage, one pod is tried at a time, and all statuses are reported afterwards', async () => {
  const { api, kubelet, shown, close } = await startFakeCluster();
  for (const name of ['a', 'b', 'c']) api.put(PODS, apiPod(name));
  for (const name of ['a', 'b', 'c']) await shown(name, isRunning);
  const down = refusal(503, 'ServiceUnavailable');
  api.script({ verb: 'delete', plural: 'pods' }, ...Array<Error>(2).fill(down));
  for (const name of ['a', 'b', 'c']) api.put(PODS, going(await shown(name, isRunning)));
  await kubelet.until('all have ended', () => kubelet.handle.pods().every(isEnded));
  for (const name of ['a', 'b', 'c'])
    await kubelet.until(`${name} is removed`, () => api.stored(PODS, { namespace: 'default', name }) === undefined);
  assert.equal(api.callsOf({ verb: 'delete', plural: 'pods' }).length, 5);
  await close();
});

test('mirror pods wait for the node', async () => {
  const api = fakeApi();
  api.remove(NODES, { name: 'node' });
  api.script({ verb: 'create', plural: 'nodes' }, ...Array<Error>(1000).fill(refusal(503, 'ServiceUnavailable')));
  const manifest = staticPod('one');
  const { kubelet, shown, close } = await startFakeCluster({ api, manifest });
  await kubelet.pod('local-node', isRunning);
  assert.equal(api.callsOf({ verb: 'create', plural: 'pods' }).length, 0);
  api.put(NODES, { metadata: { name: 'node', uid: 'uid-of-node' } });
  await shown('local-node', isRunning);
  await close();
});

test('if killed at any stage of reporting a status or deleting a pod, the next kubelet completes it', async () => {
  for (const stage of ['status/merged', 'status/patched', 'status/deleted']) {
    const reached = Promise.withResolvers<void>();
    let armed = false;
    const failpoint = (at: string) => {
      if (!armed || at !== stage) return undefined;
      armed = false;
      reached.resolve();
      return new Promise<void>(() => undefined);
    };
    const { api, kubelet, shown, gone, close } = await startFakeCluster({ failpoint });
    api.put(PODS, apiPod('web'));
    const running = await shown('web', isRunning);
    armed = true;
    api.put(PODS, going(running));
    await reached.promise;
    await kubelet.restart();
    await gone('web');
    await kubelet.until(`nothing is left after ${stage}`, () => kubelet.runtime.sandboxes.length === 0);
    await close();
  }
});

test('a mirror pod from an earlier version, without the UID in its hash annotation, is recreated', async () => {
  const { api, kubelet, shown, close } = await startFakeCluster({ manifest: staticPod('one') });
  const first = await shown('local-node', isRunning);
  await kubelet.handle.close();
  const annotations = { ...first.metadata.annotations };
  annotations['kubernetes.io/config.hash'] = annotations['kubernetes.io/config.mirror']!;
  api.put(PODS, { ...first, metadata: { ...first.metadata, annotations } });
  await kubelet.restart();
  const again = await shown('local-node', (pod) => isRunning(pod) && pod.metadata.uid !== first.metadata.uid);
  const hash = 'kubernetes.io/config.hash';
  assert.equal(again.metadata.annotations![hash], first.metadata.annotations![hash]);
  assert.equal(callsOf(kubelet.runtime, 'runPodSandbox'), 1);
  await close();
});

test('if killed while recreating a mirror pod, the next kubelet completes it', async () => {
  for (const stage of ['mirror/deleted', 'mirror/created']) {
    const reached = Promise.withResolvers<void>();
    let armed = false;
    const failpoint = (at: string) => {
      if (!armed || at !== stage) return undefined;
      armed = false;
      reached.resolve();
      return new Promise<void>(() => undefined);
    };
    const { api, kubelet, shown, close } = await startFakeCluster({ failpoint, manifest: staticPod('one') });
    const first = await shown('local-node', isRunning);
    armed = true;
    kubelet.apply(staticPod('two'));
    await reached.promise;
    await kubelet.restart();
    await shown('local-node', (pod) => isRunning(pod) && pod.metadata.uid !== first.metadata.uid);
    assert.equal(api.callsOf({ verb: 'create', plural: 'pods' }).length, 2);
    await close();
  }
});

test('a pod deleted while the kubelet was stopped ends after it starts', async () => {
  const { api, kubelet, shown, gone, close } = await startFakeCluster();
  for (const name of ['web', 'away']) api.put(PODS, apiPod(name));
  const running = await shown('web', isRunning);
  await shown('away', isRunning);
  await kubelet.handle.close();
  api.put(PODS, going(running));
  api.remove(PODS, { namespace: 'default', name: 'away' });
  api.put(PODS, going(apiPod('never')));
  await kubelet.restart();
  for (const name of ['web', 'never']) await gone(name);
  await kubelet.until('nothing is left', () => kubelet.runtime.sandboxes.length === 0);
  assert.equal(callsOf(kubelet.runtime, 'runPodSandbox'), 2);
  await close();
});

test('a deletion with a shorter grace period shortens the one in progress', async () => {
  const { api, kubelet, shown, gone, close } = await startFakeCluster();
  api.put(PODS, apiPod('web'));
  const running = await shown('web', isRunning);
  kubelet.runtime.inject('stopContainer', { delayMs: 60_000, times: 1 });
  api.put(PODS, going(running, 600));
  await kubelet.until('it is being stopped', () => callsOf(kubelet.runtime, 'stopContainer') > 0);
  api.put(PODS, going(running, 1));
  await gone('web');
  const stops = kubelet.runtime.calls.filter(({ method }) => method === 'stopContainer');
  assert.deepEqual(
    stops.slice(0, 2).map(({ request }) => Number((request as { timeout: bigint }).timeout)),
    [600, 2], // never less than two at the runtime, as upstream
  );
  await close();
});

test('ephemeral containers and resizes from the API server are applied', async () => {
  const { api, shown, close } = await startFakeCluster();
  const amounts = (cpu: string) => ({ requests: { cpu, memory: '16Mi' } });
  const container = { name: 'main', image: 'busybox:1', imagePullPolicy: 'IfNotPresent' } as const;
  api.put(PODS, apiPod('web', { spec: { containers: [{ ...container, resources: amounts('100m') }] } }));
  const running = await shown('web', isRunning);
  const ephemeralContainers = [{ ...container, name: 'debugger', targetContainerName: 'main' }];
  api.put(PODS, { ...running, spec: { ...running.spec, ephemeralContainers } });
  const debugged = await shown('web', ({ status }) => {
    return status?.ephemeralContainerStatuses?.[0]?.state.running !== undefined;
  });
  const containers = [{ ...container, resources: amounts('200m') }];
  api.put(PODS, {
    ...debugged,
    metadata: { ...debugged.metadata, generation: 3 },
    spec: { ...debugged.spec, containers },
  });
  const resized = await shown(
    'web',
    ({ status }) => status?.containerStatuses?.[0]?.allocatedResources?.cpu === '200m',
  );
  assert.equal(resized.status!.containerStatuses![0]!.restartCount, 0);
  await shown('web', ({ status }) => status?.observedGeneration === 3);
  const most = [{ ...container, resources: amounts('900000m') }];
  const current = await shown('web', isRunning);
  api.put(PODS, {
    ...current,
    metadata: { ...current.metadata, generation: 4 },
    spec: { ...current.spec, containers: most },
  });
  const waiting = await shown('web', (pod) => conditionOf(pod, 'PodResizePending') !== undefined);
  assert.equal(waiting.status!.containerStatuses![0]!.allocatedResources!.cpu, '200m');
  await close();
});

test('a pod marked as Failed by another client is ended', async () => {
  const { api, kubelet, shown, close } = await startFakeCluster();
  api.put(PODS, apiPod('lost'));
  const lost = await shown('lost', isRunning);
  api.put(PODS, { ...lost, status: { ...lost.status!, phase: 'Failed', reason: 'NodeLost', message: 'away' } });
  const ended = await shown('lost', ({ status }) => status?.containerStatuses?.[0]?.state.terminated !== undefined);
  assert.deepEqual([ended.status!.phase, ended.status!.reason, ended.status!.message], ['Failed', 'NodeLost', 'away']);
  assert.equal(callsOf(kubelet.runtime, 'stopContainer'), 1);
  await close();
});

test('a static pod preempts an API server pod', async () => {
  const { api, kubelet, shown, close } = await startFakeCluster({ maxPods: 1 });
  api.put(PODS, apiPod('web'));
  await shown('web', isRunning);
  kubelet.apply(staticPod('one'));
  const displaced = await shown('web', ({ status }) => status?.phase === 'Failed');
  assert.equal(displaced.status!.reason, 'Preempting');
  const { lastTransitionTime: _, lastProbeTime: __, ...target } = conditionOf(displaced, 'DisruptionTarget')!;
  const message = 'Pod was preempted by Kubelet to accommodate a critical pod.';
  assert.deepEqual(target, {
    ...{ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message },
    observedGeneration: 1,
  });
  await shown('local-node', isRunning);
  await close();
});

test('API server pods cannot be changed via the kubelet', async () => {
  const { api, kubelet, shown, close } = await startFakeCluster();
  api.put(PODS, apiPod('web'));
  await shown('web', isRunning);
  const refused = { code: 'failed_precondition' };
  assert.throws(() => kubelet.handle.deletePod('uid-web'), refused);
  const same = (before: EphemeralContainer[]) => before;
  await assert.rejects(kubelet.handle.changeEphemeralContainers(kubelet.handle.pods()[0]!, same), refused);
  await close();
});

test('a pod of 1.5 MB runs, with small status patches', async () => {
  const { api, shown, close } = await startFakeCluster();
  const annotations = { 'example.com/big': 'x'.repeat(3 << 19) };
  api.put(PODS, apiPod('big', { annotations }));
  await shown('big', isRunning);
  for (const { body } of api.callsOf({ verb: 'patch' })) assert.ok(JSON.stringify(body).length < 10_000);
  await close();
});
