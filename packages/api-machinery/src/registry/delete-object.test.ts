import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { ApiObject } from '@podwright/kube-kinds';
import type { RequestContext } from '../request-context.ts';
import { badRequest } from '../status/api-error.ts';
import type { DeleteOptions } from './delete-options.ts';
import { deletionAnswer } from './deletion-answer.ts';
import {
  at,
  configMap,
  decoded,
  deployment,
  events,
  options,
  pod,
  refusal,
  TestRegistries,
} from './test-registries.fixture.ts';

const FINALIZER = 'x.example/a';

/** Creates an object `a` of a resource, and returns a function that deletes it. */
async function withObject(resource: string, object: ApiObject) {
  const test = new TestRegistries();
  const registry = test.of(resource);
  const namespace = object.kind === 'Namespace' ? '' : 'default';
  const made = await registry.create(namespace, object, test.context());
  const remove = (deletion: DeleteOptions = {}, context: Partial<RequestContext> = {}) =>
    registry.delete(at('a', namespace), deletion, test.context(context));
  const isThere = () => registry.list('', options()).then(({ objects }) => objects.length > 0);
  return { test, registry, made, remove, isThere };
}

const held = (finalizers = [FINALIZER]) => configMap('a', { metadata: { name: 'a', finalizers } });

