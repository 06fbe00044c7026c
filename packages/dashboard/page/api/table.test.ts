import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Transport } from './follow-list.ts';
import { ApiError } from './request.ts';
import { builtIn } from './resources.ts';
import { followTable } from './table.ts';

test('versions that are too old again and again are followed by lists after delays that grow', async ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const abort = new AbortController();
  let lists = 0;
  const transport: Transport = {
    call: async <T>() => {
      lists++;
      return { kind: 'Table', metadata: { resourceVersion: '7' }, rows: [] } as T;
    },
    // biome-ignore lint/correctness/useYield: the stream fails before its first chunk
    async *stream() {
      throw new ApiError(410, { reason: 'Expired', message: 'too old' });
    },
  };
  const handler = { onTable() {}, onRows() {}, onLive() {}, onFailure: assert.fail };
  const following = followTable({ resource: builtIn('Pod'), namespace: '', transport }, handler, abort.signal);
  for (const [listed, delayMs] of [
    [1, 600],
    [2, 1200],
    [3, 2400],
  ] as const) {
    await setImmediate();
    assert.equal(lists, listed);
    mock.timers.tick(delayMs / 2);
    await setImmediate();
    assert.equal(lists, listed);
    mock.timers.tick(delayMs / 2);
  }
  abort.abort();
  await following;
});
