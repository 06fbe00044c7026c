import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { terminalKyaml } from './terminal-kyaml.ts';

/** What is printed, and that YAML's reader finds the same in it. */
function check(value: unknown, expected: string): void {
  const text = terminalKyaml(value);
  assert.equal(text, `---\n${expected}\n`);
  assert.deepEqual(parse(text), value);
}

test('objects and lists are in braces and brackets, keys without quotes, strings in them', () => {
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

test('numbers, truth and nothing are plain', () =>
  check([1, -0.5, true, null], '[\n  1,\n  -0.5,\n  true,\n  null,\n]'));

test('a key that YAML may take for something else is in quotes', () =>
  check(
    { a1: 1, 'a.b/c-d': 1, no: 1, Y: 1, '1': 1, '': 1, 'a-': 1, 'a b': 1, NaN: 1 },
    '{\n  "1": 1,\n  a1: 1,\n  a.b/c-d: 1,\n  "no": 1,\n  "Y": 1,\n  "": 1,\n  "a-": 1,\n  "a b": 1,\n  "NaN": 1,\n}',
  ));

test('a text of several lines has one for each', () => {
  check(
    { text: 'one\n  two\n\nlast' },
    '{\n  text: "\\\n     one\\n\\\n    \\  two\\n\\\n     \\n\\\n     last\\\n    ",\n}',
  );
  check({ text: 'one\n\ttwo' }, '{\n  text: "\\\n     one\\n\\\n     \\ttwo\\\n    ",\n}');
  check({ text: 'one\n' }, '{\n  text: "\\\n     one\\n\\\n    ",\n}');
});

test('however a line begins and ends, it is read back', () => {
  for (const edge of [' ', '\t', ' \t', '\u00a0', '\u3000', '\ufeff', '\u2028', '\\', '"', '#', '- ', '\r', '\n']) {
    const value = { text: `${edge}one${edge}\n${edge}two${edge}\n${edge}` };
    assert.deepEqual(parse(terminalKyaml(value)), value, JSON.stringify(edge));
  }
});

test('what a terminal would act on is escaped', () =>
  check('\u001b[31m \u0085\u202e"\\\t', '"\\u001b[31m \\u0085\\u202e\\"\\\\\\t"'));
