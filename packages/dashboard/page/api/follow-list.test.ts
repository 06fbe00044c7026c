import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { followList, type ListHandler, type Transport } from './follow-list.ts';
import type { KubeObject } from './objects.ts';
import { ApiError } from './request.ts';

const object = (name: string, resourceVersion: string): KubeObject => ({
  metadata: { name, uid: name, resourceVersion },
});
const lines = (...events: object[]) => events.map((event) => `${JSON.stringify(event)}\n`).join('');
const list = (items: KubeObject[], resourceVersion: string, more?: string) => ({
  metadata: { resourceVersion, continue: more },
  items,
});

/**
 * Follows a list, answering its requests with these responses in order, and aborts after the last one. Returns the queries of the requests
 * and the calls of the handler.
 */
async function follow(answers: (() => unknown)[]) {
  const abort = new AbortController();
  const queries: Record<string, unknown>[] = [];
  const seen: string[] = [];
  const next = (query: Record<string, unknown> = {}) => {
    const answer = answers.shift();
    if (answer === undefined) {
      abort.abort();
      throw new Error('aborted');
    }
    queries.push(query);
    return answer();
  };
  const transport: Transport = {
    call: async <T>(_path: string, { query }: { query?: Record<string, unknown> } = {}) => next(query) as T,
    async *stream(_path, { query, onOpen }) {
      const answer = next(query) as string;
      onOpen?.();
      yield new TextEncoder().encode(answer);
    },
  };
  const handler: ListHandler<KubeObject> = {
    onList: (objects) => seen.push(`list ${objects.map(({ metadata }) => metadata.name)}`),
    onChange: ({ type, object: { metadata } }) => seen.push(`${type} ${metadata.name}`),
    onFailure: (error, isFinal) => seen.push(`${isFinal ? 'final ' : ''}failure: ${(error as Error).message}`),
    onLive: () => seen.push('live'),
  };
  await followList({ path: 'api/v1/pods' }, { handler, signal: abort.signal, transport });
  return { queries, seen };
}

test('a list is read page by page, and the watch starts at its resource version', async () => {
  const { queries, seen } = await follow([
    () => list([object('a', '1')], '7', 'next'),
    () => list([object('b', '2')], '7'),
    () => lines({ type: 'MODIFIED', object: object('a', '8') }),
  ]);
  assert.deepEqual(seen, ['list a,b', 'live', 'live', 'MODIFIED a']);
  assert.deepEqual(
    queries.map(({ limit, continue: next, resourceVersion }) => [limit, next, resourceVersion]),
    [
      [500, undefined, undefined],
      [500, 'next', undefined],
      [undefined, undefined, '7'],
    ],
  );
});

test('a broken watch is resumed from its last bookmark', async () => {
  const { queries, seen } = await follow([
    () => list([], '7'),
    () => lines({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '20' } } }),
    () => {
      throw new ApiError(503, { message: 'no' });
    },
    () => lines({ type: 'DELETED', object: object('a', '21') }),
  ]);
  assert.deepEqual(seen, ['list ', 'live', 'live', 'failure: no', 'live', 'DELETED a']);
  assert.deepEqual(
    queries.map(({ resourceVersion }) => resourceVersion),
    [undefined, '7', '20', '20'],
  );
});

test('an expired resource version causes a new list', async () => {
  const { seen } = await follow([
    () => list([object('a', '1')], '7'),
    () => lines({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } }),
    () => list([object('b', '9')], '9'),
  ]);
  assert.deepEqual(seen, ['list a', 'live', 'live', 'list b', 'live']);
});

test('versions that are too old again and again are followed by lists after delays that grow', async ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const expired = () => {
    throw new ApiError(410, { reason: 'Expired', message: 'too old' });
  };
  const answers = Array.from({ length: 3 }, () => [() => list([], '7'), expired]).flat();
  const following = follow(answers);
  for (const [left, delayMs] of [
    [4, 600],
    [2, 1200],
    [0, 2400],
  ] as const) {
    await setImmediate();
    assert.equal(answers.length, left);
    mock.timers.tick(delayMs / 2);
    await setImmediate();
    assert.equal(answers.length, left);
    mock.timers.tick(delayMs / 2);
  }
  assert.equal((await following).queries.length, 6);
});

test('an unresponsive server is not reported as connected during retries', async () => {
  const away = () => {
    throw new ApiError(503, { message: 'no' });
  };
  const { seen } = await follow([() => list([], '7'), away, away]);
  assert.deepEqual(seen, ['list ', 'live', 'failure: no', 'failure: no']);
});

test('a forbidden list is not retried', async () => {
  const forbidden = () => {
    throw new ApiError(403, { reason: 'Forbidden', message: 'no right' });
  };
  assert.deepEqual((await follow([forbidden])).seen, ['final failure: no right']);
});
