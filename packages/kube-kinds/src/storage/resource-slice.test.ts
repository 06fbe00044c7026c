import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changed, created, createErrors, decoded, updateErrors } from '../strategy-checks.fixture.ts';
import { RESOURCE_SLICE } from './resource-slice.ts';

const BASE = {
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceSlice',
  metadata: { name: 'a' },
  spec: { driver: 'd', pool: { name: 'p', resourceSliceCount: 1 }, nodeName: 'n', devices: [{ name: 'x' }] },
};
const withSpec = (spec: object) => changed(BASE, { spec } as never);
const withDevice = (device: object, spec: object = {}) => withSpec({ devices: [{ name: 'x', ...device }], ...spec });
const check = (object: ReturnType<typeof withSpec>, ...errors: string[]) =>
  assert.deepEqual(createErrors(RESOURCE_SLICE, object), errors);

test('invalid slices have upstream’s errors', () => {
  check(BASE);
  check(
    withSpec({ driver: '', pool: { name: 'a//b', resourceSliceCount: 0, generation: -1 } }),
    'spec.driver: Required value',
    `spec.pool.name: Invalid value: "": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
    'spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero',
    'spec.pool.generation: Invalid value: -1: must be greater than or equal to zero',
  );
  const one = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';
  check(withSpec({ nodeName: undefined }), `spec: Required value: ${one}`);
  check(
    withSpec({ allNodes: true }),
    `spec: Invalid value: "{\`nodeName\`, \`allNodes\`}": ${one}, but multiple fields are set`,
  );
  check(withSpec({ allNodes: false }), 'spec.allNodes: Invalid value: false: must be either unset or set to true');
  const counters = { name: 'c', counters: { m: { value: '1' } } };
  check(
    withSpec({ sharedCounters: [counters] }),
    'spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed',
  );
  check(withSpec({ devices: undefined, sharedCounters: [counters] }));
  check(
    withSpec({ devices: undefined, sharedCounters: [{ name: '' }] }),
    'spec.sharedCounters[0].name: Required value',
    'spec.sharedCounters[0].counters: Required value',
  );
  const devices = (length: number, more: object = {}) =>
    withSpec({ devices: Array.from({ length }, (_, index) => ({ name: `d${index}`, ...more })) });
  check(devices(128));
  check(devices(129), 'spec.devices: Too many: 129: must have at most 128 items');
  check(
    devices(65, { taints: [{ key: 'a', effect: 'None' }] }),
    'spec.devices: Too many: 65: must have at most 64 items',
  );
  check(withSpec({ devices: [{ name: 'x' }, { name: 'x' }] }), 'spec.devices[1]: Duplicate value: "x"');
});

test('invalid devices have upstream’s errors', () => {
  const at = 'spec.devices[0]';
  check(
    withDevice({
      attributes: { a: { int: 1 }, 'example.com/b': { version: '1.2.3-rc.1+x' } },
      capacity: { m: { value: '1Gi' } },
    }),
  );
  check(
    withDevice({
      attributes: { a: {}, b: { int: 1, bool: true }, c: { version: '1' }, d: { string: 'x'.repeat(65) } },
    }),
    `${at}.attributes[a]: Invalid value: "": exactly one value must be specified`,
    `${at}.attributes[b]: Invalid value: {"int":1,"bool":true}: exactly one value must be specified`,
    `${at}.attributes[c].version: Invalid value: "1": must be a string compatible with semver.org spec 2.0.0`,
    `${at}.attributes[d].string: Too long: may not be more than 64 bytes`,
  );
  check(
    withDevice({ attributes: { '/a': { int: 1 } } }),
    `${at}.attributes: Invalid value: "": the domain must not be empty`,
  );
  check(
    withDevice({
      capacity: Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`c${index}`, { value: '1' }])),
    }),
    `${at}: Invalid value: 33: the total number of attributes and capacities must not exceed 32`,
  );
  assert.match(
    createErrors(RESOURCE_SLICE, withDevice({ taints: [{ key: '', effect: 'None' }] })).join(),
    /taints\[0\]\.key: Invalid value: "": name part must be non-empty/,
  );
  check(
    withDevice({ taints: [{ key: 'a', effect: 'x' }] }),
    `${at}.taints[0].effect: Unsupported value: "x": supported values: "NoExecute", "NoSchedule", "None"`,
  );
  check(
    withDevice({ nodeName: 'n' }),
    `${at}: Invalid value: null: \`nodeName\`, \`nodeSelector\` and \`allNodes\` can only be set if \`perDeviceNodeSelection\` is set to true in the ResourceSlice spec`,
  );
  const perDevice = { nodeName: undefined, perDeviceNodeSelection: true };
  check(withDevice({ nodeName: 'n' }, perDevice));
  check(
    withDevice({ allNodes: false }, perDevice),
    `${at}.allNodes: Invalid value: false: must be either unset or set to true`,
    `${at}: Required value: exactly one of \`nodeName\`, \`nodeSelector\`, or \`allNodes\` is required when \`perDeviceNodeSelection\` is set to true in the ResourceSlice spec`,
  );
  check(
    withDevice({ bindingConditions: ['a', 'a'], bindingFailureConditions: ['a'] }),
    `${at}.bindingConditions[1]: Duplicate value: "a"`,
    `${at}.bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must not overlap with bindingConditions`,
  );
});

