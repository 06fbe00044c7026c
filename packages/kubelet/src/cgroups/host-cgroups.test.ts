import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metricsText, PodwrightError, Registry, silentLogger } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { CgroupHierarchy } from '@podwright/host';
import { hostCgroups, runtimeCgroupDriver } from './host-cgroups.ts';

test('if there are no cgroups, the reason is logged, as containers get no limits', async () => {
  const warnings: object[] = [];
  const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) };
  const error = new PodwrightError('failed_precondition', 'find control groups: no cgroup file system is mounted');
  assert.equal(await hostCgroups(logger, () => Promise.reject(error)), undefined);
  assert.deepEqual(warnings, [{ error: error.message }]);
});

test('discovered cgroups are returned unchanged', async () => {
  const hierarchy: CgroupHierarchy = { mode: 'v2', trees: [] };
  assert.equal(await hostCgroups(silentLogger, async () => hierarchy), hierarchy);
});

test('a runtime without RuntimeConfig gets the fallback driver, with a deprecation mark', async () => {
  const metrics = new Registry();
  const unimplemented = () => Promise.reject(new PodwrightError('unimplemented', 'no'));
  const cri = { runtime: { runtimeConfig: unimplemented } } as unknown as CriClient;
  assert.equal(await runtimeCgroupDriver(cri, { fallback: 'systemd', metrics }), 'systemd');
  assert.match(await metricsText(metrics, () => true), /^kubelet_cri_losing_support\{version="1.37.0"\} 1$/m);
});
