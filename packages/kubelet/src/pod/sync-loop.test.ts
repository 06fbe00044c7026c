import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { silentLogger, waitFor } from '@podwright/base';
import type { Node, Pod } from '@podwright/kube-api';
import { PodDirectories } from '@podwright/volumes';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { ProbeResult } from '../prober/probe-results.ts';
import { StatusManager } from '../status/status-manager.ts';
import type { StatusRecord } from '../status/status-records.ts';
import { PodAdmission } from './admission.ts';
import { EphemeralContainers } from './ephemeral-containers.ts';
import { PodManager } from './pod-manager.ts';
import type { PodWorkers } from './pod-workers.ts';
import { SyncLoop } from './sync-loop.ts';

function podOf(uid: string, namespace = 'default'): Pod {
  const metadata = { name: `pod-${uid}`, namespace, uid };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } };
}

const node = {
  name: 'here',
  labels: {},
  maxPods: 2,
  allowedUnsafeSysctls: [],
  resources: { cpu: 2000n, memory: 1n << 30n },
};

type Given = {
  runtimePods?: string[];
  known?: string[];
  records?: [string, StatusRecord][];
  allocated?: (pod: Pod) => Pod;
  waiting?: string[];
  readNode?: () => Promise<Node>;
};

/** A sync loop whose workers log their calls; `known` contains the UIDs that have a worker. */
function start(given: Given = {}) {
  const { runtimePods = [], known = [], records = [], allocated = (pod) => pod, waiting = [], readNode } = given;
  const calls: string[] = [];
  const stopped = Promise.withResolvers<void>();
  const workers = {
    update: ({ metadata }: Pod) => void calls.push(`update ${metadata.uid}`),
    retry: (uid: string) => void calls.push(`retry ${uid}`),
    notice: (uid: string) => void calls.push(`notice ${uid}`),
    has: (uid: string) => known.includes(uid),
    mayRun: () => true,
    whenStopped: () => stopped.promise,
    end: async ({ metadata }: Pod, end: object) => void calls.push(`end ${metadata.uid} ${JSON.stringify(end)}`),
  };
  const seen: string[] = [];
  const runtime = runtimePods.map(
    (uid): RuntimePodStatus => ({ pod: { uid, namespace: 'd', name: uid }, sandboxes: [], containers: [] }),
  );
  const unread: RuntimePodStatus[] = [];
  const admission = new PodAdmission((object) => ({ ...node, labels: object?.metadata.labels ?? {} }));
  const statuses = new StatusManager(new Map(records));
  const answers = new Map<string, ProbeResult>();
  const loop = new SyncLoop({
    ephemeral: new EphemeralContainers(new PodDirectories('/none')),
    manager: new PodManager(),
    workers: workers as unknown as PodWorkers,
    admission,
    allocated,
    isWaiting: (uid) => waiting.includes(uid),
    ...(readNode === undefined ? {} : { readNode }),
    statuses,
    probes: { readiness: (id) => answers.get(id), startup: () => undefined },
    events: { event: (about, _, reason) => void calls.push(`event ${about.uid} ${reason}`) },
    runtimePods: () => runtime,
    listedPods: () => [...runtime, ...unread].map(({ pod }) => pod),
    observer: {
      seen: ({ metadata }) => void seen.push(metadata.uid),
      changed: (before, after) => void seen.push(`${before.metadata.uid} changed to ${after.metadata.uid}`),
      refused: (reason) => void seen.push(`refused ${reason}`),
      preempted: (resource) => void seen.push(`preempted for ${resource}`),
      orphaned: () => void seen.push('orphaned'),
    },
    logger: silentLogger,
  });
  const add = (...pods: Pod[]) => loop.handlePods({ operation: 'ADD', source: 'file', pods });
  return { loop, calls, seen, add, admission, statuses, stopped, answers, runtime, unread };
}

test('pods from a source are passed to their workers, and observed as new only once', () => {
  const { loop, calls, seen } = start();
  loop.handlePods({ operation: 'ADD', source: 'file', pods: [podOf('a'), podOf('b')] });
  loop.handlePods({ operation: 'UPDATE', source: 'file', pods: [podOf('a')] });
  assert.deepEqual(calls, ['update a', 'update b', 'update a']);
  assert.deepEqual(seen, ['a', 'b', 'a changed to a']);
});

