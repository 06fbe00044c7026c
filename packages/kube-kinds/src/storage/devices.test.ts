import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changed, createErrors, decoded, subresourceUpdate, updateErrors } from '../strategy-checks.fixture.ts';
import { DEVICE_CLASS } from './device-class.ts';
import { RESOURCE_CLAIM } from './resource-claim.ts';
import { RESOURCE_CLAIM_TEMPLATE } from './resource-claim-template.ts';

const apiVersion = 'resource.k8s.io/v1';
const CLAIM = { apiVersion, kind: 'ResourceClaim', metadata: { name: 'c', namespace: 'n' } };
const claim = (devices: object, more: object = {}) => ({ ...CLAIM, spec: { devices }, ...more });
const exactly = { deviceClassName: 'gpu' };

test('a request defaults to one device, and tolerations to comparing values', () => {
  const requests = [
    { name: 'a', exactly: { ...exactly, tolerations: [{ key: 'k' }] } },
    {
      name: 'b',
      firstAvailable: [
        { name: 'x', ...exactly },
        { name: 'y', ...exactly, allocationMode: 'All' },
      ],
    },
  ];
  const { spec } = decoded(RESOURCE_CLAIM, claim({ requests }));
  const one = { ...exactly, allocationMode: 'ExactCount', count: 1 };
  assert.deepEqual(spec, {
    devices: {
      requests: [
        { name: 'a', exactly: { ...one, tolerations: [{ key: 'k', operator: 'Equal' }] } },
        {
          name: 'b',
          firstAvailable: [
            { name: 'x', ...one },
            { name: 'y', ...exactly, allocationMode: 'All' },
          ],
        },
      ],
    },
  });
});

test('allocation tolerations and template requests get the same defaults', () => {
  const results = [{ request: 'a', driver: 'd', pool: 'p', device: 'x', tolerations: [{ key: 'k' }] }];
  const { status } = decoded(RESOURCE_CLAIM, claim({}, { status: { allocation: { devices: { results } } } }));
  assert.deepEqual(status, {
    allocation: { devices: { results: [{ ...results[0], tolerations: [{ key: 'k', operator: 'Equal' }] }] } },
  });
  const spec = { spec: { devices: { requests: [{ name: 'a', exactly }] } } };
  const template = decoded(RESOURCE_CLAIM_TEMPLATE, { ...CLAIM, kind: 'ResourceClaimTemplate', spec });
  const one = { ...exactly, allocationMode: 'ExactCount', count: 1 };
  assert.deepEqual(template.spec, { metadata: {}, spec: { devices: { requests: [{ name: 'a', exactly: one }] } } });
});

test('invalid claims have upstream’s errors', () => {
  const check = (devices: object, ...errors: string[]) =>
    assert.deepEqual(createErrors(RESOURCE_CLAIM, claim(devices)), errors);
  check({});
  check({ requests: [{ name: 'a', exactly }] });
  check(
    { requests: [{ name: 'a' }, { name: 'a', exactly, firstAvailable: [{ name: 'x', ...exactly }] }] },
    'spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required',
    'spec.devices.requests[1]: Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set',
    'spec.devices.requests[1]: Duplicate value: "a"',
  );
  const at = 'spec.devices.requests[0].exactly';
  const withRequest = (request: object) => ({ requests: [{ name: 'a', exactly: { ...exactly, ...request } }] });
  check(withRequest({ deviceClassName: '' }), `${at}.deviceClassName: Required value`);
  check(
    withRequest({ allocationMode: 'Some' }),
    `${at}.allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"`,
  );
  check(
    withRequest({ allocationMode: 'All', count: 1 }),
    `${at}.count: Invalid value: 1: must not be specified when allocationMode is 'All'`,
  );
  check(withRequest({ count: -1 }), `${at}.count: Invalid value: -1: must be greater than zero`);
  check(withRequest({ selectors: [{}] }), `${at}.selectors[0].cel: Required value`);
  check(
    withRequest({ selectors: [{ cel: { expression: 'x'.repeat(10 * 1024 + 1) } }] }),
    `${at}.selectors[0].cel.expression: Too long: may not be more than 10240 bytes`,
  );
  check(
    withRequest({ tolerations: [{ operator: 'Exists', value: 'v', effect: 'x' }] }),
    `${at}.tolerations[0].value: Invalid value: "v": must be empty for operator \`Exists\``,
    `${at}.tolerations[0].effect: Unsupported value: "x": supported values: "NoExecute", "NoSchedule", "None"`,
  );
  check(
    { requests: Array.from({ length: 33 }, (_, index) => ({ name: `r${index}`, exactly })) },
    'spec.devices.requests: Too many: 33: must have at most 32 items',
  );
});

