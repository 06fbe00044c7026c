import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CgroupHierarchy, PodwrightError, silentLogger } from '@podwright/base';
import { hostCgroups } from './host-cgroups.ts';

test('why there are no cgroups is in the log, since containers then have no limits', async () => {
  const warnings: object[] = [];
  const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) };
  const error = new PodwrightError('failed_precondition', 'find control groups: no cgroup file system is mounted');
  assert.equal(await hostCgroups(logger, () => Promise.reject(error)), undefined);
  assert.deepEqual(warnings, [{ error: error.message }]);
});

test('cgroups that are there are taken as they are', async () => {
  const hierarchy: CgroupHierarchy = { mode: 'v2', trees: [] };
  assert.equal(await hostCgroups(silentLogger, async () => hierarchy), hierarchy);
});
