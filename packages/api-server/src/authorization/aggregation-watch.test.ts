import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pause, waitFor } from '@podwright/base';
import { keepAggregated } from './aggregation-watch.ts';
import type { PolicyRule } from './authorizer.ts';
import type { Role } from './rbac-objects.ts';
import { keyOf, role, rules, storeOf } from './test-rbac.fixture.ts';

const labelled = (one: Role): Role => ({ ...one, metadata: { ...one.metadata, labels: { x: 'true' } } });
const collecting = (one: Role): Role => ({
  ...one,
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { x: 'true' } }] },
});

test('aggregated roles follow the roles they select, even after failed writes', async (t) => {
  const store = storeOf(collecting(role('all')), labelled(role('a', 'get /a')));
  const key = keyOf(role('all'));
  const warnings: string[] = [];
  let failures = 0;
  const setRules = async (name: string, list: readonly PolicyRule[]) => {
    if (failures-- > 0) throw new Error('the role has changed');
    const stored = store.get({ ...key, name })!;
    store.update({ ...key, name }, { ...stored.decode(), rules: list }, stored.revision);
  };
  const logger = { warn: (fields: object, message: string) => warnings.push(`${message} ${JSON.stringify(fields)}`) };
  const stop = new AbortController();
  t.after(() => stop.abort());
  const kept = keepAggregated({ store, setRules, logger }, stop.signal);
  const signal = AbortSignal.timeout(10_000);
  const becomes = (...lines: string[]) =>
    waitFor(
      () => JSON.stringify((store.get(key)!.decode() as Role).rules) === JSON.stringify(rules(...lines)) || undefined,
      {
        intervalMs: 5,
        signal,
      },
    );
  await becomes('get /a');
  const b = labelled(role('b', 'get /b'));
  failures = 1;
  const created = store.create(keyOf(b), b);
  await becomes('get /a', 'get /b');
  assert.deepEqual(warnings, ['aggregate ClusterRoles failed, trying again {"error":"the role has changed"}']);
  store.delete(keyOf(b), created.revision);
  await becomes('get /a');
  const { revision } = store;
  await pause(50, signal);
  assert.equal(store.revision, revision, 'nothing is written at rest');
  stop.abort();
  await kept;
});
