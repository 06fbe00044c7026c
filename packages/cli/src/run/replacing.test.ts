import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApplyResult } from '@podwright/node-api';
import { applyWithConsent } from './replacing.ts';

const object = (name: string, action: 'created' | 'replaced' | 'unchanged') => ({
  kind: 'ConfigMap',
  namespace: 'default',
  name,
  action,
});

async function applyObjects(objects: ApplyResult['objects'], force = false): Promise<void> {
  const apply = async (_manifest: string, options?: { replace?: boolean }) => {
    assert.deepEqual(options, { replace: force });
    return { objects, findings: [], warnings: [] };
  };
  await applyWithConsent('', { client: { apply }, force, canAsk: false, signal: new AbortController().signal });
}

test('existing objects with different content are not replaced without a prompt or --force', async () => {
  await applyObjects([object('a', 'created'), object('b', 'unchanged')]);
  await applyObjects([object('a', 'replaced')], true);
  await assert.rejects(applyObjects([object('a', 'replaced'), object('b', 'created')]), {
    code: 'failed_precondition',
    message: 'run: configmap a already exists with other content; --force replaces it',
  });
});
