import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import { IssueList } from '@podwright/kube-api';
import { checkedConfiguration } from './check-configuration.ts';
import { FIELDS } from './fields/field-table.ts';

const NUMBERS = [
  -(2 ** 31) - 1,
  -1,
  -0,
  0.5,
  1.5,
  2 ** 31,
  2 ** 53,
  2 ** 63,
  1e300,
  Number.NaN,
  Number.POSITIVE_INFINITY,
];
/** Unusual values for each field type, as they may appear in a file. */
const ODD: Record<string, unknown[]> = {
  int: NUMBERS,
  number: NUMBERS,
  duration: ['-1s', '1ns', '0.5ms', '24855h', '2562047h', '9999999h', '1e9s', 'Infinity', 'NaN', '1', ...NUMBERS],
};

/**
 * Fields with durations that start no timer, because they are only compared with ages or are ignored. All other durations must be at least
 * a millisecond.
 */
const NO_TIMER = [
  'authentication.webhook.cacheTTL',
  'authorization.webhook.cacheAuthorizedTTL',
  'authorization.webhook.cacheUnauthorizedTTL',
  'evictionPressureTransitionPeriod',
  'globalHousekeepingInterval',
  'housekeepingInterval',
  'imageMinimumGCAge',
  'logging.flushFrequency',
  'maxHousekeepingInterval',
  'minContainerAge',
  'storageDriverBufferDuration',
  'streamingConnectionIdleTimeout', // the timeout of a socket
  'volumeStatsAggPeriod',
];

/** Returns the value that the field would get, or `undefined` if the configuration check rejects it with an error that names the field. */
function used(name: string, value: unknown): unknown {
  const issues = new IssueList();
  const decoded = FIELDS.get(name)!.type.decode(value, issues);
  if (issues.issues.length > 0) return undefined;
  try {
    const given = new Map([[name, { value: decoded, place: 'c.yaml:3' }]]);
    return (checkedConfiguration(given, { cgroupVersion: 'v2' }) as Record<string, unknown>)[name];
  } catch (error) {
    assert.ok(error instanceof PodwrightError && error.message.includes(name), `${name}: ${error}`);
    return undefined;
  }
}

test('an odd number in a configuration is rejected with its field, or yields a usable value', () => {
  const soon = new Set<string>();
  for (const [name, { type }] of FIELDS) {
    for (const value of ODD[type.name] ?? []) {
      const result = used(name, value);
      if (result === undefined) continue;
      assert.ok(Number.isFinite(result), `${name} = ${String(value)}: ${String(result)}`);
      if (type.name === 'duration' && Number(result) < 1) soon.add(name);
    }
  }
  assert.deepEqual([...soon].sort(), NO_TIMER);
});
