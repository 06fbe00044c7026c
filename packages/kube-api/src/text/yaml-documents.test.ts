import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Composer } from 'yaml';
import { readYamlDocuments } from './yaml-documents.ts';

const read = (text: string) => readYamlDocuments(text, 10);

/** YAML texts and their expected values, which were obtained by running go-yaml 2.4 and sigs.k8s.io/yaml 1.6. */
const VALUES: [string, unknown][] = [
  ['[y, Y, yes, Yes, YES, true, True, TRUE, on, On, ON]', Array(11).fill(true)],
  ['[n, N, no, No, NO, false, False, FALSE, off, Off, OFF]', Array(11).fill(false)],
  ['[yEs, tRUE, nO, oFF, "yes", \'no\']', ['yEs', 'tRUE', 'nO', 'oFF', 'yes', 'no']],
  ['[~, null, Null, NULL, nULL, ]', [null, null, null, null, 'nULL']],
  ['a:\nb: ""', { a: null, b: '' }],
  ['[0400, 0o400, 0O17, 00, 0, +0644, -010]', [256, 256, 15, 0, 0, 420, -8]],
  ['[08, 0899, 1_000, 0x_1F, 0b11, -0b11, +12, 0XfF]', [8, 899, 1000, 31, 3, -3, 12, 255]],
  ['[1e3, 1.5, 1., .5, +.5, -1.5E-3, 6.02e+23, .1_5, ._5]', [1000, 1.5, 1, 0.5, 0.5, -0.0015, 6.02e23, 0.15, '._5']],
  [
    '[1e999, 1.2.3, 0x, 0b2, 0xG, _1, +, ., "-", 1:30, 12e03]',
    ['1e999', '1.2.3', '0x', '0b2', '0xG', '_1', '+', '.', '-', '1:30', 12000],
  ],
  ['[9223372036854775808, 0x10000000000000000, -9223372036854775809]', [2 ** 63, '0x10000000000000000', -(2 ** 63)]],
  ['[2020-01-01, 2001-12-14T21:59:43Z, 1.10, "1.10"]', ['2020-01-01', '2001-12-14T21:59:43Z', 1.1, '1.10']],
  ['[!!str 5, !!int "5", !!float 3, !!bool "yes", !!str yes, !!null ""]', ['5', 5, 3, true, 'yes', null]],
  ['"\\\'a\\\' \\" \\\\\\\' \\x41 \\u00e9 \\e \\_"', "'a' \" \\' A é \u001b \u00a0"],
  ['a: |\n  "it\\\'s"\nb: it\\\'s', { a: '"it\\\'s"\n', b: "it\\'s" }],
  ['{yes: 1, 0x10: 2, 1.50: 3, "no": 4, 2020-01-01: 5}', { true: 1, '16': 2, '1.5': 3, no: 4, '2020-01-01': 5 }],
  ['{a: 1, a: 2, yes: 3, true: 4}', { a: 2, true: 4 }],
  [
    'a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\nc: {x: 3, <<: *a}',
    { a: { x: 1, true: 2 }, b: { x: 3, true: 2 }, c: { x: 1, true: 2 } },
  ],
  [
    'a: &a {x: 1}\nb: &b {x: 2, z: 3}\nc: {<<: [*a, *b]}\nd: {"<<": 1}',
    { a: { x: 1 }, b: { x: 2, z: 3 }, c: { x: 1, z: 3 }, d: { '<<': 1 } },
  ],
  ['a: {<<: {x: 1}, <<: {z: 2}}', { a: { x: 1, z: 2 } }],
  ['args: [\n  a,\n  b\n]\nenv: {\n  c: d\n}', { args: ['a', 'b'], env: { c: 'd' } }],
  ['a:\n- 1\n-   - 2\n    - 3', { a: [1, [2, 3]] }],
  ['a: >-\n  one\n  two\n\n  three\nb: |+\n  x\n\n', { a: 'one two\nthree', b: 'x\n\n' }],
  ['a: "x\\\n  y"', { a: 'xy' }],
  ['{"a": "b", "c": [1, true, null]}', { a: 'b', c: [1, true, null] }],
  ['# only\n%YAML 1.1\n---\na: b # c\n...', { a: 'b' }],
  ['a: b#c', { a: 'b#c' }],
];

