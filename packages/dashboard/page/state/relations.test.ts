import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../api/objects.ts';
import { ownedBy, ownerOf, selectsPod, usedBy } from './relations.ts';

const owner = (uid: string, controller = false) => ({ apiVersion: 'v1', kind: 'X', name: uid, uid, controller });
const object = (name: string, ...owners: ReturnType<typeof owner>[]) => ({
  metadata: { name, ownerReferences: owners },
});

test('an object’s controller is its owner, and owned objects are found by UID', () => {
  const [a, b] = [object('a', owner('1'), owner('2', true)), object('b', owner('3'))];
  assert.deepEqual([ownerOf(a)?.uid, ownerOf(b)?.uid, ownerOf(object('c'))?.uid], ['2', '3', undefined]);
  assert.deepEqual(ownedBy('2', [a, b]), [a]);
});

test('a pod’s dependencies are its node, account, claims and its containers’ references, each listed once', () => {
  const pod = {
    metadata: { name: 'p', namespace: 'n', labels: { app: 'web', x: 'y' } },
    spec: {
      nodeName: 'node',
      serviceAccountName: 'default',
      volumes: [
        { name: 'd', persistentVolumeClaim: { claimName: 'data' } },
        { name: 'c', configMap: { name: 'settings', optional: true } },
      ],
      containers: [{ name: 'c', envFrom: [{ configMapRef: { name: 'settings' } }, { secretRef: { name: 'key' } }] }],
    },
  } as unknown as Pod;
  assert.deepEqual(
    usedBy(pod).map(({ object: { kind, namespace, name }, note }) => `${note} ${kind} ${namespace}/${name}`),
    [
      'runs on Node /node',
      'acts as ServiceAccount n/default',
      'mounts PersistentVolumeClaim n/data',
      'reads, if it exists ConfigMap n/settings',
      'reads Secret n/key',
    ],
  );
  const service = (selector?: Record<string, string>, namespace = 'n') => ({
    metadata: { namespace },
    spec: { selector },
  });
  assert.ok(selectsPod(service({ app: 'web' }), pod));
  assert.ok(!selectsPod(service({ app: 'db' }), pod) && !selectsPod(service({ app: 'web' }, 'm'), pod));
  assert.ok(!selectsPod(service({}), pod) && !selectsPod(service(), pod));
});