test('a pod is listed as Pending before its first sync, without a published status', () => {
  const { loop, add, statuses } = start();
  const shown = () => statuses.pods().map(({ metadata, status }) => [metadata.uid, metadata.labels?.a, status?.phase]);
  add(podOf('a'));
  assert.deepEqual(shown(), [['a', undefined, 'Pending']]);
  assert.equal(statuses.get('a'), undefined);
  const { metadata, ...pod } = podOf('a');
  statuses.relabel({ ...pod, metadata: { ...metadata, labels: { a: 'b' } } });
  assert.deepEqual(shown(), [['a', 'b', 'Pending']]);
  statuses.set(podOf('a'), { phase: 'Running' });
  loop.handlePods({ operation: 'REMOVE', source: 'file', pods: [podOf('a')] });
  add(podOf('a'));
  assert.equal(statuses.get('a')?.phase, 'Running', 'the published status stays');
});

test('a leftover pod with the same name ends first, unless its source may still contain it', () => {
  const check = (file: string, source: 'file' | 'http', expected: string[]) => {
    const { loop, calls, runtime } = start();
    const owner = { uid: 'old', namespace: 'default', name: 'pod-new', file };
    const sandbox = { id: 's', owner, ready: true, attempt: 0, createdAtMs: 0, hostNetwork: false, ips: [] };
    runtime.push({ pod: owner, sandboxes: [sandbox], containers: [] });
    loop.handlePods({ operation: 'ADD', source, pods: [podOf('other'), podOf('new')] });
    assert.deepEqual(calls, expected);
  };
  check('pod.yaml', 'file', ['update other', 'end old {"remove":true}', 'update new']);
  check('http://host/pods', 'http', ['update other', 'end old {"remove":true}', 'update new']);
  check('http://host/pods', 'file', ['update other', 'update new']);
  check('pod.yaml', 'http', ['update other', 'update new']);
  const { calls, unread, add } = start();
  unread.push({ pod: { uid: 'old', namespace: 'default', name: 'pod-new' }, sandboxes: [], containers: [] });
  add(podOf('new'));
  assert.deepEqual(calls, ['end old {"remove":true}', 'update new'], 'also one whose status could not be read');
});

test('admission uses the allocated resources of a pod, not those of a deferred resize', () => {
  const asking = (uid: string, cpu: string): Pod => ({
    ...podOf(uid),
    spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }] },
  });
  const check = (has: string, expected: string | undefined) => {
    const { loop, add, admission } = start({ allocated: ({ metadata: { uid } }) => asking(uid, has) });
    add(asking('a', '100m'));
    loop.handlePods({ operation: 'UPDATE', source: 'file', pods: [asking('a', '500')] });
    add(asking('b', '1'));
    assert.equal(admission.refusalOf('b')?.reason, expected);
  };
  check('100m', undefined);
  check('1500m', 'OutOfcpu');
});

test('deferred resizes are retried after another pod has been removed', async () => {
  const { loop, calls, add } = start({ waiting: ['b'] });
  add(podOf('a'), podOf('b'));
  loop.handlePods({ operation: 'REMOVE', source: 'file', pods: [podOf('a')] });
  await waitFor(() => calls.length > 3 || undefined, { intervalMs: 1, signal: AbortSignal.timeout(30_000) });
  assert.deepEqual(calls, ['update a', 'update b', 'end a {"remove":true}', 'retry b']);
});

test('a pod that left its source is terminated and removed, and counts as new if it is added again', () => {
  const { loop, calls, seen } = start();
  loop.handlePods({ operation: 'ADD', source: 'file', pods: [podOf('a')] });
  loop.handlePods({ operation: 'REMOVE', source: 'file', pods: [podOf('a')] });
  loop.handlePods({ operation: 'ADD', source: 'file', pods: [podOf('a')] });
  assert.deepEqual(calls, ['update a', 'end a {"remove":true}', 'update a']);
  assert.deepEqual(seen, ['a', 'a']);
});

test('pods known only to the runtime are terminated, but not pods from a source or terminating pods', () => {
  const { loop, calls } = start({ runtimePods: ['a', 'b', 'c'], known: ['b'] });
  loop.handlePods({ operation: 'ADD', source: 'file', pods: [podOf('a')] });
  loop.endOrphans(new Set());
  assert.deepEqual(calls, ['update a', 'end c {"remove":true}']);
});

test('an evicted pod gets a short grace period and keeps its status', () => {
  const { loop, calls } = start();
  loop.evict(podOf('a'), { verdict: { reason: 'Evicted', message: 'too large' }, gracePeriodSeconds: 1 });
  const end = { verdict: { reason: 'Evicted', message: 'too large' }, gracePeriodSeconds: 1, remove: false };
  assert.deepEqual(calls, [`end a ${JSON.stringify(end)}`]);
});