test('YAML is interpreted as in Kubernetes', () => {
  for (const [text, expected] of VALUES) {
    const { documents, problems } = read(text);
    assert.deepEqual([documents[0]?.value, problems], [expected, []], text);
  }
});

test('text rejected by go-yaml is rejected with its position', () => {
  const table: [string, RegExp][] = [
    ['a: "\\q"', /^1:5 invalid escape sequence/],
    ['a: !!int x', /^1:4 !!int does not fit "x"/],
    ['a: !!bool 1', /^1:4 !!bool does not fit "1"/],
    ['{~: 1}', /^1:2 a key must be text, a number, true or false/],
    ['a: 1\nb: {<<: 3}', /^2:9 << takes a map or a list of maps/],
    ['a: {{ .Values.x }}', /^1:5 a key must be text.*; this looks like a template, which must be rendered first$/],
    ['? [a]\n: 1', /^1:3 a key must be text, a number, true or false$/],
    ['a: !!binary aGk=', /^1:4 unresolved tag/],
    ['a: *b', /^1:4 unresolved alias/],
    ['\ta: 1', /^1:\d /],
  ];
  for (const [text, expected] of table) {
    const [problem] = read(text).problems;
    assert.match(`${problem?.line}:${problem?.column} ${problem?.message}`, expected, text);
  }
});

test('positions refer to the original text, even after escapes', () => {
  const { documents } = read('a: "it\\\'s \\\'so\\\'"\nb: ["\\\'", x]\nyes: {c: 1}');
  const place = (...path: (string | number)[]) => Object.values(documents[0]!.locate(path, 'value'));
  assert.deepEqual(
    [place('b', 1), place('true', 'c')],
    [
      [2, 11],
      [3, 10],
    ],
  );
  assert.equal(documents[0]!.written(['b', 1]), 'x');
});

test('consecutive JSON objects need no separator', () => {
  for (const between of ['', ' ', '\n', '\n---\n', '\r\n\n']) {
    const { documents, problems } = read(` {"a": [{"b": "}{"}]}${between}{"c": {}}${between}{\n"d": 1}\n`);
    assert.deepEqual(
      [documents.map(({ value }) => value), problems],
      [[{ a: [{ b: '}{' }] }, { c: {} }, { d: 1 }], []],
      between,
    );
  }
  const { documents } = read('{"a": 1}\n{"b":\n  2}');
  assert.deepEqual(documents[1]!.locate(['b'], 'value'), { line: 3, column: 3 });
  assert.match(read('{"a": 1}}').problems[0]?.message ?? '', /unexpected/);
  assert.equal(read('a: {b: 1}\nc: {d: 1}').documents.length, 1);
});

test('duplicate fields have paths', () => {
  const { documents } = read('a:\n- x: 1\n- {b: {c: 1, c: 2}, x: {c: 3}}\na: []');
  assert.deepEqual(
    documents[0]!.duplicates.map(({ path }) => path),
    [['a', 1, 'b', 'c'], ['a']],
  );
});

test('a duplicate field is reported, and the last one is used', () => {
  const { documents } = read('a: 1\nb: {c: 1,\n  c: 2}\na: 3');
  assert.deepEqual(documents[0]!.value, { a: 3, b: { c: 2 } });
  assert.deepEqual(
    documents[0]!.duplicates.map(({ line, column, message }) => `${line}:${column} ${message}`),
    [
      '3:3 "c" is in line 2 already; this one is used, as in Kubernetes',
      '4:1 "a" is in line 1 already; this one is used, as in Kubernetes',
    ],
  );
});

test('a library version without a hook to count errors is rejected', (t) => {
  const refuse = { configurable: true, get: () => undefined, set: () => undefined };
  Object.defineProperty(Composer.prototype, 'onError', refuse);
  t.after(() => Reflect.deleteProperty(Composer.prototype, 'onError'));
  assert.throws(() => read('a: b'), /this version of the package yaml reports errors in another way/);
});
