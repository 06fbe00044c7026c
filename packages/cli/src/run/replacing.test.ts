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

async function ask(objects: ApplyResult['objects'], force = false): Promise<void> {
  const apply = async (_manifest: string, options?: { replace?: boolean }) => {
    assert.deepEqual(options, { replace: force });
    return { objects, findings: [], warnings: [] };
  };
  await applyWithConsent('', { client: { apply }, force, canAsk: false, signal: new AbortController().signal });
}

test('what stands with other content is not replaced where nobody can be asked', async () => {
  await ask([object('a', 'created'), object('b', 'unchanged')]);
  await ask([object('a', 'replaced')], true);
  await assert.rejects(ask([object('a', 'replaced'), object('b', 'created')]), {
    code: 'failed_precondition',
    message: 'run: configmap a stands already, with other content; --force replaces it',
  });
});
