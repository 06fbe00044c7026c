import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { ApiObject } from '@podwright/kube-kinds';
import type { JsonSchema } from '../json-schema.ts';
import { definitionRuleErrors } from './definition-rule-errors.ts';
import { objectRules } from './object-rules.ts';

const INT: JsonSchema = { type: 'integer' };
const TEXT: JsonSchema = { type: 'string' };
const PRESERVED: JsonSchema = { 'x-kubernetes-preserve-unknown-fields': true };

const object = (properties: Record<string, JsonSchema>, ...rules: object[]): JsonSchema => ({
  type: 'object',
  properties,
  'x-kubernetes-validations': rules,
});

const definition = (schema: JsonSchema): ApiObject =>
  ({
    metadata: { name: 'foos.example.com' },
    spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: schema } }] },
  }) as unknown as ApiObject;

function problems(schema: JsonSchema): string[] {
  return definitionRuleErrors(definition(schema)).map(({ field, message }) => {
    const place = field.replace('spec.validation.openAPIV3Schema', '');
    return `${place}: ${message.replace(/Invalid value: \{"Rule".*?\}: /, '')}`;
  });
}

async function errors(schema: JsonSchema, value: unknown, old?: unknown): Promise<string[]> {
  return (await objectRules(schema)!(value, old)).errors.map(({ field, message }) => `${field}: ${message}`);
}

test('rules that do not compile have upstream’s errors', () => {
  const rule = (text: string, more: object = {}) => problems(object({ a: INT }, { rule: text, ...more }));
  const at = '.x-kubernetes-validations[0]';
  assert.deepEqual(rule('self.a > 1'), []);
  assert.deepEqual(rule('self.b > 1'), [
    `${at}.rule: compilation failed: ERROR: <input>:1:5: undefined field 'b'\n | self.b > 1\n | ....^`,
  ]);
  assert.deepEqual(rule('self.a'), [`${at}.rule: cel expression must evaluate to a bool`]);
  assert.deepEqual(rule('self.a > 1', { messageExpression: 'self.a' }), [
    `${at}.messageExpression: messageExpression must evaluate to a string`,
  ]);
  assert.deepEqual(rule('self.a > 1', { optionalOldSelf: true }), [
    `${at}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`,
  ]);
  assert.deepEqual(rule('self.metadata.name.startsWith(self.kind)'), []);
  assert.match(rule('self.metadata.labels == {}')[0]!, /undefined field 'labels'/);
});

test('uncorrelatable elements cannot use oldSelf', async () => {
  const list = (type: string): JsonSchema => ({
    type: 'array',
    'x-kubernetes-list-type': type,
    'x-kubernetes-list-map-keys': ['a'],
    items: object({ a: INT }, { rule: 'self.a == oldSelf.a' }),
  });
  assert.deepEqual(problems(object({ l: list('map') })), []);
  assert.deepEqual(problems(object({ l: list('atomic') })), [
    '.properties[l].items.x-kubernetes-validations[0].rule: Invalid value: "self.a == oldSelf.a": oldSelf cannot be used on the uncorrelatable portion of the schema within spec.validation.openAPIV3Schema.properties[l]',
  ]);
});

test('values that violate a rule have its message, reason and path', async () => {
  const one = (rule: object) => errors(object({ spec: object({ a: INT, b: INT }, rule) }), { spec: { a: 1, b: 2 } });
  assert.deepEqual(await one({ rule: 'self.a < self.b' }), []);
  assert.deepEqual(await one({ rule: 'self.a > self.b' }), ['spec: Invalid value: failed rule: self.a > self.b']);
  assert.deepEqual(await one({ rule: 'false', message: ' no ' }), ['spec: Invalid value: no']);
  assert.deepEqual(await one({ rule: 'false', messageExpression: '"a is " + string(self.a)' }), [
    'spec: Invalid value: a is 1',
  ]);
  assert.deepEqual(await one({ rule: 'false', message: 'no', messageExpression: 'self.a / 0 > 1 ? "" : "x"' }), [
    'spec: Invalid value: no',
  ]);
  assert.deepEqual(await one({ rule: 'false', reason: 'FieldValueRequired', fieldPath: '.a', message: 'x' }), [
    'spec.a: Required value: x',
  ]);
  assert.deepEqual(await one({ rule: 'self.a / 0 == 1' }), [
    'spec: Invalid value: "object": division by zero evaluating rule: self.a / 0 == 1',
  ]);
  assert.deepEqual(
    await errors(object({ a: { ...INT, 'x-kubernetes-validations': [{ rule: 'self > 1' }] } }), { a: 1 }),
    ['a: Invalid value: 1: failed rule: self > 1'],
  );
  assert.deepEqual(await errors(object({ a: INT }, { rule: 'self.a > 1' }), { a: 0 }), [
    '<nil>: Invalid value: failed rule: self.a > 1',
  ]);
});

test('transition rules need an old state, and unchanged values only cause warnings', async () => {
  const schema = object({ a: INT, b: object({ c: INT }, { rule: 'self.c > 1' }) }, { rule: 'self.a >= oldSelf.a' });
  assert.deepEqual(await errors(schema, { a: 1 }), []);
  assert.deepEqual(await errors(schema, { a: 1 }, { a: 1 }), []);
  assert.deepEqual(await errors(schema, { a: 1 }, { a: 2 }), [
    '<nil>: Invalid value: failed rule: self.a >= oldSelf.a',
  ]);
  assert.deepEqual((await errors(schema, { a: 1, b: { c: 0 } }, { a: 1, b: { c: 1 } })).length, 1);
  const { errors: none, warnings } = await objectRules(schema)!({ a: 2, b: { c: 1 } }, { a: 1, b: { c: 1 } });
  assert.deepEqual([none, warnings], [[], ['b: Invalid value: failed rule: self.c > 1']]);
  const optional = object(
    { a: INT },
    { rule: 'oldSelf.optMap(o, o.a < self.a).orValue(self.a == 0)', optionalOldSelf: true },
  );
  assert.deepEqual(await errors(optional, { a: 0 }), []);
  assert.equal((await errors(optional, { a: 1 })).length, 1);
  assert.deepEqual(await errors(optional, { a: 1 }, { a: 0 }), []);
});