describe('a deletion', () => {
  it('removes an object', async () => {
    const { test, made, remove, isThere } = await withObject('configmaps', configMap('a'));
    const { object, removed } = await remove();
    assert.equal(removed, true);
    assert.equal(object.metadata.uid, made.metadata.uid);
    assert.equal(object.metadata.resourceVersion, String(test.store.revision));
    assert.equal(await isThere(), false);
    assert.equal((await refusal(() => remove())).message, 'configmaps "a" not found');
  });

  it('of an object with finalizers marks it, until an update removes the last one', async () => {
    const { test, registry, remove, isThere } = await withObject('configmaps', held());
    const { object, removed } = await remove();
    assert.equal(removed, false);
    const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
    assert.deepEqual(
      [deletionTimestamp, deletionGracePeriodSeconds, finalizers],
      ['1970-01-01T00:00:01Z', 0, [FINALIZER]],
    );
    const { revision } = test.store;
    test.nowMs += 5_000;
    assert.deepEqual((await remove()).object, object);
    assert.equal(test.store.revision, revision);
    const { finalizers: _, ...metadata } = object.metadata;
    const status = await refusal(() =>
      registry.update(at('a'), { ...object, metadata: { ...metadata, finalizers: ['x.example/b'] } }, test.context()),
    );
    assert.match(status.message, /no new finalizers can be added if the object is being deleted/);
    const dry = await registry.update(at('a'), { ...object, metadata }, test.context({ dryRun: true }));
    assert.equal(dry.object.metadata.finalizers, undefined);
    assert.equal(await isThere(), true);
    const last = await registry.update(at('a'), { ...object, metadata }, test.context());
    assert.equal(last.object.metadata.finalizers, undefined);
    assert.equal(await isThere(), false);
  });

  it('of an object with a generation counts as a change, once', async () => {
    const finalizers = [FINALIZER];
    const { remove } = await withObject('deployments.apps/v1', deployment('a', {}, { finalizers }));
    assert.equal((await remove()).object.metadata.generation, 2);
    assert.equal((await remove()).object.metadata.generation, 2);
  });

  it('as a dry run changes nothing', async () => {
    const free = await withObject('configmaps', configMap('a'));
    const kept = await withObject('configmaps', held());
    assert.equal((await free.remove({}, { dryRun: true })).removed, true);
    assert.equal((await kept.remove({}, { dryRun: true })).object.metadata.deletionGracePeriodSeconds, 0);
    for (const { registry, made } of [free, kept]) assert.deepEqual(registry.get(at('a')).decode(), made);
  });

  it('has preconditions', async () => {
    const { made, remove } = await withObject('configmaps', configMap('a'));
    const { uid, resourceVersion } = made.metadata;
    const check = async (preconditions: DeleteOptions['preconditions'], message: string) => {
      const status = await refusal(() => remove({ preconditions }));
      assert.deepEqual([status.code, status.message], [409, message]);
    };
    const operation = 'Operation cannot be fulfilled on ConfigMap "a": ';
    await check(
      { uid: 'x' },
      `${operation}the UID in the precondition (x) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
    await check(
      { resourceVersion: '1' },
      `${operation}the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
    assert.equal((await remove({ preconditions: { uid, resourceVersion } })).removed, true);
  });
});

describe('the answer to a deletion', () => {
  it('is the object or a Status', async () => {
    const check = async (resource: string, object: ApiObject, expected: object) => {
      const { registry, remove, made } = await withObject(resource, object);
      const answer = deletionAnswer(registry.resource, await remove());
      const { uid } = made.metadata;
      if (answer.kind !== 'Status') assert.deepEqual({ kind: answer.kind }, expected);
      else assert.deepEqual(answer.details, { name: 'a', uid, ...expected });
    };
    await check('pods', pod('a'), { kind: 'Pod' });
    await check('configmaps', configMap('a'), { kind: 'configmaps' });
    await check('configmaps', held(), { kind: 'ConfigMap' });
    await check('deployments.apps/v1', deployment('a'), { kind: 'deployments', group: 'apps' });
  });
});

describe('a propagation policy', () => {
  it('sets the finalizer of the garbage collector', async () => {
    const check = async (
      deletion: DeleteOptions,
      expected: string[],
      given: string[] = [],
      resource = 'configmaps',
    ) => {
      const isJob = resource.startsWith('jobs');
      const metadata = { name: 'a', finalizers: given };
      const object = isJob ? decoded('batch/v1', 'Job', { metadata }) : configMap('a', { metadata });
      const { remove } = await withObject(resource, object);
      const { object: deleted, removed } = await remove(deletion);
      assert.deepEqual([removed ? [] : deleted.metadata.finalizers, removed], [expected, expected.length === 0]);
    };
    await check({}, []);
    await check({ propagationPolicy: 'Foreground' }, ['foregroundDeletion']);
    await check({ propagationPolicy: 'Orphan' }, ['orphan']);
    await check({ propagationPolicy: 'Background' }, []);
    await check({ orphanDependents: true }, ['orphan']);
    await check({ orphanDependents: false }, []);
    await check({ propagationPolicy: 'Orphan' }, [FINALIZER, 'orphan'], ['foregroundDeletion', FINALIZER]);
    await check({ propagationPolicy: 'Background' }, [], ['orphan']);
    await check({}, ['orphan'], ['orphan']);
    await check({}, ['orphan'], [], 'jobs.batch/v1');
    await check({ propagationPolicy: 'Background' }, [], [], 'jobs.batch/v1');
    await check({}, ['foregroundDeletion'], ['foregroundDeletion'], 'jobs.batch/v1');
  });
});

describe('a pod', () => {
  it('has a grace period, which can only be shortened', async () => {
    const { test, remove, isThere } = await withObject('pods', pod('a', { nodeName: 'n' }));
    const times = async (gracePeriodSeconds?: number) => {
      const { object, removed } = await remove(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds });
      const { deletionTimestamp, deletionGracePeriodSeconds, generation } = object.metadata;
      return `${deletionTimestamp!.slice(14, 19)} ${deletionGracePeriodSeconds} ${generation}${removed ? ' removed' : ''}`;
    };
    assert.equal(await times(), '00:31 30 2');
    assert.equal(await times(60), '00:31 30 2');
    assert.equal(await times(), '00:31 30 2');
    assert.equal(await times(20), '00:21 20 2');
    test.nowMs += 10_000;
    assert.equal(await times(5), '00:11 1 2');
    assert.equal(await isThere(), true);
    assert.equal(await times(0), '00:11 0 2 removed');
    assert.equal(await isThere(), false);
  });

  it('with a negative period has one second', async () => {
    const { remove } = await withObject('pods', pod('a', { nodeName: 'n' }));
    assert.equal((await remove({ gracePeriodSeconds: -7 })).object.metadata.deletionGracePeriodSeconds, 1);
  });

  it('without a node is marked and removed at once', async () => {
    const { test, registry, remove } = await withObject('pods', pod('a'));
    const from = test.store.revision;
    const watch = registry.watch({ namespace: '', options: options(`resourceVersion=${from}`) });
    const seen = events(watch, 2);
    const { object, removed } = await remove();
    assert.deepEqual([removed, object.metadata.deletionGracePeriodSeconds], [true, 0]);
    assert.deepEqual(await seen, [`MODIFIED a@${from + 1}`, `DELETED a@${from + 2}`]);
  });

  it('with finalizers remains after its grace period', async () => {
    const object = pod('a', { nodeName: 'n' }, { finalizers: [FINALIZER] });
    const { remove } = await withObject('pods', object);
    assert.equal((await remove()).object.metadata.deletionGracePeriodSeconds, 30);
    const { object: marked, removed } = await remove({ gracePeriodSeconds: 0 });
    assert.deepEqual([marked.metadata.deletionGracePeriodSeconds, removed], [0, false]);
  });

  it('is not removed by an update during its grace period', async () => {
    const { test, registry, remove, isThere } = await withObject('pods', pod('a', { nodeName: 'n' }));
    const { object } = await remove();
    await registry.update(at('a'), { ...object, spec: { nodeName: 'n', containers: [], x: 1 } }, test.context());
    assert.equal(await isThere(), true);
  });
});

