import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LocalObject, LocalObjects, type Pod, type PodSpec, type Volume } from '@podwright/kube-api';
import { volumePayload } from './payload.ts';

const metadata = (name: string) => ({ name, namespace: 'default', uid: 'u' });

function filesOf(source: Omit<Volume, 'name'>): Record<string, string> {
  const objects = new LocalObjects();
  const stored: LocalObject[] = [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: metadata('c'),
      data: { a: '1', b: '2' },
      binaryData: { bin: '/w==' },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: metadata('s'),
      data: { key: Buffer.from('s3cret').toString('base64') },
    },
  ];
  objects.replace(stored);
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata('p'), labels: { z: '1', a: 'say "x"' } },
    spec: { containers: [{ name: 'web', image: 'i', resources: { limits: { cpu: '1500m' } } }] },
  };
  const nodeAllocatable = { cpuMillis: 1n, memoryBytes: 1n, ephemeralStorageBytes: 1n };
  const payload = volumePayload({ name: 'v', ...source }, { pod, objects, nodeAllocatable });
  return Object.fromEntries(
    [...payload].map(([path, { data, mode }]) => [path, `${mode.toString(8)} ${data.toString('latin1')}`]),
  );
}

test('without items every key is a file with the default mode', () => {
  assert.deepEqual(filesOf({ configMap: { name: 'c', defaultMode: 0o600 } }), {
    a: '600 1',
    b: '600 2',
    bin: '600 \xff',
  });
  assert.deepEqual(filesOf({ secret: { secretName: 's' } }), { key: '644 s3cret' });
});

test('a token is readable by the pod’s only user or its fsGroup, else by all users', () => {
  const source = { path: 'token', expirationSeconds: 3607 };
  const check = (spec: Partial<PodSpec>, expected: { mode: number; uid?: number }) => {
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: metadata('p'),
      spec: { containers: [{ name: 'a', image: 'i' }], ...spec },
    };
    const volume = { name: 'v', projected: { sources: [{ serviceAccountToken: source }], defaultMode: 0o644 } };
    const input = {
      pod,
      objects: new LocalObjects(),
      nodeAllocatable: { cpuMillis: 1n, memoryBytes: 1n, ephemeralStorageBytes: 1n },
    };
    const { data, mode, uid } = volumePayload(volume, { ...input, tokens: new Map([[source, 'jwt']]) }).get('token')!;
    assert.deepEqual({ text: data.toString(), mode, uid }, { text: 'jwt', uid: undefined, ...expected });
    assert.throws(() => volumePayload(volume, input), /serviceAccountToken needs an API server/);
  };
  const user = (runAsUser?: number) => ({ name: `c${runAsUser}`, image: 'i', securityContext: { runAsUser } });
  check({}, { mode: 0o644 });
  check({ securityContext: { runAsUser: 1000 } }, { mode: 0o600, uid: 1000 });
  check({ containers: [user(5)], initContainers: [user(5)] }, { mode: 0o600, uid: 5 });
  check({ containers: [user(5), user(6)] }, { mode: 0o644 });
  check({ containers: [user(5), user()] }, { mode: 0o644 });
  check({ containers: [user(5), user(6)], securityContext: { fsGroup: 7 } }, { mode: 0o600 });
});

test('items choose keys, paths and modes', () => {
  const items = [
    { key: 'a', path: 'deep/er/a' },
    { key: 'b', path: 'b2', mode: 0o400 },
  ];
  assert.deepEqual(filesOf({ configMap: { name: 'c', items } }), { 'deep/er/a': '644 1', b2: '400 2' });
});

test('missing objects and keys are named, unless they are optional', () => {
  const items = [{ key: 'none', path: 'x' }];
  assert.throws(() => filesOf({ configMap: { name: 'd' } }), {
    code: 'failed_precondition',
    message: 'configmap "d" not found',
  });
  assert.throws(() => filesOf({ secret: { secretName: 's', items } }), /references non-existent secret key: none/);
  assert.deepEqual(filesOf({ configMap: { name: 'd', optional: true } }), {});
  assert.deepEqual(filesOf({ secret: { secretName: 's', items, optional: true } }), {});
});

test('pod fields and resources are written to files', () => {
  const items = [
    { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
    { path: 'name', fieldRef: { fieldPath: 'metadata.name' }, mode: 0o400 },
    { path: 'cpu', resourceFieldRef: { containerName: 'web', resource: 'limits.cpu', divisor: '1m' } },
  ];
  assert.deepEqual(filesOf({ downwardAPI: { items } }), {
    labels: '644 a="say \\"x\\""\nz="1"',
    name: '400 p',
    cpu: '644 1500',
  });
});

test('a projected volume contains all of its sources', () => {
  const sources = [{ configMap: { name: 'c', items: [{ key: 'a', path: 'conf/a' }] } }, { secret: { name: 's' } }];
  assert.deepEqual(filesOf({ projected: { sources, defaultMode: 0o440 } }), { 'conf/a': '440 1', key: '440 s3cret' });
});
