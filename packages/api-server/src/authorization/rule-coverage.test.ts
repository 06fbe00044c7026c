import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coverageOf } from './rule-coverage.ts';
import { rules } from './test-rbac.fixture.ts';

/** Test cases: the rules that the owner has, the rules to grant, and which of the granted rules the owner lacks. */
const TABLE: [owner: string[], granted: string[], missing: string[]][] = [
  [[], [], []],
  [['get core pods'], ['get core pods'], []],
  [['* * *'], ['read,create core,apps pods,jobs a,b'], []],
  [['* * *'], ['get /x'], ['get /x']],
  [['* *'], ['get core pods'], ['get core pods']],
  [['get core pods', 'list core pods'], ['get,list core pods'], []],
  [['get core pods', 'get core jobs'], ['get core pods,jobs'], []],
  [['get core pods'], ['get,list core,apps pods'], ['list core pods', 'get apps pods', 'list apps pods']],
  [['get core pods'], ['get core pods a'], []],
  [['get core pods a'], ['get core pods'], ['get core pods']],
  [['get core pods a', 'get core pods b'], ['get core pods a,b'], []],
  [['get core pods a'], ['get core pods a,b'], ['get core pods b']],
  [['get core *'], ['get core pods/log'], []],
  [['get core */log'], ['get core pods/log,pods'], ['get core pods']],
  [['get core pods'], ['get core *'], ['get core *']],
  [['get core pods'], ['get core pods/log'], ['get core pods/log']],
  [['get core pods'], ['* core pods'], ['* core pods']],
  [['get core pods'], ['get * pods'], ['get * pods']],
  [['get core */log'], ['get core */log'], []],
  [['get /a/*'], ['get /a/b,/a/*,/a'], ['get /a']],
  [['get /a'], ['get /*'], ['get /*']],
  [['get /a/*'], ['get,put /a/b'], ['put /a/b']],
];

for (const [owner, granted, missing] of TABLE)
  test(`of [${granted.join('; ')}] the owner of [${owner.join('; ')}] lacks [${missing.join('; ')}]`, () => {
    const coverage = coverageOf(rules(...owner), rules(...granted));
    const byText = (values: unknown[]) => values.map((value) => JSON.stringify(value)).sort();
    assert.deepEqual(byText(coverage.missing), byText(rules(...missing)));
    assert.equal(coverage.isComplete, true);
  });

test('long lists can be compared', () => {
  const names = Array.from({ length: 1000 }, (_, index) => `name-${index}`);
  const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: names };
  assert.deepEqual(coverageOf([rule], [{ ...rule, resourceNames: names.toReversed() }]).missing, []);
  assert.equal(coverageOf([rule], [{ ...rule, resourceNames: [...names, 'other'] }]).missing.length, 1);
});

test('lists with an astronomical product are rejected at once', () => {
  const many = Array.from({ length: 10_000 }, (_, index) => `v${index}`);
  const huge = { verbs: many, apiGroups: many, resources: many, resourceNames: many };
  const owned = many.map((name) => ({ ...huge, verbs: [name] }));
  for (const owner of [[], rules('get core pods'), owned]) {
    const before = performance.now();
    const { isComplete, missing } = coverageOf(owner, [huge]);
    assert.equal(isComplete, false);
    assert.ok(missing.length < 20_000, `${missing.length} missing rules`);
    assert.ok(performance.now() - before < 10_000);
  }
});

test('the missing rules are bounded in length', () => {
  const url = 'x'.repeat(1 << 20);
  const rule = { verbs: Array.from({ length: 10_000 }, () => 'get'), nonResourceURLs: [url] };
  assert.deepEqual(coverageOf([], [rule]), {
    missing: [{ verbs: ['get'], nonResourceURLs: [url] }],
    isComplete: false,
  });
});
