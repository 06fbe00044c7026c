import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode } from '@podwright/base';
import {
  ALL_CAPABILITIES,
  type CapabilityRequest,
  capabilitiesOfMask,
  computeCapabilities,
  DEFAULT_CAPABILITIES,
} from './capabilities.ts';

const available = ALL_CAPABILITIES.filter((name) => name !== 'CAP_SYS_RESOURCE');
const none: CapabilityRequest = { privileged: false, add: [], drop: [], addAmbient: [], available };

test('capabilities are the default set, modified by added and dropped names, with ALL applied first', () => {
  const check = (request: Partial<CapabilityRequest>, expected: string[]) => {
    const sets = computeCapabilities({ ...none, ...request });
    assert.deepEqual(new Set(sets.bounding), new Set(expected));
    assert.deepEqual(sets.effective, sets.bounding);
    assert.deepEqual(sets.permitted, sets.bounding);
  };
  check({}, DEFAULT_CAPABILITIES);
  check({ privileged: true, drop: ['ALL'] }, available);
  check({ add: ['NET_ADMIN', 'cap_sys_time'] }, [...DEFAULT_CAPABILITIES, 'CAP_NET_ADMIN', 'CAP_SYS_TIME']);
  check(
    { drop: ['CHOWN'] },
    DEFAULT_CAPABILITIES.filter((name) => name !== 'CAP_CHOWN'),
  );
  check({ drop: ['all'], add: ['KILL'] }, ['CAP_KILL']);
  check(
    { add: ['ALL'], drop: ['KILL'] },
    available.filter((name) => name !== 'CAP_KILL'),
  );
  check({ add: ['SYS_RESOURCE'], drop: ['SYS_RESOURCE'] }, DEFAULT_CAPABILITIES);
  check({ available: ['CAP_CHOWN'] }, ['CAP_CHOWN']);
});

test('only ambient capabilities are inheritable, and they are in all sets', () => {
  assert.deepEqual(computeCapabilities(none).inheritable, []);
  const sets = computeCapabilities({ ...none, drop: ['ALL'], addAmbient: ['NET_BIND_SERVICE'] });
  for (const name of ['bounding', 'effective', 'permitted', 'inheritable', 'ambient'] as const)
    assert.deepEqual(sets[name], ['CAP_NET_BIND_SERVICE']);
});

test('unknown capabilities and those that this process lacks are rejected', () => {
  const fails = (request: Partial<CapabilityRequest>, code: string) =>
    assert.throws(
      () => computeCapabilities({ ...none, ...request }),
      (error) => errorCode(error) === code,
    );
  fails({ add: ['NOPE'] }, 'invalid_argument');
  fails({ drop: ['NOPE'] }, 'invalid_argument');
  fails({ add: ['SYS_RESOURCE'] }, 'failed_precondition');
});

test("the kernel's capability masks are decoded", () => {
  assert.deepEqual(capabilitiesOfMask('0'), []);
  assert.deepEqual(capabilitiesOfMask('0000000000000021'), ['CAP_CHOWN', 'CAP_KILL']);
  assert.deepEqual(capabilitiesOfMask('000001fffeffffff'), available);
});
