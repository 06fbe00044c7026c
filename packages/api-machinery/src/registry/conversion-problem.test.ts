import assert from 'node:assert/strict';
import { it } from 'node:test';
import { at, configMap, refusal, TestRegistries } from './test-registries.fixture.ts';

const metadata = { name: 'a', annotations: { x: '' } };

it('an object that cannot be converted is refused as upstream refuses it', async () => {
  const test = new TestRegistries();
  const registry = test.of('configmaps');
  const check = async (work: () => Promise<unknown>, code: number, message: string) => {
    const status = await refusal(work);
    assert.deepEqual([status.code, status.message], [code, message]);
  };
  const inBody = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: it has x';
  await check(() => registry.create('default', configMap('a', { metadata }), test.context()), 400, inBody);
  const { object: applied } = await registry.patch(
    at('a'),
    {
      mediaType: 'application/apply-patch+yaml',
      patch: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
    },
    test.context(),
  );
  assert.equal(applied.metadata.name, 'a');
  const { revision } = test.store;
  await check(() => registry.update(at('a'), configMap('a', { metadata }), test.context()), 400, inBody);
  const patch = (mediaType: 'merge' | 'strategic-merge' | 'json') => () =>
    registry.patch(
      at('a'),
      {
        mediaType: `application/${mediaType}-patch+json`,
        patch: mediaType === 'json' ? [{ op: 'add', path: '/metadata/annotations', value: { x: '' } }] : { metadata },
      },
      test.context(),
    );
  for (const type of ['merge', 'json'] as const)
    assert.match((await refusal(patch(type))).message, /^ "" is invalid: patch: Invalid value: ".*": it has x$/);
  await check(patch('strategic-merge'), 500, 'it has x');
  const configuration = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, namespace: 'default' } };
  const apply = { mediaType: 'application/apply-patch+yaml', patch: configuration } as const;
  const converting = 'failed to convert to unversioned (default/a; /v1, Kind=ConfigMap): it has x';
  await check(() => registry.patch(at('a'), apply, test.context()), 500, converting);
  assert.equal(test.store.revision, revision);
});
