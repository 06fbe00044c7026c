import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { at, configMap, events, options, refusal, TestRegistries } from './test-registries.fixture.ts';

const INITIAL = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

/** Creates ConfigMaps `default/a` and `other/b`, and returns functions that watch and write. */
async function withConfigMaps(parts: ConstructorParameters<typeof TestRegistries>[0] = {}) {
  const test = new TestRegistries(parts);
  const registry = test.of('configmaps');
  await registry.create('default', configMap('a'), test.context());
  await registry.create('other', configMap('b'), test.context());
  const watch = (query: string, namespace = '', signal?: AbortSignal) =>
    registry.watch({ namespace, options: options(query), signal });
  const create = (name: string, labels = {}) =>
    registry.create('default', configMap('', { metadata: { name, labels } }), test.context());
  const label = (name: string, labels: object) =>
    registry.patch(
      at(name),
      { mediaType: 'application/merge-patch+json', patch: { metadata: { labels } } },
      test.context(),
    );
  return { test, registry, watch, create, label, first: test.store.revision };
}

describe('a watch', () => {
  it('without a version reports the existing objects and the changes', async () => {
    const { test, registry, watch, first } = await withConfigMaps();
    const seen = events(watch(''), 4);
    await registry.create('default', configMap('c'), test.context());
    await registry.delete(at('a'), {}, test.context());
    const expected = [`ADDED a@${first - 1}`, `ADDED b@${first}`, `ADDED c@${first + 1}`, `DELETED a@${first + 2}`];
    assert.deepEqual(await seen, expected);
    assert.deepEqual(await events(watch('', 'other'), 1), [`ADDED b@${first}`]);
  });

  it('with a version reports the changes after it', async () => {
    const { create, watch, first } = await withConfigMaps();
    await create('c');
    assert.deepEqual(await events(watch(`resourceVersion=${first - 1}`), 2), [
      `ADDED b@${first}`,
      `ADDED c@${first + 1}`,
    ]);
    const future = events(watch(`resourceVersion=${first + 2}`), 1);
    await create('d');
    await create('e');
    assert.deepEqual(await future, [`ADDED e@${first + 3}`]);
  });

  it('does not say that there are no objects before that is durable', async () => {
    const { test, watch } = await withConfigMaps();
    const synced = Promise.withResolvers<void>();
    test.store.untilDurable = () => synced.promise;
    const batches = watch(INITIAL, 'empty')[Symbol.asyncIterator]();
    let isReported = false;
    const first = batches.next().finally(() => {
      isReported = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isReported, false);
    synced.resolve();
    const { value } = await first;
    assert.equal(value![0]!.type, 'BOOKMARK');
    await batches.return?.();
  });

  it('without initial events starts in the newest state', async () => {
    const { create, watch, first } = await withConfigMaps();
    const seen = events(watch('sendInitialEvents=false&resourceVersionMatch=NotOlderThan'), 1);
    await create('c');
    assert.deepEqual(await seen, [`ADDED c@${first + 1}`]);
  });

  it('of a selection reports objects that start and stop to match', async () => {
    const { create, label, watch, registry, test, first } = await withConfigMaps();
    await create('c', { x: '1' });
    await label('c', { x: '2' });
    await label('c', { x: '1' });
    await label('c', { y: '1' });
    await registry.delete(at('c'), {}, test.context());
    const seen = await events(watch(`resourceVersion=${first}&labelSelector=x%3D1`), 5);
    const expected = ['ADDED', 'DELETED', 'ADDED', 'MODIFIED', 'DELETED'];
    assert.deepEqual(
      seen,
      expected.map((type, index) => `${type} c@${first + 1 + index}`),
    );
    const batches = watch(`resourceVersion=${first}&labelSelector=x%3D1`)[Symbol.asyncIterator]();
    const [, deleted] = (await batches.next()).value!;
    assert.ok(deleted?.type === 'DELETED');
    const { metadata } = deleted.object.decode();
    assert.deepEqual([metadata.labels, metadata.resourceVersion], [{ x: '1' }, String(first + 2)]);
  });

  it('of one name reports that object only', async () => {
    const { create, watch, first } = await withConfigMaps();
    const seen = events(watch('fieldSelector=metadata.name%3Dc', 'default'), 1);
    await create('b');
    await create('c');
    assert.deepEqual(await seen, [`ADDED c@${first + 2}`]);
  });

  it('from before the history is expired, when it is read', async () => {
    const { create, watch } = await withConfigMaps({ history: { maxEvents: 2, maxBytes: 1 << 20 } });
    for (const name of ['c', 'd']) await create(name);
    const { code, reason, message } = await refusal(() => events(watch('resourceVersion=1'), 1));
    assert.deepEqual([code, reason], [410, 'Expired']);
    assert.match(message, /^too old resource version: 1 \(\d+\)$/);
  });

  it('with a wrong version or selector is rejected at once', async () => {
    const { watch } = await withConfigMaps();
    assert.equal((await refusal(() => watch('resourceVersion=abc'))).code, 500);
    assert.equal((await refusal(() => watch('labelSelector=%21%21'))).code, 400);
  });

  it('ends when its signal aborts, and when its reader is too slow', async () => {
    const { create, watch, first } = await withConfigMaps({ history: { maxEvents: 2, maxBytes: 1 << 20 } });
    const end = new AbortController();
    const seen = events(watch('', '', end.signal), 9);
    await new Promise(setImmediate);
    end.abort();
    assert.deepEqual(await seen, [`ADDED a@${first - 1}`, `ADDED b@${first}`, 'END']);
    const slow = watch(`resourceVersion=${first}`)[Symbol.asyncIterator]();
    await create('c');
    await slow.next();
    for (const name of ['d', 'e', 'f']) await create(name);
    assert.deepEqual(await slow.next(), { done: true, value: undefined });
  });
});

describe('bookmarks', () => {
  it('mark the end of the initial events', async () => {
    const { watch, first } = await withConfigMaps();
    const seen = await events(watch(INITIAL), 3);
    assert.deepEqual(seen, [`ADDED a@${first - 1}`, `ADDED b@${first}`, `BOOKMARK initial@${first}`]);
    assert.deepEqual(await events(watch('allowWatchBookmarks=1', 'none'), 1), [`BOOKMARK initial@${first}`]);
  });

  it('wait for a version in the future, also of other resources', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const { test, create, watch, first } = await withConfigMaps();
    const query = `${INITIAL}&resourceVersion=${first + 2}`;
    const seen = events(watch(query, 'default'), 3);
    await create('c');
    await new Promise(setImmediate);
    await test.of('nodes').create('', { metadata: { name: 'n' } }, test.context());
    context.mock.timers.tick(1_000);
    assert.deepEqual(await seen, [`ADDED a@${first - 1}`, `ADDED c@${first + 1}`, `BOOKMARK initial@${first + 2}`]);
  });

  it('come each minute and before the end', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    let nowMs = 0;
    context.mock.method(performance, 'now', () => nowMs);
    const { test, watch, first } = await withConfigMaps();
    const seen: string[] = [];
    const watching = events(watch(`resourceVersion=${first}&allowWatchBookmarks=1&timeoutSeconds=100`), 9);
    void watching.then((all) => seen.push(...all));
    for (let second = 0; second < 100; second++) {
      await new Promise(setImmediate);
      if (second === 30) await test.of('nodes').create('', { metadata: { name: 'n' } }, test.context());
      nowMs += 1_000;
      context.mock.timers.tick(1_000);
    }
    assert.deepEqual(await watching, [`BOOKMARK@${first + 1}`, `BOOKMARK@${first + 1}`, 'END']);
  });

  it('are sent only on request', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const { create, watch, first } = await withConfigMaps();
    const seen = events(watch(`resourceVersion=${first}`), 1);
    await new Promise(setImmediate);
    context.mock.timers.tick(120_000);
    await new Promise(setImmediate);
    await create('c');
    assert.deepEqual(await seen, [`ADDED c@${first + 1}`]);
  });
});
