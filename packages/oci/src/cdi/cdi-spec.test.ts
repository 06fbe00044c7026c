import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeCdiSpec, MAX_SPEC_BYTES } from './cdi-spec.ts';

const minimal = { cdiVersion: '0.3.0', kind: 'a.com/b', devices: [{ name: 'x', containerEdits: { env: ['A=1'] } }] };
const decode = (change: object) => decodeCdiSpec(JSON.stringify({ ...minimal, ...change }), 'f.json');
const withEdits = (containerEdits: object, cdiVersion = '1.0.0') => decode({ cdiVersion, containerEdits });

test('JSON and YAML decode to the same specification', () => {
  const yaml = 'cdiVersion: 0.3.0\nkind: a.com/b\ndevices:\n- name: x\n  containerEdits:\n    env: [A=1]\n';
  assert.deepEqual(decodeCdiSpec(yaml, 'f.yaml'), decode({}));
});

test('all fields of a specification are decoded', () => {
  const containerEdits = {
    env: ['B=2', 'C='],
    deviceNodes: [{ path: '/dev/x', hostPath: '/dev/null', type: 'c', major: 1, minor: 3, permissions: 'rw', uid: 5 }],
    hooks: [{ hookName: 'createContainer', path: '/bin/true', args: ['true'], env: ['X=1'], timeout: 3 }],
    mounts: [{ hostPath: '/lib/x', containerPath: '/lib/x', options: ['rbind', 'ro'], type: 'bind' }],
    intelRdt: { closID: 'one', l3CacheSchema: 'L3:0=f' },
    additionalGids: [7],
  };
  assert.deepEqual(withEdits(containerEdits).containerEdits, containerEdits);
});

test('the error for an invalid specification names the file and the field', () => {
  const refuse = (change: object, message: RegExp) =>
    assert.throws(() => decode(change), { code: 'invalid_argument', message }, String(message));
  refuse({ cdiVersion: '0.2.0' }, /f\.json: cdiVersion: is not one of/);
  refuse({ cdiVersion: undefined }, /cdiVersion/);
  refuse({ kind: 'b' }, /kind: is not vendor\/class/);
  refuse({ devices: [] }, /devices: is empty/);
  refuse({ devices: [{ name: '../x', containerEdits: {} }] }, /devices\.0\.name/);
  refuse({ devices: [minimal.devices[0], minimal.devices[0]] }, /device x is defined twice/);
  refuse({ extra: 1 }, /extra/);
  refuse({ containerEdits: { env: ['=1'] } }, /containerEdits\.env\.0: is not NAME=value/);
  refuse({ containerEdits: { netDevices: [] } }, /netDevices/);
  refuse({ containerEdits: { deviceNodes: [{ path: '' }] } }, /deviceNodes\.0\.path/);
  refuse({ containerEdits: { deviceNodes: [{ path: '/x', type: 'z' }] } }, /deviceNodes\.0\.type/);
  refuse({ containerEdits: { deviceNodes: [{ path: '/x', permissions: 'rwx' }] } }, /permissions: is not of r, w, m/);
  refuse({ containerEdits: { deviceNodes: [{ path: '/x', major: -1 }] } }, /deviceNodes\.0\.major/);
  refuse({ containerEdits: { mounts: [{ hostPath: '/x' }] } }, /mounts\.0\.containerPath/);
  refuse({ containerEdits: { hooks: [{ hookName: 'later', path: '/x' }] } }, /hooks\.0\.hookName/);
  refuse({ containerEdits: { additionalGids: [-1] } }, /additionalGids\.0/);
  for (const closID of ['..', 'a/b', 'a\nb']) refuse({ containerEdits: { intelRdt: { closID } } }, /closID/);
  assert.throws(() => decodeCdiSpec('{', 'f.json'), { code: 'invalid_argument', message: /neither JSON nor YAML/ });
  assert.throws(() => decodeCdiSpec('', 'f.yaml'), { code: 'invalid_argument' });
});

test('a field that does not exist in the version is rejected', () => {
  const refuse = (edits: object, version: string, needed: string) =>
    assert.throws(() => withEdits(edits, version), { message: new RegExp(`fields of version ${needed}`) });
  refuse({ mounts: [{ hostPath: '/x', containerPath: '/x', type: 'bind' }] }, '0.3.0', '0\\.4\\.0');
  refuse({ deviceNodes: [{ path: '/x', hostPath: '/y' }] }, '0.4.0', '0\\.5\\.0');
  refuse({ additionalGids: [1] }, '0.6.0', '0\\.7\\.0');
  refuse({ intelRdt: { closID: 'x' } }, '0.6.0', '0\\.7\\.0');
  refuse({ intelRdt: { enableMonitoring: true } }, '1.0.0', '1\\.1\\.0');
  assert.throws(() => decode({ annotations: { a: 'b' } }), /fields of version 0\.6\.0/);
  assert.throws(() => decode({ kind: 'a/b.c' }), /fields of version 0\.6\.0/);
  assert.throws(() => decode({ devices: [{ name: '0', containerEdits: {} }] }), /fields of version 0\.5\.0/);
});

test('YAML with unbounded expansion through aliases or nesting is rejected', () => {
  const line = (name: string, of: string) => `${name}: &${name} [${Array(10).fill(`*${of}`).join(', ')}]\n`;
  const bomb = `a: &a [1]\n${line('b', 'a')}${line('c', 'b')}${line('d', 'c')}${line('e', 'd')}`;
  assert.throws(() => decodeCdiSpec(bomb, 'f.yaml'), { code: 'invalid_argument' });
  assert.throws(() => decodeCdiSpec('['.repeat(100_000), 'f.yaml'), { code: 'invalid_argument' });
  assert.ok(MAX_SPEC_BYTES <= 4 << 20);
});
