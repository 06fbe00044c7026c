import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ObjectList } from './list-objects.ts';
import { at, configMap, decoded, options, pod, refusal, TestRegistries } from './test-registries.fixture.ts';

/** Creates ConfigMaps `default/a` to `default/e` with the label `odd`, and `other/a`. */
async function withConfigMaps(parts: ConstructorParameters<typeof TestRegistries>[0] = {}) {
  const test = new TestRegistries(parts);
  const registry = test.of('configmaps');
  for (const [index, name] of ['a', 'b', 'c', 'd', 'e'].entries()) {
    const labels = { odd: String(index % 2 === 1) };
    await registry.create('default', configMap('', { metadata: { name, labels } }), test.context());
  }
  await registry.create('other', configMap('a'), test.context());
  return { test, registry, list: (query = '', namespace = '') => registry.list(namespace, options(query)) };
}

const keys = ({ objects }: ObjectList) => objects.map(({ key }) => key.replace('default/', '')).join(' ');

describe('a list', () => {
  it('has the objects in order, with the newest version', async () => {
    const { test, list } = await withConfigMaps();
    const all = await list();
    assert.deepEqual([keys(all), all.revision, all.continue], ['a b c d e other/a', test.store.revision, undefined]);
    assert.equal(keys(await list('', 'other')), 'other/a');
    assert.equal(keys(await list('', 'none')), '');
    assert.equal(keys(await list('resourceVersion=0&limit=2')), 'a b c d e other/a');
  });

  it('is selected by labels and fields', async () => {
    const { list } = await withConfigMaps();
    assert.equal(keys(await list('labelSelector=odd%3Dtrue')), 'b d');
    assert.equal(keys(await list('fieldSelector=metadata.name%3Da')), 'a other/a');
    assert.equal(keys(await list('fieldSelector=metadata.namespace%3Dother')), 'other/a');
    assert.equal(keys(await list('fieldSelector=metadata.name%3Da&labelSelector=odd%3Dfalse')), 'a');
    assert.equal(keys(await list('fieldSelector=metadata.name%3Da,metadata.name%3Db', 'default')), '');
    assert.equal(keys(await list('fieldSelector=metadata.name%3Db&labelSelector=odd%3Dfalse', 'default')), '');
    assert.equal(keys(await list('fieldSelector=metadata.namespace%3Dother', 'default')), '');
  });

  it('of one name reads one object', async () => {
    const { test, list } = await withConfigMaps();
    test.store.list = () => assert.fail('the whole list is read');
    assert.equal(keys(await list('fieldSelector=metadata.name%3Db', 'default')), 'b');
    assert.equal(keys(await list('fieldSelector=metadata.name%3Dz', 'default')), '');
  });

  it('of the pods of a node reads an index', async () => {
    const test = new TestRegistries();
    const pods = test.of('pods');
    for (const [name, nodeName] of [
      ['a', 'n'],
      ['b', 'm'],
      ['c', 'n'],
      ['d', ''],
    ] as const)
      await pods.create('default', pod(name, nodeName === '' ? {} : { nodeName }), test.context());
    const { list } = test.store;
    const indexes: unknown[] = [];
    test.store.list = (resource, given) => {
      indexes.push(given?.index);
      return list.call(test.store, resource, given);
    };
    const check = async (query: string, expected: string, index?: object) => {
      assert.equal(keys(await pods.list('', options(`fieldSelector=${encodeURIComponent(query)}`))), expected);
      assert.deepEqual(indexes.pop(), index);
    };
    await check('spec.nodeName=n', 'a c', { name: 'spec.nodeName', value: 'n' });
    await check('spec.nodeName=', 'd', { name: 'spec.nodeName', value: '' });
    await check('spec.nodeName=n,metadata.name!=a', 'c', { name: 'spec.nodeName', value: 'n' });
    await check('spec.nodeName!=n', 'b d');
    await check('status.phase=', 'a b c d');
  });

  it('of cluster-scoped objects has no namespaces', async () => {
    const test = new TestRegistries();
    const nodes = test.of('nodes');
    await nodes.create('', decoded('v1', 'Node', { metadata: { name: 'n' } }), test.context());
    assert.equal(keys(await nodes.list('', options('fieldSelector=metadata.name%3Dn'))), '/n');
  });
});