test('constraints and configurations must refer to the claim’s requests', () => {
  const requests = [
    { name: 'a', exactly },
    { name: 'b', firstAvailable: [{ name: 'x', ...exactly }] },
  ];
  const check = (more: object, ...errors: string[]) =>
    assert.deepEqual(createErrors(RESOURCE_CLAIM, claim({ requests, ...more })), errors);
  const matchAttribute = 'example.com/numa';
  const detail =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
  check({ constraints: [{ requests: ['a', 'b', 'b/x'], matchAttribute }] });
  check(
    { constraints: [{ requests: ['b/y'], matchAttribute }] },
    `spec.devices.constraints[0].requests[0]: Invalid value: "b/y": ${detail}`,
  );
  check(
    { constraints: [{ requests: ['a', 'a'], matchAttribute }] },
    'spec.devices.constraints[0].requests[1]: Duplicate value: "a"',
  );
  check(
    { constraints: [{}] },
    'spec.devices.constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
  );
  check(
    { constraints: [{ matchAttribute: 'numa' }] },
    'spec.devices.constraints[0].matchAttribute: Invalid value: "numa": a fully qualified name must be a domain and a name separated by a slash',
  );
  const opaque = { driver: 'd', parameters: { a: 1 } };
  check({ config: [{ opaque }] });
  check(
    { config: [{}, { opaque: { driver: 'd', parameters: [] } }] },
    'spec.devices.config[0].opaque: Required value',
    'spec.devices.config[1].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
  );
});

test('claim and template specs are immutable', () => {
  const old = claim({ requests: [{ name: 'a', exactly }] });
  const object = claim({ requests: [{ name: 'b', exactly }] });
  assert.match(updateErrors(RESOURCE_CLAIM, object, old).join(), /^spec: Invalid value: .*: field is immutable$/);
  const template = (name: string) => ({
    ...CLAIM,
    kind: 'ResourceClaimTemplate',
    spec: { spec: { devices: { requests: [{ name, exactly }] } } },
  });
  assert.deepEqual(createErrors(RESOURCE_CLAIM_TEMPLATE, template('a')), []);
  assert.match(
    updateErrors(RESOURCE_CLAIM_TEMPLATE, template('b'), template('a')).join(),
    /^spec: .*: field is immutable$/,
  );
  assert.deepEqual(
    createErrors(
      RESOURCE_CLAIM_TEMPLATE,
      changed(template('a'), { spec: { spec: { devices: { requests: [{ name: 'a' }] } } } }),
    ),
    ['spec.spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required'],
  );
  const named = changed(template('a'), { spec: { metadata: { name: 'x', labels: { a: '_' } } } });
  assert.deepEqual(
    createErrors(RESOURCE_CLAIM_TEMPLATE, named).map((error) => error.split(':')[0]),
    ['spec.metadata.labels', 'spec.metadata.name'],
  );
});

const SPEC = { devices: { requests: [{ name: 'a', exactly }] } };
const RESULT = { request: 'a', driver: 'd', pool: 'p', device: 'x' };
const withStatus = (status: object, metadata: object = {}) => changed(CLAIM, { spec: SPEC, status, metadata } as never);
const ALLOCATED = { allocation: { devices: { results: [RESULT] } } };

test('an allocation is validated when made, and immutable afterwards', () => {
  const check = (status: object, old: object, ...errors: string[]) =>
    assert.deepEqual(
      subresourceUpdate(RESOURCE_CLAIM, 'status', { object: withStatus(status), old: withStatus(old) }).errors,
      errors,
    );
  check(ALLOCATED, {});
  check({}, ALLOCATED);
  const at = 'status.allocation.devices';
  check(
    {
      allocation: {
        devices: {
          results: [{ ...RESULT, request: 'b', pool: '' }],
          config: [{ source: 'x', opaque: { driver: 'd', parameters: {} } }],
        },
      },
    },
    {},
    `${at}.results[0].request: Invalid value: "b": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'`,
    `${at}.results[0].pool: Required value`,
    `${at}.config[0].source: Unsupported value: "x": supported values: "FromClaim", "FromClass"`,
  );
  const other = { allocation: { devices: { results: [{ ...RESULT, device: 'y' }] } } };
  const { errors } = subresourceUpdate(RESOURCE_CLAIM, 'status', {
    object: withStatus(other),
    old: withStatus(ALLOCATED),
  });
  assert.match(errors.join(), /^status.allocation: Invalid value: .*: field is immutable$/);
  check(
    {
      allocation: {
        devices: {
          results: [{ ...RESULT, shareID: 'ABCDEF01-2345-6789-abcd-ef0123456789', bindingConditions: ['a'] }],
        },
      },
    },
    {},
    `${at}.results[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions`,
    `${at}.results[0].shareID: Invalid value: "ABCDEF01-2345-6789-abcd-ef0123456789": uid must be in RFC 4122 normalized form, \`xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx\` with lowercase hexadecimal characters`,
  );
});

