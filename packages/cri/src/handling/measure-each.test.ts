import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Logger, PodwrightError } from '@podwright/base';
import { measureEach } from './measure-each.ts';

test('unmeasurable records are omitted and logged, and the others are measured in order, a few at a time', async () => {
  const logged: unknown[] = [];
  const logger = { warn: (fields: unknown) => logged.push(fields) } as unknown as Logger;
  const records = Array.from({ length: 30 }, (_, index) => ({ id: `c${index}` }));
  let [now, most] = [0, 0];
  const found = await measureEach(records, { logger }, async ({ id }) => {
    most = Math.max(most, ++now);
    await new Promise(setImmediate);
    now--;
    if (id === 'c7') throw new PodwrightError('not_found', 'gone');
    return id;
  });
  assert.deepEqual(
    found,
    records.map(({ id }) => id).filter((id) => id !== 'c7'),
  );
  assert.deepEqual(logged, [{ id: 'c7', error: 'gone' }]);
  assert.ok(most > 1 && most <= 8, `${most} at once`);
});
