import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDeviceName, requestedDevices } from './device-name.ts';

test('a device name has the form vendor/class=name', () => {
  const parts = (vendor: string, deviceClass: string, name: string) => ({ vendor, class: deviceClass, name });
  assert.deepEqual(parseDeviceName('nvidia.com/gpu=0'), parts('nvidia.com', 'gpu', '0'));
  assert.deepEqual(parseDeviceName('a/b.c=x:1_2-3.4'), parts('a', 'b.c', 'x:1_2-3.4'));
  const none = [
    '',
    'gpu',
    'a/b',
    'a/b=',
    '=x',
    '/b=x',
    'a/=x',
    'a/b/c=x',
    '1a/b=x',
    'a-/b=x',
    'a/b=x/../y',
    'a/b=-x',
    'a/b=x\n',
  ];
  for (const text of none) assert.equal(parseDeviceName(text), undefined, JSON.stringify(text));
});

test('devices from the CRI field come before those from annotations, without duplicates', () => {
  const annotations = { 'cdi.k8s.io/plugin_0': 'a/b=2,a/b=1', 'other.io/x': 'not a device' };
  assert.deepEqual(requestedDevices(['a/b=1', 'a/b=1'], annotations), ['a/b=1', 'a/b=2']);
  assert.deepEqual(requestedDevices([], {}), []);
});

test('the error for an invalid device name names its source', () => {
  const refuse = (named: string[], annotations: Record<string, string>, message: RegExp) =>
    assert.throws(() => requestedDevices(named, annotations), { code: 'invalid_argument', message });
  refuse(['gpu0'], {}, /CDI devices: "gpu0" is not/);
  refuse([], { 'cdi.k8s.io/x': 'a/b=1,,a/b=2' }, /annotation cdi\.k8s\.io\/x: "" is not/);
  const many = Array.from({ length: 1001 }, (_, index) => `a/b=${index}`);
  refuse(many, {}, /1001 CDI devices/);
});
