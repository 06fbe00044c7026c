import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import type { ApiObject, ApiPort } from '../api-port.ts';
import type { Service } from '../service.ts';
import { podSelectorOf, podsOf } from './owned-pods.ts';
import { inOrderOfChoice } from './pod-order.ts';
import { podPortText } from './service-ports.ts';

type Facts = { node?: string; phase?: string; ready?: string; restarts?: number; created?: string; deleted?: true };

function pod(name: string, { node = 'n', phase = 'Running', ready, restarts = 0, created, deleted }: Facts = {}): Pod {
  return {
    metadata: { name, namespace: 'd', uid: name, creationTimestamp: created, deletionTimestamp: deleted && 'now' },
    spec: { nodeName: node, containers: [{ name: 'c', image: 'i', ports: [{ name: 'http', containerPort: 8080 }] }] },
    status: {
      phase,
      conditions: ready === undefined ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: ready }],
      containerStatuses: [{ restartCount: restarts }],
    },
  } as unknown as Pod;
}

test('the pod for a log or a stream is chosen as in kubectl', () => {
  const early = '2026-01-01T00:00:00Z';
  const late = '2026-01-02T00:00:00Z';
  const table: [Pod, Pod, logs: 'a' | 'b', streams: 'a' | 'b'][] = [
    [pod('a', { node: '' }), pod('b', { phase: 'Pending' }), 'b', 'b'],
    [pod('a', { phase: 'Pending' }), pod('b'), 'b', 'b'],
    [pod('a', { phase: 'Unknown' }), pod('b', { phase: 'Succeeded' }), 'b', 'a'],
    [pod('a'), pod('b', { ready: late }), 'b', 'b'],
    [pod('a', { ready: late }), pod('b', { ready: early }), 'b', 'b'],
    [pod('a', { restarts: 1 }), pod('b', { restarts: 3 }), 'b', 'a'],
    [pod('a', { created: late }), pod('b', { created: early }), 'b', 'b'],
    [pod('a', { deleted: true, created: early }), pod('b', { created: late }), 'a', 'b'],
  ];
  for (const [index, [a, b, logs, streams]] of table.entries()) {
    assert.equal(inOrderOfChoice([a, b], 'logs')[0]!.metadata.name, logs, `logs ${index}`);
    assert.equal(inOrderOfChoice([a, b], 'streams')[0]!.metadata.name, streams, `streams ${index}`);
  }
});

test('an object’s selector depends on its kind', () => {
  const of = (kind: string, selector?: object) => podSelectorOf({ kind, metadata: { name: 'x' }, spec: { selector } });
  assert.equal(of('Deployment', { matchLabels: { app: 'web' } }), 'app=web');
  assert.equal(of('Service', { app: 'web' }), 'app=web');
  assert.throws(() => of('Service'), { message: "invalid service 'x': Service is defined without a selector" });
  assert.throws(() => of('CronJob'), { code: 'invalid_argument' });
});

test('a missing pod is waited for until the timeout', async () => {
  const object: ApiObject = {
    kind: 'Service',
    metadata: { name: 'x', namespace: 'd' },
    spec: { selector: { a: 'b' } },
  };
  const lists: Pod[][] = [[], [pod('late')]];
  const api: ApiPort = {
    call: async () => ({ items: lists.shift() }),
    async *watch() {
      yield { type: 'ADDED', object: pod('late') };
    },
  };
  const options = { purpose: 'logs', timeoutMs: 5000 } as const;
  assert.deepEqual(
    (await podsOf(api, object, options)).map(({ metadata }) => metadata.name),
    ['late'],
  );
  const none: ApiPort = { call: async () => ({ items: [] }), async *watch() {} };
  await assert.rejects(podsOf(none, object, options), { code: 'deadline_exceeded' });
});

test('a Service’s ports are mapped to those of its pod', () => {
  const ports = [
    { name: 'www', port: 80, targetPort: 'http' },
    { name: 'raw', port: 81, targetPort: 9000 },
    { name: 'bad', port: 82, targetPort: 'none' },
    { port: 83 },
  ];
  const service = (clusterIP: string) => ({ metadata: { name: 'web' }, spec: { clusterIP, ports } }) as Service;
  const check = (text: string, expected: string, clusterIP = '10.0.0.1') =>
    assert.equal(podPortText(text, service(clusterIP), pod('p')), expected, text);
  check('80', '80:8080');
  check('www', '80:8080');
  check('8000:www', '8000:8080');
  check(':81', ':9000');
  check('83', '83:83');
  check('80', '80:80', 'None');
  assert.throws(
    () => podPortText('99', service(''), pod('p')),
    /^PodwrightError: Service web does not have a service port 99$/,
  );
  assert.throws(() => podPortText('82', service(''), pod('p')), /Pod 'p' does not have a named port 'none'/);
});