test('runtime events and probe results notify a worker, and a changed object triggers a retry of its pods', () => {
  const { loop, calls } = start();
  loop.handlePods({ operation: 'ADD', source: 'file', pods: [podOf('a', 'one'), podOf('b', 'two')] });
  calls.length = 0;
  loop.handleLifecycle('a');
  loop.handleProbe({ kind: 'liveness', podUid: 'b', containerName: 'app', containerId: 'c', result: 'failure' });
  loop.handleObject({ kind: 'ConfigMap', namespace: 'two', name: 'conf' });
  loop.handleObject({ kind: 'RuntimeClass', namespace: '', name: 'class' });
  assert.deepEqual(calls, ['notice a', 'notice b', 'retry b', 'retry a', 'retry b']);
});

const record = (uid: string, phase: 'Failed' | 'Running'): [string, StatusRecord] => [
  uid,
  { namespace: 'default', name: `pod-${uid}`, status: { phase } },
];

test('pods that arrive together are admitted in order up to the maximum, and each is decided on once', () => {
  const { add, loop, admission, calls } = start();
  add(podOf('a'), podOf('b'), podOf('c'));
  assert.deepEqual(
    ['a', 'b', 'c'].map((uid) => admission.isAdmitted(uid)),
    [true, true, false],
  );
  assert.equal(admission.refusalOf('c')?.reason, 'OutOfpods');
  assert.deepEqual(calls, ['update a', 'update b', 'update c']);
  loop.handlePods({ operation: 'REMOVE', source: 'file', pods: [podOf('a')] });
  loop.handlePods({ operation: 'UPDATE', source: 'file', pods: [podOf('c')] });
  assert.equal(admission.isAdmitted('c'), false, 'the decision stays');
  loop.handlePods({ operation: 'REMOVE', source: 'file', pods: [podOf('c')] });
  add(podOf('c'));
  assert.equal(admission.isAdmitted('c'), true, 'it was added again');
});

test('pods that already ran here and critical pods are admitted first', () => {
  const critical = podOf('d');
  critical.spec.priority = 2_000_000_000;
  const { add, calls, admission } = start({ runtimePods: ['c'], records: [record('b', 'Running')] });
  add(podOf('a'), critical, podOf('b'), podOf('c'));
  assert.deepEqual(calls.slice(0, 2), ['update b', 'update c']);
  assert.equal(admission.isAdmitted('a'), false);
});

test('a pod that ended before the kubelet restart skips admission', () => {
  const { add, calls, admission } = start({ records: [record('a', 'Failed')] });
  add(podOf('a'));
  assert.deepEqual([calls, admission.isAdmitted('a')], [['update a'], false]);
});

test('a critical pod starts when the preempted pods have stopped', async () => {
  const { add, calls, stopped, admission } = start();
  const critical = podOf('c');
  critical.spec.priority = 2_000_000_000;
  add(podOf('a'), podOf('b'));
  calls.length = 0;
  add(critical);
  assert.equal(admission.isAdmitted('c'), true);
  assert.equal(calls[0], 'event b Preempting');
  assert.match(calls[1]!, /^end b .*"reason":"Preempting".*"remove":false/);
  assert.equal(calls.length, 2);
  stopped.resolve();
  await waitFor(() => calls.includes('update c') || undefined, { intervalMs: 1, signal: AbortSignal.timeout(3000) });
});

for (const operation of ['UPDATE', 'REMOVE'] as const)
  test(`a critical pod does not start early on ${operation} while preempted pods are stopping`, async () => {
    const { add, calls, loop, stopped } = start();
    const critical = podOf('c');
    critical.spec.priority = 2_000_000_000;
    add(podOf('a'), podOf('b'));
    add(critical);
    calls.length = 0;
    loop.handlePods({ operation, source: 'file', pods: [critical] });
    assert.ok(!calls.includes('update c'), calls.join());
    stopped.resolve();
    await setImmediate();
    assert.equal(calls.includes('update c'), operation === 'UPDATE');
  });

test('the observer is notified of rejected, preempted and orphaned pods', () => {
  const { loop, seen, add, runtime } = start();
  add(podOf('a'));
  loop.handlePods({ operation: 'UPDATE', source: 'file', pods: [podOf('a')] });
  add(podOf('b'), podOf('c'));
  const critical = podOf('d');
  critical.spec.priority = 2_000_000_000;
  add(critical);
  runtime.push({ pod: { uid: 'x', namespace: 'd', name: 'x' }, sandboxes: [], containers: [] });
  loop.endOrphans(new Set());
  const expected = ['a', 'a changed to a', 'b', 'c', 'refused OutOfpods', 'd', 'preempted for pods', 'orphaned'];
  assert.deepEqual(seen, expected);
});

