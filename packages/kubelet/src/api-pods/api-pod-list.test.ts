import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { KubeObject, Pod } from '@podwright/kube-api';
import { ApiPodList } from './api-pod-list.ts';
import { apiPod } from './api-pods.fixture.ts';
import { decodeApiPod } from './decode-api-pod.ts';

function start() {
  const updates: string[] = [];
  const names = (pods: Pod[]) => pods.map(({ metadata }) => metadata.uid).join(' ');
  const list = new ApiPodList({
    logger: silentLogger,
    onUpdate: ({ operation, pods }) => void updates.push(`${operation} ${names(pods)}`),
    mirrors: {
      set: ({ metadata }) => void updates.push(`mirror ${metadata.uid}`),
      delete: ({ metadata }) => void updates.push(`no mirror ${metadata.uid}`),
    },
  });
  const put = (object: KubeObject) => list.change({ type: 'MODIFIED', object });
  return { list, updates, put };
}

test('pod changes are classified like in upstream’s kubelet', () => {
  const { list, updates, put } = start();
  const pod = apiPod('a');
  list.begin([pod, apiPod('b')]);
  put(pod);
  put({ ...pod, status: { ...pod.status, phase: 'Running' } } as KubeObject);
  put({ ...pod, metadata: { ...pod.metadata, labels: { x: 'y' } } });
  const going = { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 };
  put({ ...pod, metadata: going });
  put({ ...pod, metadata: { ...going, deletionGracePeriodSeconds: 1 } });
  put({ ...pod, metadata: { ...going, deletionGracePeriodSeconds: 1, resourceVersion: '9' } });
  list.change({ type: 'DELETED', object: pod });
  list.change({ type: 'DELETED', object: pod });
  put(apiPod('c'));
  const expected = ['ADD uid-a uid-b', 'RECONCILE uid-a', 'UPDATE uid-a', 'DELETE uid-a', 'DELETE uid-a'];
  assert.deepEqual(updates, [...expected, 'REMOVE uid-a', 'ADD uid-c']);
});

test('a pod recreated with the same name during an outage is a different pod', () => {
  const { list, updates, put } = start();
  list.begin([]);
  put(apiPod('a'));
  put(apiPod('a', { uid: 'other' }));
  list.change({ type: 'DELETED', object: apiPod('a') });
  assert.deepEqual(updates, ['ADD ', 'ADD uid-a', 'REMOVE uid-a', 'ADD other']);
});

test('mirror pods are not run', () => {
  const { list, updates, put } = start();
  const mirror = apiPod('m', { annotations: { 'kubernetes.io/config.mirror': 'hash' } });
  list.begin([mirror]);
  put({ ...mirror, status: { phase: 'Running' } } as KubeObject);
  list.change({ type: 'DELETED', object: mirror });
  assert.deepEqual(updates, ['mirror uid-m', 'ADD ', 'mirror uid-m', 'no mirror uid-m']);
});

test('an unsupported change does not affect the running spec', () => {
  const seen: Pod[] = [];
  const list = new ApiPodList({
    logger: silentLogger,
    onUpdate: ({ pods }) => void seen.push(...pods),
    mirrors: { set: () => assert.fail(), delete: () => assert.fail() },
  });
  list.begin([apiPod('a')]);
  list.change({
    type: 'MODIFIED',
    object: apiPod('a', { labels: { x: 'y' }, spec: { restartPolicy: 'Perhaps' } as object }),
  });
  assert.deepEqual(seen[1]!.spec, seen[0]!.spec);
  assert.deepEqual(seen[1]!.metadata.labels, { x: 'y' });
});

