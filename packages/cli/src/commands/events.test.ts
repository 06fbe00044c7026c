import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '@podwright/kube-api';
import { recentEvents } from './events.ts';

const at = (ms: number) => ({ lastTimestamp: new Date(ms).toISOString() }) as Event;
const HOUR_MS = 3_600_000;

test('the latest hundred events of the last hour are shown, the latest last', () => {
  const now = 100 * HOUR_MS;
  const check = (agesMs: number[], expected: number[]) =>
    assert.deepEqual(
      recentEvents(
        agesMs.map((age) => at(now - age)),
        now,
      ),
      expected.map((age) => at(now - age)),
    );
  check([], []);
  check([0, HOUR_MS + 1, HOUR_MS, 5], [HOUR_MS, 5, 0]);
  const many = Array.from({ length: 150 }, (_, index) => index * 1000);
  check(many, many.slice(0, 100).toReversed());
});
