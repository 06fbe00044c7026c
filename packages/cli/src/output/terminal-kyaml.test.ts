import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { terminalKyaml } from './terminal-kyaml.ts';

/** Checks the printed text, and that a YAML parser parses it to the same value. */
function check(value: unknown, expected: string): void {
  const text = terminalKyaml(value);
  assert.equal(text, `---\n${expected}\n`);
  assert.deepEqual(parse(text), value);
}

test('objects and lists have braces and brackets, and only strings have quotes', () => {
  const pod = {
    kind: 'Pod',
    metadata: { labels: {} },
    spec: {
      containers: [
        { name: 'a', args: ['no', '1'] },
        { name: 'b', args: [] },
      ],
    },
  };
  check(
    pod,
    `{
  kind: "Pod",
  metadata: {
    labels: {},
  },
  spec: {
    containers: [{
      name: "a",
      args: [
        "no",
        "1",
      ],
    }, {
      name: "b",
      args: [],
    }],
  },
}`,
  );
});

test('numbers, booleans and null are plain', () =>
  check([1, -0.5, true, null], '[\n  1,\n  -0.5,\n  true,\n  null,\n]'));

test('a key that YAML could parse as another type is quoted', () =>
  check(
    { a1: 1, 'a.b/c-d': 1, no: 1, Y: 1, '1': 1, '': 1, 'a-': 1, 'a b': 1, NaN: 1 },
    '{\n  "1": 1,\n  a1: 1,\n  a.b/c-d: 1,\n  "no": 1,\n  "Y": 1,\n  "": 1,\n  "a-": 1,\n  "a b": 1,\n  "NaN": 1,\n}',
  ));

test('a multi-line text is printed on several lines', () => {
  check(
    { text: 'one\n  two\n\nlast' },
    '{\n  text: "\\\n     one\\n\\\n    \\  two\\n\\\n     \\n\\\n     last\\\n    ",\n}',
  );
  check({ text: 'one\n\ttwo' }, '{\n  text: "\\\n     one\\n\\\n     \\ttwo\\\n    ",\n}');
  check({ text: 'one\n' }, '{\n  text: "\\\n     one\\n\\\n    ",\n}');
});

test('lines with any first and last characters round-trip', () => {
  for (const edge of [' ', '\t', ' \t', '\u00a0', '\u3000', '\ufeff', '\u2028', '\\', '"', '#', '- ', '\r', '\n']) {
    const value = { text: `${edge}one${edge}\n${edge}two${edge}\n${edge}` };
    assert.deepEqual(parse(terminalKyaml(value)), value, JSON.stringify(edge));
  }
});

test('control characters are escaped', () =>
  check('\u001b[31m \u0085\u202e"\\\t', '"\\u001b[31m \\u0085\\u202e\\"\\\\\\t"'));
