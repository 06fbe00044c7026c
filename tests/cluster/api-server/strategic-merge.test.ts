/**
 * Strategic merge patches of a Deployment's template, which can be changed freely, on the tests' server, or with PODWRIGHT_KUBERNETES_BIN
 * on the real one.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type Cluster, startCluster } from '../cluster.fixture.ts';
import { at, listAt, textAt } from './json.ts';

let cluster: Cluster;
before(async () => {
  cluster = await startCluster();
});
after(async () => {
  await cluster[Symbol.asyncDispose]();
});

const PATH = '/apis/apps/v1/namespaces/default/deployments';
let count = 0;

/** The pod spec in a template after a patch. */
async function patchedSpec(before: object, patch: object): Promise<unknown> {
  count += 1;
  const labels = { app: 'a' };
  const spec = { containers: [{ name: 'main', image: 'a' }], ...before };
  const made = await cluster.admin.create(PATH, {
    metadata: { name: `patched-${count}` },
    spec: { replicas: 0, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
  assert.equal(made.status, 201, made.text);
  const path = `${PATH}/patched-${count}`;
  const patched = await cluster.admin.patch(path, 'strategic', { spec: { template: { spec: patch } } });
  assert.equal(patched.status, 200, patched.text);
  return at(patched.body, 'spec', 'template', 'spec');
}

/** Checks a field of the spec after a patch. An empty map counts as missing: Go omits it. */
async function check(before: object, patch: object, { seen, expected }: { seen: string; expected: unknown }) {
  const found = at(await patchedSpec(before, patch), seen);
  assert.deepEqual(isDeepStrictEqual(found, {}) ? undefined : found, expected);
}

/** Checks the containers after a patch, as `name:image`. */
async function checkContainers(patch: object, expected: string[]): Promise<void> {
  const containers = listAt(await patchedSpec(three, patch), 'containers');
  assert.deepEqual(
    containers.map((container) => `${textAt(container, 'name')}:${textAt(container, 'image')}`),
    expected,
  );
}

const image = (name: string, of = name) => ({ name, image: of });
const three = { containers: [image('a'), image('b'), image('c')] };

describe('lists with a key', () => {
  it('merge their elements, with new ones in the order of the patch', async () => {
    const containers = [image('d'), image('b', 'B')];
    await checkContainers({ containers }, ['d:d', 'a:a', 'b:B', 'c:c']);
  });

  it('lose elements that a patch deletes', async () => {
    const containers = [{ $patch: 'delete', name: 'b' }, image('c', 'C')];
    await checkContainers({ containers }, ['a:a', 'c:C']);
  });

  it('are replaced by a directive', async () => {
    const containers = [{ $patch: 'replace' }, image('z')];
    await checkContainers({ containers }, ['z:z']);
  });

  it('have the order of the patch, with other elements at their old positions', async () => {
    const order = (...keys: string[]) => ({ '$setElementOrder/containers': keys.map((name) => ({ name })) });
    const cases: [object, string[]][] = [
      [order('c', 'a'), ['b:b', 'c:c', 'a:a']],
      [{ ...order('c', 'b', 'a'), containers: [image('a', 'A')] }, ['c:c', 'b:b', 'a:A']],
      [{ ...order('b', 'd'), containers: [image('d')] }, ['a:a', 'b:b', 'd:d', 'c:c']],
      [{ ...order('d', 'a'), containers: [image('d')] }, ['d:d', 'a:a', 'b:b', 'c:c']],
    ];
    for (const [patch, expected] of cases) await checkContainers(patch, expected);
  });

  it('merge within their elements, by the keys of those lists', async () => {
    const env = (...of: string[]) => of.map((one) => ({ name: one[0], value: one[1] }));
    const before = {
      containers: [
        { ...image('a'), env: env('x1', 'y1'), ports: [{ containerPort: 80, name: 'web' }], args: ['1', '2'] },
      ],
    };
    const patch = {
      containers: [
        {
          name: 'a',
          env: [
            { name: 'y', value: '2' },
            { name: 'x', $patch: 'delete' },
          ],
          ports: [{ containerPort: 81 }],
          args: ['3'],
        },
      ],
    };
    const [container] = listAt(await patchedSpec(before, patch), 'containers');
    const ports = listAt(container, 'ports').map((port) => at(port, 'containerPort'));
    assert.deepEqual([at(container, 'env'), ports, at(container, 'args')], [env('y2'), [81, 80], ['3']]);
  });
});

describe('maps', () => {
  it('lose keys that are null, and are replaced by a directive', async () => {
    const before = { nodeSelector: { a: '1', b: '2' } };
    await check(before, { nodeSelector: { a: null, c: '3' } }, { seen: 'nodeSelector', expected: { b: '2', c: '3' } });
    await check(
      before,
      { nodeSelector: { $patch: 'replace', c: '3' } },
      { seen: 'nodeSelector', expected: { c: '3' } },
    );
    await check(before, { nodeSelector: { $patch: 'delete' } }, { seen: 'nodeSelector', expected: undefined });
    await check({}, { nodeSelector: { a: null, c: '3' } }, { seen: 'nodeSelector', expected: { c: '3' } });
  });

  it('keep only the keys that a patch retains', async () => {
    const before = { volumes: [{ name: 'v', emptyDir: {} }] };
    const volumes = [{ $retainKeys: ['name', 'hostPath'], name: 'v', hostPath: { path: '/x', type: '' } }];
    await check(
      before,
      { volumes },
      { seen: 'volumes', expected: [{ name: 'v', hostPath: { path: '/x', type: '' } }] },
    );
  });
});

describe('other lists', () => {
  it('are replaced', async () => {
    const toleration = (key: string) => ({ key, operator: 'Exists' });
    const seen = 'tolerations';
    await check(
      { tolerations: [toleration('a')] },
      { tolerations: [toleration('b')] },
      { seen, expected: [toleration('b')] },
    );
  });

  it('of merged scalars are sets, from which a patch can remove', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    await cluster.admin.create(path, { metadata: { name: 'set', finalizers: ['x.example/a', 'x.example/b'] } });
    const change = async (metadata: object) =>
      (await cluster.admin.patch(`${path}/set`, 'strategic', { metadata })).body.metadata.finalizers;
    assert.deepEqual(await change({ finalizers: ['x.example/c', 'x.example/a'] }), [
      'x.example/c',
      'x.example/a',
      'x.example/b',
    ]);
    assert.deepEqual(await change({ '$deleteFromPrimitiveList/finalizers': ['x.example/b'] }), [
      'x.example/c',
      'x.example/a',
    ]);
  });
});