describe('a namespace', () => {
  it('remains until its own finalizers are removed', async () => {
    const spec = { finalizers: ['kubernetes'] };
    const namespace = decoded('v1', 'Namespace', { metadata: { name: 'a' }, spec });
    const { test, registry, remove, isThere } = await withObject('namespaces', namespace);
    const { object, removed } = await remove();
    assert.equal(removed, false);
    const { deletionTimestamp, deletionGracePeriodSeconds } = object.metadata;
    assert.deepEqual([deletionTimestamp, deletionGracePeriodSeconds], ['1970-01-01T00:00:01Z', undefined]);
    assert.deepEqual(object.status, { phase: 'Terminating' });
    assert.deepEqual(await remove(), { object, removed: false });
    const context = test.context({ subresource: 'finalize' });
    await registry.update(at('a', ''), { ...object, spec: {} }, context);
    assert.equal(await isThere(), false);
  });

  it('without own finalizers is removed by a second deletion', async () => {
    const { remove } = await withObject('namespaces', decoded('v1', 'Namespace', { metadata: { name: 'a' } }));
    assert.equal((await remove()).removed, false);
    assert.equal((await remove()).removed, true);
  });
});

describe('admission of a deletion', () => {
  it('gets the stored object, and may reject', async () => {
    const seen: string[] = [];
    let isRejected = true;
    const test: TestRegistries = new TestRegistries({
      admission: {
        mutate: async ({ object }) => object,
        validate: async ({ operation, object, oldObject, name }) => {
          seen.push(`${operation} ${name} ${object?.metadata.name} ${oldObject?.metadata.name}`);
          if (operation === 'DELETE' && isRejected) throw new Error('no');
        },
      },
    });
    const configMaps = test.of('configmaps');
    await configMaps.create('default', configMap('a'), test.context());
    await assert.rejects(configMaps.delete(at('a'), {}, test.context()), { message: 'no' });
    isRejected = false;
    await configMaps.deleteCollection({ namespace: 'default', list: options() }, {}, test.context());
    assert.deepEqual(seen, ['CREATE a a undefined', 'DELETE a undefined a', 'DELETE  undefined a']);
  });

  it('is repeated if another write changes the object', async () => {
    let isFirst = true;
    const key = { resource: 'configmaps', namespace: 'default', name: 'a' };
    const test: TestRegistries = new TestRegistries({
      admission: {
        mutate: async ({ object }) => object,
        validate: async ({ operation }) => {
          if (operation !== 'DELETE' || !isFirst) return;
          isFirst = false;
          test.store.update(key, held(), test.store.get(key)!.revision);
        },
      },
    });
    const configMaps = test.of('configmaps');
    await configMaps.create('default', configMap('a'), test.context());
    const { removed, object } = await configMaps.delete(at('a'), {}, test.context());
    assert.deepEqual([removed, object.metadata.finalizers], [false, [FINALIZER]]);
  });
});

