import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../json.ts';
import { Schema } from '../schema/schema.ts';
import { strategicMerge } from './strategic-merge.ts';

const schema = await Schema.load();

function check(type: string, original: JsonObject, [patch, expected]: [JsonObject, JsonObject]): void {
  const before = structuredClone({ original, patch });
  assert.deepEqual(strategicMerge(original, patch, { schema, type: schema.type(type) }), expected);
  assert.deepEqual({ original, patch }, before, 'neither is modified');
}

function refuse(
  type: string,
  { original, patch }: { original: JsonObject; patch: JsonObject },
  expected: { code: string; message: RegExp | string },
) {
  assert.throws(() => strategicMerge(original, patch, { schema, type: schema.type(type) }), expected);
}

const POD = 'core.v1.PodSpec';
const image = (name: string, of = name) => ({ name, image: of });
const three = { containers: [image('a'), image('b'), image('c')] };
const order = (...names: string[]) => ({ '$setElementOrder/containers': names.map((name) => ({ name })) });

describe('lists with a key', () => {
  it('merge their elements, with new ones in the order of the patch', () => {
    const containers = [image('d'), image('b', 'B')];
    check(POD, three, [{ containers }, { containers: [image('d'), image('a'), image('b', 'B'), image('c')] }]);
  });

  it('lose elements that a patch deletes, and are replaced by a directive', () => {
    const deleted = { containers: [{ $patch: 'delete', name: 'b' }, image('c', 'C')] };
    check(POD, three, [deleted, { containers: [image('a'), image('c', 'C')] }]);
    check(POD, three, [{ containers: [{ $patch: 'replace' }, image('z')] }, { containers: [image('z')] }]);
    check(POD, {}, [deleted, { containers: [image('c', 'C')] }]);
  });

  it('have the order of the patch, with other elements at their old positions', () => {
    const cases: [JsonObject, string[]][] = [
      [order('c', 'a'), ['b:b', 'c:c', 'a:a']],
      [{ ...order('c', 'b', 'a'), containers: [image('a', 'A')] }, ['c:c', 'b:b', 'a:A']],
      [{ ...order('b', 'd'), containers: [image('d')] }, ['a:a', 'b:b', 'd:d', 'c:c']],
      [{ ...order('d', 'a'), containers: [image('d')] }, ['d:d', 'a:a', 'b:b', 'c:c']],
    ];
    for (const [patch, expected] of cases) {
      const containers = expected.map((one) => image(...(one.split(':') as [string, string])));
      check(POD, three, [patch, { containers }]);
    }
  });

  it('merge within their elements, by the keys of those lists', () => {
    const env = [
      { name: 'x', value: '1' },
      { name: 'y', value: '1' },
    ];
    const before = {
      containers: [{ ...image('a'), env, ports: [{ containerPort: 80, name: 'web' }], args: ['1', '2'] }],
    };
    const changes = {
      env: [
        { name: 'y', value: '2' },
        { name: 'x', $patch: 'delete' },
      ],
      ports: [{ containerPort: 81 }],
      args: ['3'],
    };
    const ports = [{ containerPort: 81 }, { containerPort: 80, name: 'web' }];
    const expected = { containers: [{ ...image('a'), env: [{ name: 'y', value: '2' }], ports, args: ['3'] }] };
    check(POD, before, [{ containers: [{ name: 'a', ...changes }] }, expected]);
  });

  it('of any kind have the keys of its schema', () => {
    const conditions = [
      { type: 'A', status: 'True' },
      { type: 'B', status: 'True' },
    ];
    const patch = { conditions: [{ type: 'B', status: 'False', message: null }] };
    const merged = { conditions: [conditions[0], { type: 'B', status: 'False' }] };
    check('apps.v1.DeploymentStatus', { conditions }, [patch, merged]);
    // the lists in this test have no merge strategy, so the patch replaces them
    const replaced = { conditions: [conditions[1]] };
    check('certificates.v1.CertificateSigningRequestStatus', { conditions }, [replaced, replaced]);
    check('rbac.v1.RoleBinding', { subjects: [{ name: 'a' }] }, [
      { subjects: [{ name: 'b' }] },
      { subjects: [{ name: 'b' }] },
    ]);
  });

  it('need the key in each element', () => {
    const expected = { code: 'internal', message: 'map: map[image:x] does not contain declared merge key: name' };
    refuse(POD, { original: three, patch: { containers: [{ image: 'x' }] } }, expected);
    refuse(
      POD,
      { original: three, patch: { containers: ['a'] } },
      { code: 'internal', message: /^list element types are not identical: \[\[map\[.*\] \[a\]\]$/ },
    );
    refuse(
      POD,
      { original: three, patch: { containers: [[]] } },
      { code: 'internal', message: /types are not identical/ },
    );
    refuse(
      POD,
      { original: three, patch: { containers: [{ $patch: 'merge', name: 'a' }] } },
      { code: 'internal', message: /merging lists/ },
    );
    const wrongOrder = { ...order('b', 'a'), containers: [image('a'), image('b')] };
    refuse(
      POD,
      { original: three, patch: wrongOrder },
      {
        code: 'internal',
        message:
          "The order in patch list:\n[map[image:a name:a] map[image:b name:b]]\n doesn't match $setElementOrder list:\n[map[name:b] map[name:a]]\n",
      },
    );
  });

  it('need directives of the right types', () => {
    const checkOrder = (list: unknown, message: string, more: object = {}) =>
      refuse(
        POD,
        { original: three, patch: { '$setElementOrder/containers': list, ...more } },
        { code: 'internal', message },
      );
    checkOrder({}, 'expected a []interface {}, but received a map[string]interface {}');
    checkOrder('a', 'expected a []interface {}, but received a string');
    checkOrder(null, 'expected a []interface {}, but received a %!s(<nil>)');
    checkOrder([], 'expected a []interface {}, but received a int64', { containers: 7 });
    checkOrder([], 'expected a []interface {}, but received a %!s(<nil>)', { containers: null });
    checkOrder(['a'], 'expected a map[string]interface {}, but received a string', { containers: [{ name: 'a' }] });
    checkOrder([{ n: 1 }], 'map: map[n:1] does not contain declared merge key: name', { containers: [{ name: 'a' }] });
    for (const name of ['$setElementOrder', '$setElementOrderOf/containers', '$deleteFromPrimitiveList'])
      refuse(
        POD,
        { original: three, patch: { [name]: [] } },
        { code: 'invalid_argument', message: /^invalid patch format of/ },
      );
    const directive = { $patch: 7, name: 'a' };
    const unknown = { code: 'internal', message: 'unknown patch type: %!s(int64=7) in map: map[$patch:7 name:a]' };
    refuse(POD, { original: three, patch: { containers: [directive] } }, unknown);
  });

  it('may have elements whose key is null', () => {
    const original = { containers: [{ name: 'a' }] };
    check(POD, original, [{ containers: [{ name: null }] }, { containers: [{}, { name: 'a' }] }]);
  });
});

describe('lists of scalars', () => {
  const META = 'meta.v1.ObjectMeta';
  const before = { finalizers: ['a', 'b'] };

  it('are sets if the schema says so, from which a patch can remove', () => {
    check(META, before, [{ finalizers: ['c', 'a'] }, { finalizers: ['c', 'a', 'b'] }]);
    check(META, before, [{ '$deleteFromPrimitiveList/finalizers': ['b', 'x'] }, { finalizers: ['a'] }]);
    const both = {
      '$setElementOrder/finalizers': ['c', 'a'],
      '$deleteFromPrimitiveList/finalizers': ['b'],
      finalizers: ['c'],
    };
    check(META, before, [both, { finalizers: ['c', 'a'] }]);
    check(META, {}, [{ '$deleteFromPrimitiveList/finalizers': ['b'] }, {}]);
    check(META, before, [{ '$deleteFromPrimitiveList/finalizers': 'b' }, before]);
    check(META, before, [{ '$deleteFromPrimitiveList/finalizers': null }, {}]);
  });

  it('and lists without a strategy are replaced', () => {
    const toleration = (key: string) => ({ key, operator: 'Exists' });
    check(POD, { tolerations: [toleration('a')] }, [
      { tolerations: [toleration('b')] },
      { tolerations: [toleration('b')] },
    ]);
  });
});

describe('objects and maps', () => {
  const before = { nodeSelector: { a: '1', b: '2' } };

  it('lose keys that are null, and are replaced or removed by a directive', () => {
    check(POD, before, [{ nodeSelector: { a: null, c: '3' } }, { nodeSelector: { b: '2', c: '3' } }]);
    check(POD, before, [{ nodeSelector: { $patch: 'replace', c: '3' } }, { nodeSelector: { c: '3' } }]);
    check(POD, before, [{ nodeSelector: { $patch: 'delete' } }, { nodeSelector: {} }]);
    check(POD, {}, [{ nodeSelector: { a: null, c: '3' } }, { nodeSelector: { c: '3' } }]);
    check(POD, {}, [{ nodeSelector: { $patch: 'replace', c: '3' } }, {}]);
    refuse(
      POD,
      { original: before, patch: { nodeSelector: { $patch: 'merge' } } },
      { code: 'internal', message: 'unknown patch type: merge in map: map[$patch:merge]' },
    );
  });

  it('keep only the keys that a patch retains', () => {
    const volumes = [{ $retainKeys: ['name', 'hostPath'], name: 'v', hostPath: { path: '/x' } }];
    const expected = { volumes: [{ name: 'v', hostPath: { path: '/x' } }] };
    check(POD, { volumes: [{ name: 'v', emptyDir: {} }] }, [{ volumes }, expected]);
    const strategy = { $retainKeys: ['type'], type: 'Recreate' };
    const rolling = { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } };
    check('apps.v1.DeploymentSpec', rolling, [{ strategy }, { strategy: { type: 'Recreate' } }]);
    const wrong = { volumes: [{ $retainKeys: ['name'], name: 'v', hostPath: {} }] };
    refuse(
      POD,
      { original: { volumes: [{ name: 'v' }] }, patch: wrong },
      { code: 'invalid_argument', message: /retainKeys/ },
    );
  });

  it('are replaced if the schema says so', () => {
    const selector = (key: string) => ({ selector: { matchLabels: { [key]: '1' } } });
    check('policy.v1.PodDisruptionBudgetSpec', selector('a'), [selector('b'), selector('b')]);
  });

  it('may have names that objects inherit', () => {
    const patch = JSON.parse('{"nodeSelector":{"__proto__":"x","constructor":"y"}}');
    check(POD, before, [patch, JSON.parse('{"nodeSelector":{"a":"1","b":"2","__proto__":"x","constructor":"y"}}')]);
  });
});

describe('hostile patches', () => {
  it('of long lists take linear time', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => ({ name: `v${index}`, value: 'x' }));
    const start = performance.now();
    const patch = { env: many.toReversed(), '$setElementOrder/env': many.toReversed().map(({ name }) => ({ name })) };
    strategicMerge({ name: 'a', env: many }, patch, { schema, type: schema.type('core.v1.Container') });
    assert.ok(performance.now() - start < 5000);
  });

  it('that are too deep are refused', () => {
    let deep: JsonObject = {};
    for (let depth = 0; depth < 2000; depth++) deep = { a: deep };
    refuse('core.v1.ConfigMap', { original: {}, patch: deep }, { code: 'invalid_argument', message: /max depth/ });
  });
});
