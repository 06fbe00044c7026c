import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { decoded, TestRegistries } from '../../../api-machinery/src/registry/test-registries.fixture.ts';
import { deleteExpired } from './expire-events.ts';

const HOUR_MS = 3_600_000;
const BEGIN = Date.parse('2026-01-01T00:00:00Z');
const timeOf = (ms: number) => new Date(ms).toISOString().replace('.000', '');

test('events are deleted an hour after their last change', async () => {
  const registries = new TestRegistries();
  registries.nowMs = BEGIN;
  const events = registries.of('events');
  const create = (name: string, fields: object) =>
    events.create(
      'x',
      decoded('v1', 'Event', { metadata: { name }, involvedObject: {}, ...fields }),
      registries.context(),
    );
  await create('old', {});
  await create('repeated', { lastTimestamp: timeOf(BEGIN + HOUR_MS) });
  await create('series', { series: { count: 2, lastObservedTime: '2026-01-01T00:30:00.000000Z' } });
  const parts = {
    store: registries.store,
    registryOf: () => events,
    context: () => registries.context(),
    logger: silentLogger,
    signal: new AbortController().signal,
  };
  const names = () => registries.store.list('events').objects.map(({ key }) => key);
  await deleteExpired({ ...parts, now: () => BEGIN + HOUR_MS - 1 });
  assert.equal(names().length, 3);
  await deleteExpired({ ...parts, now: () => BEGIN + HOUR_MS });
  assert.deepEqual(names(), ['x/repeated', 'x/series']);
  await deleteExpired({ ...parts, now: () => BEGIN + 2 * HOUR_MS });
  assert.deepEqual(names(), []);
});