describe('pages', () => {
  it('have the version of the first one', async () => {
    const { test, registry, list } = await withConfigMaps();
    const first = await list('limit=2');
    assert.deepEqual([keys(first), first.remainingItemCount], ['a b', 4]);
    await registry.delete(at('c'), {}, test.context());
    await registry.create('default', configMap('cc'), test.context());
    const second = await list(`limit=2&continue=${first.continue}`);
    assert.deepEqual([keys(second), second.revision, second.remainingItemCount], ['c d', first.revision, 2]);
    const last = await list(`continue=${second.continue}`);
    assert.deepEqual([keys(last), last.revision, last.continue], ['e other/a', first.revision, undefined]);
  });

  it('of a selection have no count of the rest', async () => {
    const { list } = await withConfigMaps();
    const first = await list('limit=1&labelSelector=odd%3Dtrue');
    assert.deepEqual([keys(first), first.remainingItemCount], ['b', undefined]);
    const last = await list(`limit=1&labelSelector=odd%3Dtrue&continue=${first.continue}`);
    assert.deepEqual([keys(last), last.continue], ['d', undefined]);
  });

  it('with an expired token get a new one, for an inconsistent rest', async () => {
    const { test, registry, list } = await withConfigMaps({ history: { maxEvents: 2, maxBytes: 1 << 20 } });
    const first = await list('limit=2');
    await registry.delete(at('c'), {}, test.context());
    for (const name of ['f', 'g']) await registry.create('default', configMap(name), test.context());
    const { code, reason, message, metadata } = await refusal(() => list(`limit=2&continue=${first.continue}`));
    assert.deepEqual([code, reason], [410, 'Expired']);
    assert.match(
      message,
      /^The provided continue parameter is too old to display a consistent list result\. .* now may show up in the list\.$/,
    );
    const rest = await list(`limit=2&continue=${metadata.continue}`);
    assert.deepEqual([keys(rest), rest.revision], ['d e', test.store.revision]);
    assert.equal(keys(await list(`continue=${rest.continue}`)), 'f g other/a');
  });

  it('cannot have another version', async () => {
    const { list } = await withConfigMaps();
    const first = await list('limit=2');
    const { message } = await refusal(() => list(`continue=${first.continue}&resourceVersion=3`));
    assert.equal(message, 'specifying resource version is not allowed when using continue');
    assert.equal((await refusal(() => list('continue=x'))).code, 400);
  });
});

describe('the version of a list', () => {
  it('is exact, or a minimum', async () => {
    const { test, registry, list } = await withConfigMaps();
    const { revision } = test.store;
    await registry.delete(at('a'), {}, test.context());
    const check = async (query: string, expected: string, version = test.store.revision) => {
      const listed = await list(`resourceVersion=${revision}${query}`);
      assert.deepEqual([keys(listed), listed.revision], [expected, version], query);
    };
    await check('', 'b c d e other/a');
    await check('&resourceVersionMatch=NotOlderThan', 'b c d e other/a');
    await check('&resourceVersionMatch=NotOlderThan&limit=1', 'b');
    await check('&resourceVersionMatch=Exact', 'a b c d e other/a', revision);
    await check('&limit=1', 'a', revision);
    await check('&resourceVersionMatch=Exact&fieldSelector=metadata.name%3Da', 'a other/a', revision);
  });

  it('that the history does not have any more is expired', async () => {
    const { list } = await withConfigMaps({ history: { maxEvents: 2, maxBytes: 1 << 20 } });
    const { code, message } = await refusal(() => list('resourceVersion=2&resourceVersionMatch=Exact'));
    assert.deepEqual([code, message], [410, 'The resourceVersion for the provided list is too old.']);
  });

  it('in the future is awaited', async () => {
    const { test, registry, list } = await withConfigMaps();
    const listed = list(`resourceVersion=${test.store.revision + 1}`);
    await registry.delete(at('a'), {}, test.context());
    assert.equal(keys(await listed), 'b c d e other/a');
  });

  it('in the far future is too large after three seconds, or when the request ends', async (context) => {
    const { test, registry, list } = await withConfigMaps();
    const signal = AbortSignal.abort(new Error('over'));
    await assert.rejects(registry.list('', options('resourceVersion=999'), signal), { name: 'AbortError' });
    context.mock.method(performance, 'now', () => (now += 1_000));
    let now = 0;
    const { code, reason, message, details } = await refusal(() => list('resourceVersion=999'));
    assert.deepEqual([code, reason], [504, 'Timeout']);
    assert.equal(message, `Timeout: Too large resource version: 999, current: ${test.store.revision}`);
    assert.deepEqual(details, {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    });
  });
});
