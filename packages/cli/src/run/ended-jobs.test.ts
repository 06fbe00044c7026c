import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import type { DecodedManifest } from '@podwright/kube-api';
import { keepEndedJobs, suspendedJob } from './ended-jobs.ts';

const job = (name: string, spec: object) => ({
  object: { apiVersion: 'batch/v1', kind: 'Job', metadata: { name, namespace: 'default' }, spec },
});
const others = [
  job('short', { ttlSecondsAfterFinished: 0 }),
  job('existing', { ttlSecondsAfterFinished: 0 }),
  job('lasting', {}),
  job('stopped', { suspend: true }),
] as unknown as DecodedManifest['others'];

test('only Jobs that the run created and that would expire are retained', async () => {
  const patches: [string, object][] = [];
  const client = {
    locate: async <Place extends { name: string }>(objects: readonly Place[]) =>
      objects.map((object) => ({ ...object, path: `/jobs/${object.name}`, isGround: false })),
    mergeObject: async (path: string, patch: Record<string, unknown>) => {
      patches.push([path, patch]);
      throw new PodwrightError('not_found', 'deleted meanwhile');
    },
  };
  const applied = ['short', 'existing', 'lasting'].map((name) => ({
    ...{ apiVersion: 'batch/v1', kind: 'Job', namespace: 'default', name, uid: name },
    action: name === 'existing' ? ('unchanged' as const) : ('created' as const),
  }));
  await keepEndedJobs(client, applied, others);
  assert.deepEqual(patches, [['/jobs/short', { spec: { ttlSecondsAfterFinished: null } }]]);
});

test('a suspended Job is found', () => {
  assert.equal(suspendedJob(others)?.name, 'stopped');
  assert.equal(suspendedJob(others.slice(0, 3)), undefined);
});
