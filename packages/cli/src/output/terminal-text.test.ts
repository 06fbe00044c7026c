import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { renderTable } from './table.ts';
import { escapeLine, escapeTerminal, terminalJson } from './terminal-text.ts';
import { terminalYaml } from './terminal-yaml.ts';

const clipboard = '\x1b]52;c;cm0gLXJmIC8=\x07';

test('control characters are shown visibly', () => {
  const table: [string, string][] = [
    ['plain ü 漢 😀', 'plain ü 漢 😀'],
    ['two\nlines\tand a tab', 'two\nlines\tand a tab'],
    [clipboard, '^[]52;c;cm0gLXJmIC8=^G'],
    ['over\rwritten\b\0\x7f', 'over^Mwritten^H^@^?'],
    ['\u009b31m\u202egnp', '\\u009b31m\\u202egnp'],
    ['\u2028', '\\u2028'],
  ];
  for (const [text, expected] of table) assert.equal(escapeTerminal(text), expected);
  assert.equal(escapeLine('two\nlines\tand\x1b[2J'), 'two lines and^[[2J');
});

test('columns are as wide as the escaped text', () => {
  const text = renderTable(
    ['A', 'B'],
    [
      [clipboard, 'x'],
      ['a\nb', 'y'],
    ],
  );
  assert.deepEqual(text.split('\n'), [
    'A                        B',
    '^[]52;c;cm0gLXJmIC8=^G   x',
    'a b                      y',
  ]);
});

test('JSON and YAML keep the value and contain no control characters', () => {
  for (const text of [
    clipboard,
    '\u009b31m',
    '\x7f',
    'a\n\u202eb\n',
    '\r\n',
    '\u2028',
    'plain',
    '  a: &b [',
    '😀',
    '\\u009b',
  ]) {
    const value = { [text]: [text, { deep: text }] };
    const [json, yaml] = [terminalJson(value, 2), terminalYaml(value)];
    assert.deepEqual(JSON.parse(json), value);
    assert.deepEqual(parse(yaml), value);
    for (const shown of [json, yaml]) assert.equal(escapeTerminal(shown), shown);
  }
  assert.equal(terminalJson({ size: 5n }), '{"size":5}');
  assert.equal(terminalYaml({ size: 5n }), 'size: 5\n');
});

test('YAML has the same value in YAML 1.1 parsers, such as those of Kubernetes and Python', () => {
  const words =
    'y yes n NO on off true ~ null = << 0400 0o7 0x1f 12_000 1:30 1e3 .5 2026-11-22 2026-11-22T20:33:51Z'.split(' ');
  for (const word of words) {
    const yaml = terminalYaml({ [word]: [word] });
    assert.deepEqual(parse(yaml, { version: '1.1' }), { [word]: [word] });
    assert.equal(yaml, `"${word}":\n  - "${word}"\n`);
  }
  for (const plain of ['10.83.0.2', '100m', '7a52054b-b40a', 'busybox:1.37', 'kubernetes.io/a'])
    assert.equal(terminalYaml([plain]), `- ${plain}\n`);
});