describe('a deletion of a collection', () => {
  it('leaves time for other work', async () => {
    const test = new TestRegistries();
    const configMaps = test.of('configmaps');
    for (let index = 0; index < 1_000; index++)
      await configMaps.create('default', configMap(`a${index}`), test.context());
    let isOver = false;
    let turns = 0;
    const deletion = configMaps
      .deleteCollection({ namespace: 'default', list: options() }, {}, test.context())
      .finally(() => {
        isOver = true;
      });
    for (; !isOver; turns++) await setImmediate();
    await deletion;
    assert.ok(turns > 3, `${turns} turns`);
  });

  it('deletes the selected objects, and returns them', async () => {
    const test = new TestRegistries();
    const configMaps = test.of('configmaps');
    for (const name of ['a', 'b', 'c']) {
      const labels = { keep: String(name === 'c') };
      await configMaps.create('default', configMap('', { metadata: { name, labels } }), test.context());
    }
    await configMaps.create('other', configMap('d'), test.context());
    const list = options('labelSelector=keep%3Dfalse');
    const { objects } = await configMaps.deleteCollection({ namespace: 'default', list }, {}, test.context());
    assert.deepEqual(
      objects.map(({ key }) => key),
      ['default/a', 'default/b'],
    );
    const remaining = await configMaps.list('', options());
    assert.deepEqual(
      remaining.objects.map(({ key }) => key),
      ['default/c', 'other/d'],
    );
  });

  it('ends at an object that admission does not let go', async () => {
    const test = new TestRegistries({
      admission: {
        mutate: async ({ object }) => object,
        validate: async ({ operation, oldObject }) => {
          if (operation === 'DELETE' && oldObject!.metadata.name === 'b') throw badRequest('not b');
        },
      },
    });
    const configMaps = test.of('configmaps');
    for (const name of ['a', 'b', 'c']) await configMaps.create('default', configMap(name), test.context());
    const collection = { namespace: '', list: options() };
    const { message } = await refusal(() => configMaps.deleteCollection(collection, {}, test.context()));
    assert.equal(message, 'not b');
    assert.equal((await configMaps.list('', options())).objects.length, 2);
  });

  it('tolerates objects that are removed meanwhile, and ends at an abort', async () => {
    const test: TestRegistries = new TestRegistries({
      admission: {
        mutate: async ({ object }) => object,
        validate: async ({ operation }) => {
          const key = { resource: 'configmaps', namespace: 'default', name: 'b' };
          if (operation === 'DELETE' && test.store.get(key)) test.store.delete(key, test.store.get(key)!.revision);
        },
      },
    });
    const configMaps = test.of('configmaps');
    for (const name of ['a', 'b', 'c']) await configMaps.create('default', configMap(name), test.context());
    const collection = { namespace: '', list: options() };
    const signal = AbortSignal.abort(new Error('over'));
    await assert.rejects(configMaps.deleteCollection(collection, {}, test.context({ signal })), { message: 'over' });
    await configMaps.deleteCollection(collection, {}, test.context());
    assert.deepEqual((await configMaps.list('', options())).objects, []);
  });
});