test('objects are equal if their null and undeclared fields are equal too', async () => {
  const rule = (text: string) => object({ a: { ...INT, nullable: true }, b: INT, any: PRESERVED }, { rule: text });
  const equal = rule('self == oldSelf');
  assert.deepEqual(await errors(equal, { a: null, b: 1 }, { a: null, b: 1 }), []);
  assert.equal((await errors(equal, { a: null }, {})).length, 1);
  assert.equal((await errors(equal, { a: null, b: 1 }, { a: 1, b: 1 })).length, 1);
  assert.deepEqual(await errors(equal, { any: { x: [1, null] } }, { any: { x: [1, null] } }), []);
  assert.equal((await errors(equal, { any: { x: [1] } }, { any: { x: [2] } })).length, 1);
  assert.equal((await errors(equal, { undeclared: 1 }, { undeclared: 2 })).length, 1);
  const inObject = object({ o: { type: 'object', ...PRESERVED } }, { rule: 'self.o == oldSelf.o' });
  assert.equal((await errors(inObject, { o: { x: 1 } }, { o: { x: 2 } })).length, 1);
  assert.deepEqual(await errors(inObject, { o: { x: 1 } }, { o: { x: 1 } }), []);
});

test('a null field is a key without a value', async () => {
  const rule = (text: string) => errors(object({ a: { ...INT, nullable: true } }, { rule: text }), { a: null });
  assert.deepEqual(await rule('!has(self.a)'), []);
  assert.deepEqual(await rule('dyn(self).all(k, k == "a") && dyn(self).size() == 1'), []);
  assert.deepEqual(await rule('{"x": self}.all(k, v, v == self)'), []);
  for (const text of ['dyn(self).all(k, v, v == 1)', '"%s".format([self]) == ""'])
    assert.match((await rule(text)).join(), /no such key: a/, text);
});

test('elements of maps are compared with those with the same keys', async () => {
  const items = { ...object({ n: TEXT, v: INT }, { rule: 'self.v >= oldSelf.v' }), required: ['n'] };
  const list: JsonSchema = {
    ...{ type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['n'], items },
    'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'changed' }],
  };
  const check = (now: object[], old: object[]) => errors(object({ l: list }), { l: now }, { l: old });
  const [a, b] = [
    { n: 'a', v: 1 },
    { n: 'b', v: 2 },
  ];
  assert.deepEqual(await check([b, a], [a, b]), []);
  assert.deepEqual(await check([b, { n: 'a', v: 0 }], [a, b]), [
    'l: Invalid value: changed',
    'l[1]: Invalid value: failed rule: self.v >= oldSelf.v',
  ]);
});

test('all rules for an object together take bounded time', async () => {
  const startMs = performance.now();
  const items = {
    ...INT,
    'x-kubernetes-validations': [{ rule: 'lists.range(700).all(x, lists.range(700).all(y, x + y >= 0))' }],
  };
  const found = await errors(object({ l: { type: 'array', items } }), { l: Array(1000).fill(1) });
  assert.equal(found.length, 1);
  assert.match(found[0]!, /^l\[0\]: .*no further validation rules will be run due to call cost exceeds limit/);
  const cheaper = {
    ...INT,
    'x-kubernetes-validations': [{ rule: 'lists.range(200).all(x, lists.range(200).all(y, true))' }],
  };
  const many = await errors(object({ l: { type: 'array', items: cheaper } }), { l: Array(1000).fill(1) });
  assert.match(many.join(), /^l\[\d+\]: .*validation failed due to running out of cost budget/);
  assert.ok(performance.now() - startMs < 20_000);
});

test('definitions with too many rules are refused before they are compiled', async () => {
  const rule = Array(20_000).fill('true').join('&&');
  const rules = [{ rule }, { rule }, { rule }];
  assert.deepEqual(problems(object({ a: INT }, ...rules)), [
    'spec.versions: Forbidden: rules in CEL must have at most 300000 characters together',
  ]);
});

test('other work runs between the rules of an object', async () => {
  const rule = { rule: 'lists.range(200).all(x, lists.range(200).all(y, true))' };
  const running = errors(object({ a: INT }, ...Array.from({ length: 20 }, () => rule)), { a: 1 });
  let turns = 0;
  let isRunning = true;
  void running.finally(() => {
    isRunning = false;
  });
  for (; isRunning; turns++) await setImmediate();
  assert.deepEqual(await running, []);
  assert.ok(turns > 10, `${turns} turns`);
});

test('sets in the same order are compared in linear time', async () => {
  const startMs = performance.now();
  const list = { type: 'array', 'x-kubernetes-list-type': 'set', items: INT };
  const values = Array.from({ length: 200_000 }, (_, index) => index);
  const found = await errors(
    object({ l: { ...list, 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'changed' }] } }),
    { l: values },
    { l: [...values.slice(0, -1), -1] },
  );
  assert.deepEqual(found, ['l: Invalid value: changed']);
  assert.ok(performance.now() - startMs < 15_000, `${performance.now() - startMs} ms`);
});