test('probe results are published immediately, even if the worker is busy', () => {
  const { add, loop, statuses, answers } = start();
  const pod = podOf('a');
  pod.spec.containers = [{ name: 'app', image: 'i', readinessProbe: {} }];
  add(pod);
  const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };
  const shown = { name: 'app', state: running, lastState: {}, restartCount: 0, image: 'i', imageID: '', ready: true };
  statuses.set(pod, { phase: 'Running', containerStatuses: [{ ...shown, containerID: 'fake://c' }] });
  const update = { kind: 'readiness', podUid: 'a', containerName: 'app', containerId: 'c' } as const;
  for (const result of ['failure', 'success'] as const) {
    answers.set('c', result);
    loop.handleProbe({ ...update, result });
    const status = statuses.get('a')!;
    assert.equal(status.containerStatuses![0]!.ready, result === 'success');
    const ready = status.conditions!.find(({ type }) => type === 'Ready')!;
    assert.equal(ready.status, result === 'success' ? 'True' : 'False');
  }
});

test('a pod whose manifest is invalid at startup keeps running', () => {
  const { loop, calls, runtime } = start({ runtimePods: ['a', 'b', 'c', 'd'] });
  for (const [index, file] of ['/manifests/half.yaml', '/manifests/whole.yaml', '/replaced/c.yaml'].entries()) {
    const owner = { uid: 'abc'.charAt(index), namespace: 'd', name: 'a', file };
    const sandbox = { id: 's', owner, ready: true, attempt: 0, createdAtMs: 0, hostNetwork: false, ips: [] };
    runtime[index]!.sandboxes.push(sandbox);
  }
  loop.endOrphans(new Set(['/manifests/half.yaml', '/replaced'])); // `/replaced` was a manifest directory, and is now an invalid file
  assert.deepEqual(calls, ['end b {"remove":true}', 'end d {"remove":true}']);
});

test('a pod that does not match the cached Node object is checked against the current one', async () => {
  const reads: PromiseWithResolvers<Node>[] = [];
  const readNode = () => {
    const read = Promise.withResolvers<Node>();
    reads.push(read);
    return read.promise;
  };
  const { loop, calls, seen } = start({ readNode });
  const picky = (uid: string): Pod => ({ ...podOf(uid), spec: { containers: [], nodeSelector: { disk: 'ssd' } } });
  const handle = (operation: 'ADD' | 'UPDATE' | 'RECONCILE' | 'REMOVE', ...pods: Pod[]) =>
    loop.handlePods({ operation, source: 'api', pods });
  handle('ADD', picky('a'), picky('b'), picky('c'), picky('d'), picky('e'));
  for (const operation of ['UPDATE', 'RECONCILE'] as const) handle(operation, picky('a'), picky('b'), picky('c'));
  assert.deepEqual([calls, reads.length], [[], 5]);
  const { metadata, ...pod } = picky('c');
  handle('UPDATE', { ...pod, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
  handle('REMOVE', picky('d'));
  void loop.end(picky('e'));
  const nodeWith = (labels: Record<string, string>): Node => ({ metadata: { name: 'here', labels } }) as Node;
  for (const [index, read] of reads.entries())
    read.resolve(nodeWith(index === 0 || index === 4 ? { disk: 'ssd' } : {}));
  const signal = AbortSignal.timeout(30_000);
  await waitFor(() => calls.filter((one) => one.startsWith('update')).length === 2 || undefined, {
    intervalMs: 1,
    signal,
  });
  assert.deepEqual(
    calls.map((one) => one.split(' ').slice(0, 2).join(' ')),
    ['end c', 'end d', 'end e', 'update a', 'update b'],
  );
  assert.deepEqual(
    seen.filter((one) => one.startsWith('refused')),
    ['refused NodeAffinity'],
  );
});

test('if the Node object cannot be read, the cached one is used', async () => {
  const { add, calls, admission } = start({ readNode: () => Promise.reject(new Error('away')) });
  add({ ...podOf('a'), spec: { containers: [], nodeSelector: { disk: 'ssd' } } });
  const signal = AbortSignal.timeout(30_000);
  await waitFor(() => calls.length > 0 || undefined, { intervalMs: 1, signal });
  assert.equal(admission.refusalOf('a')?.reason, 'NodeAffinity');
});