test('a shared capacity’s request policy must match the capacity', () => {
  const at = 'spec.devices[0].capacity[m].requestPolicy';
  const policy = (requestPolicy: object, allowMultipleAllocations = true) =>
    withDevice({ allowMultipleAllocations, capacity: { m: { value: '10', requestPolicy } } });
  check(policy({ default: '1', validValues: ['1', '2'] }));
  check(policy({ default: '1', validRange: { min: '1', max: '9', step: '2' } }));
  check(policy({}, false), `${at}: Forbidden: allowMultipleAllocations must be true`);
  check(policy({ validValues: ['1'] }), `${at}.default: Required value: required when validValues is defined`);
  check(
    policy({ default: '3', validValues: ['2', '1', '20', '20'] }),
    `${at}.validValues[1]: Invalid value: "1": values must be sorted in ascending order`,
    `${at}.validValues[2]: Invalid value: "20": option is larger than capacity value: 10`,
    `${at}.validValues[3]: Invalid value: "20": option is larger than capacity value: 10`,
    `${at}.validValues[3]: Duplicate value: "20"`,
    `${at}.validValues: Invalid value: "3": default value is not valid according to the requestPolicy`,
  );
  check(
    policy({ default: '1', validRange: { min: '2', max: '11', step: '9' } }),
    `${at}.validRange.min: Invalid value: "1": default is less than min: 2`,
    `${at}.validRange.max: Invalid value: "11": max is larger than capacity value: 10`,
    `${at}.validRange.step: Invalid value: "9": one step 11 is larger than capacity value: 10`,
    `${at}.validRange.step: Invalid value: "1": value is not a multiple of a given step (9) from (2)`,
  );
  check(policy({ default: '1', validRange: { min: '1', step: '0' } }));
});

test('alpha fields are dropped, and taints get a timestamp', () => {
  const device = {
    attributes: { a: { int: 1, ints: [1] } },
    nodeAllocatableResourceMappings: {},
    taints: [{ key: 'a', effect: 'None' }],
  };
  const { spec } = created(RESOURCE_SLICE, withDevice(device));
  const [found] = (spec as { devices: Record<string, unknown>[] }).devices;
  assert.deepEqual(found?.attributes, { a: { int: 1 } });
  assert.equal(found?.nodeAllocatableResourceMappings, undefined);
  const [taint] = found!.taints as { timeAdded: string }[];
  assert.ok(taint!.timeAdded > '2026');
});

test('a slice’s pool, driver and node are immutable, and its fields can be selected', () => {
  assert.deepEqual(updateErrors(RESOURCE_SLICE, withSpec({ pool: { generation: 2 } }), BASE), []);
  assert.deepEqual(updateErrors(RESOURCE_SLICE, withSpec({ driver: 'e', nodeName: 'm', pool: { name: 'q' } }), BASE), [
    'spec.pool.name: Invalid value: "q": field is immutable',
    'spec.driver: Invalid value: "e": field is immutable',
    'spec.nodeName: Invalid value: "m": field is immutable',
  ]);
  const slice = decoded(RESOURCE_SLICE, BASE);
  assert.equal(RESOURCE_SLICE.selectableFields?.['spec.nodeName']?.(slice), 'n');
  assert.equal(RESOURCE_SLICE.selectableFields?.['spec.driver']?.(slice), 'd');
  assert.deepEqual(RESOURCE_SLICE.warnings?.(decoded(RESOURCE_SLICE, withSpec({ driver: 'A' })), undefined), [
    'spec.driver: driver names should be lowercase; "A" contains uppercase characters',
  ]);
});