test('consumers require an allocation, and a claim being deleted gets none', () => {
  const consumer = (uid: string) => ({ resource: 'pods', name: uid, uid });
  const check = (object: object, old: object, ...errors: string[]) =>
    assert.deepEqual(
      subresourceUpdate(RESOURCE_CLAIM, 'status', { object: object as never, old: old as never }).errors,
      errors,
    );
  check(withStatus({ ...ALLOCATED, reservedFor: [consumer('1')] }), withStatus({}));
  check(
    withStatus({ reservedFor: [{ resource: 'pods', name: '', uid: '1' }] }),
    withStatus({}),
    'status.reservedFor[0].name: Required value',
    'status.reservedFor: Forbidden: may not be specified when `allocated` is not set',
  );
  const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  const reserved = (...uids: string[]) => withStatus({ ...ALLOCATED, reservedFor: uids.map(consumer) }, deleted);
  check(reserved('1'), reserved('1', '2'));
  check(
    reserved('1', '3'),
    reserved('1', '2'),
    'status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
  );
});

test('a device status requires its allocation, and is removed with it', () => {
  const device = { driver: 'd', pool: 'p', device: 'x' };
  const update = (status: object, old: object) =>
    subresourceUpdate(RESOURCE_CLAIM, 'status', { object: withStatus(status), old: withStatus(old) });
  assert.deepEqual(update({ ...ALLOCATED, devices: [device] }, ALLOCATED).errors, []);
  const { object, errors } = update({ devices: [device] }, { ...ALLOCATED, devices: [device] });
  assert.deepEqual([object.status, errors], [{}, []]);
  assert.deepEqual(
    update(
      {
        ...ALLOCATED,
        devices: [{ ...device, device: 'y', networkData: { ips: ['10.0.0.1', '10.00.0.1/8', '2001:DB8::1/64'] } }],
      },
      ALLOCATED,
    ).errors,
    [
      'status.devices[0]: Invalid value: "d/p/y": must be an allocated device in the claim',
      'status.devices[0].networkData.ips[0]: Invalid value: "10.0.0.1": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
      'status.devices[0].networkData.ips[1]: Invalid value: "10.00.0.1/8": must be in canonical form ("10.0.0.1/8")',
      'status.devices[0].networkData.ips[2]: Invalid value: "2001:DB8::1/64": must be in canonical form ("2001:db8::1/64")',
    ],
  );
  const conditions = [{ type: 'Ready', status: 'Yes', reason: '', message: '', lastTransitionTime: null }];
  assert.deepEqual(update({ ...ALLOCATED, devices: [{ ...device, conditions }] }, ALLOCATED).errors, [
    'status.devices[0].conditions[0].status: Unsupported value: "Yes": supported values: "False", "True", "Unknown"',
    'status.devices[0].conditions[0].lastTransitionTime: Required value',
    'status.devices[0].conditions[0].reason: Required value',
  ]);
});

test('a device class may name an extended resource', () => {
  const check = (spec: object, ...errors: string[]) =>
    assert.deepEqual(
      createErrors(DEVICE_CLASS, { apiVersion, kind: 'DeviceClass', metadata: { name: 'a' }, spec }),
      errors,
    );
  check(
    { selectors: [{}], config: [{}] },
    'spec.selectors[0].cel: Required value',
    'spec.config[0].opaque: Required value',
  );
  const opaque = { driver: 'd', parameters: {} };
  check({ config: Array.from({ length: 32 }, () => ({ opaque })) });
  check(
    { config: Array.from({ length: 33 }, () => ({ opaque })) },
    'spec.config: Too many: 33: must have at most 32 items',
  );
  check({ extendedResourceName: 'example.com/gpu', selectors: [{ cel: { expression: 'true' } }] });
  for (const name of ['gpu', 'kubernetes.io/gpu', 'requests.example.com/gpu'])
    check(
      { extendedResourceName: name },
      `spec.extendedResourceName: Invalid value: "${name}": must be a valid extended resource name`,
    );
});