test('a pod is decoded with unknown fields, but without managedFields', () => {
  const spec = {
    newField: { a: [1] },
    containers: [{ name: 'main', image: 'a', imagePullPolicy: 'Always', other: 1 }],
  };
  const given = { ...apiPod('a', { managedFields: [{}], selfLink: 'x' }), newPart: 1 };
  const decoded = decodeApiPod({ ...given, spec: { ...given.spec, ...spec } }, 0);
  assert.equal(decoded.kind, 'pod');
  const { pod, refusal } = decoded as { pod: Pod & Record<string, unknown>; refusal?: object };
  assert.equal(refusal, undefined);
  assert.deepEqual([pod.newPart, (pod.spec as { newField?: object }).newField], [1, { a: [1] }]);
  assert.equal((pod.spec.containers[0] as { other?: number }).other, 1);
  assert.deepEqual(Object.keys(pod.metadata).sort(), [
    'annotations',
    'generation',
    'name',
    'namespace',
    'selfLink',
    'uid',
  ]);
});

test('an API server pod cannot pretend to come from a manifest', () => {
  const forged = { 'podwright.dev/config.file': '/pods/a.yaml', 'podwright.dev/config.content': 'x' };
  const decoded = decodeApiPod(apiPod('a', { annotations: { ...forged, note: 'y' } }), 0);
  const { annotations = {} } = (decoded as { pod: Pod }).pod.metadata;
  assert.deepEqual(Object.keys(annotations).sort(), [
    'kubernetes.io/config.seen',
    'kubernetes.io/config.source',
    'note',
  ]);
});

test('fields used only by schedulers may have unknown values', () => {
  const selector = { matchExpressions: [{ key: 'a', operator: 'Near' }] };
  const check = (spec: object, expected: RegExp | undefined) => {
    const given = apiPod('a');
    const decoded = decodeApiPod({ ...given, spec: { ...given.spec, ...spec } }, 0);
    const { refusal } = decoded as { refusal?: { message: string } };
    if (expected === undefined) assert.equal(refusal, undefined, JSON.stringify(spec));
    else assert.match(refusal?.message ?? '', expected);
  };
  const preferred = [{ weight: 1, preference: selector }];
  const terms = [{ topologyKey: 'z', labelSelector: selector }];
  for (const spec of [
    { tolerations: [{ key: 'a', operator: 'Near', effect: 'NoBreath' }] },
    { preemptionPolicy: 'Sometimes' },
    { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'TryHard' }] },
    { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } },
    { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } },
  ])
    check(spec, undefined);
  check({ dnsPolicy: 'Best' }, /^spec\.dnsPolicy must be one of/);
  check({ tolerations: [{ operator: 1 }] }, /^spec\.tolerations\[0\]\.operator must be one of/);
});

test('hostile API server objects are rejected or skipped, without exceptions', () => {
  const kind = (value: unknown) => {
    const decoded = decodeApiPod(value, 0);
    return decoded.kind === 'pod' && decoded.refusal !== undefined ? 'refused' : decoded.kind;
  };
  const check = (value: unknown, expected: string) => assert.equal(kind(value), expected, JSON.stringify(value));
  for (const value of [undefined, null, 1, 'x', [], {}, { metadata: [] }, { metadata: { name: 1 } }])
    check(value, 'unusable');
  for (const name of ['../a', 'a/b', '', 'A', 'a'.repeat(300)]) check(apiPod(name), 'unusable');
  check(apiPod('a', { namespace: '..' }), 'unusable');
  check(apiPod('a', { uid: '../../etc' }), 'unusable');
  for (const spec of [
    null,
    [],
    'x',
    { containers: null },
    { containers: [null] },
    { containers: [{ name: '../a', image: 'b' }] },
  ])
    check({ ...apiPod('a'), spec }, 'refused');
  check(apiPod('a', { spec: { volumes: [{ name: '../../x', emptyDir: {} }] } }), 'refused');
  check(JSON.parse(`{"__proto__": {"x": 1}, ${JSON.stringify(apiPod('a')).slice(1)}`), 'pod');
  assert.equal(({} as { x?: number }).x, undefined);
  for (const status of [null, [], 'x', { phase: 1 }, { phase: 'Running', conditions: {}, containerStatuses: [1, {}] }])
    check({ ...apiPod('a'), status }, 'pod');
});
