import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FieldPath } from '../issue.ts';
import { readJsonDocument } from './json-document.ts';
import { readYamlDocuments } from './yaml-documents.ts';

/** Returns the paths of all fields in a value, along with some paths that do not exist in it. */
function pathsOf(value: unknown, base: FieldPath = []): FieldPath[] {
  const entries =
    typeof value === 'object' && value !== null
      ? Object.entries(value).map(([key, item]) => [Array.isArray(value) ? Number(key) : key, item] as const)
      : [];
  return [base, [...base, 'missing'], [...base, 7], ...entries.flatMap(([key, item]) => pathsOf(item, [...base, key]))];
}

/**
 * Asserts that the text is read by the JSON fast path, with the same result as by the YAML reader. Appending a comment forces the use of
 * the YAML reader.
 */
function check(text: string): void {
  assert.notEqual(readJsonDocument(text), undefined, text);
  const [json, yaml] = [text, `${text}\n# YAML\n`].map((one) => {
    const { documents, problems } = readYamlDocuments(one, 10);
    assert.deepEqual([documents.length, problems], [1, []], text);
    return documents[0]!;
  });
  assert.equal(readJsonDocument(`${text}\n# YAML\n`), undefined);
  assert.deepEqual(json!.value, yaml!.value, text);
  assert.deepEqual(json!.duplicates, yaml!.duplicates);
  for (const path of pathsOf(json!.value)) {
    for (const at of ['key', 'value'] as const)
      assert.deepEqual(json!.locate(path, at), yaml!.locate(path, at), `${text} ${path.join('.')} ${at}`);
    assert.equal(json!.written(path), yaml!.written(path), `${text} ${path.join('.')}`);
  }
}

const SCALARS = [
  ...['0', '-0', '1', '-17', '1.5', '1e3', '1E-2', '0.10', '9007199254740993', '18446744073709551615', '123e300'],
  ...['99999999999999999999999', '-9223372036854775809', 'true', 'false', 'null', '""', '"a: b, {c} [d]"', '"yes"'],
  ...[
    '"\u00e9\\u00e9 \\n\\t\\/"',
    '"\\ud83d\\ude00"',
    '"0777"',
    '"<<"',
    '" # no comment"',
    '"*a &b !c"',
    '"\u2028"',
    '[]',
    '{}',
  ],
];

test('JSON has the same values and positions as when parsed as YAML', () => {
  check('{}');
  check('\n  {"a": 1,\r\n\t"b": [\n 1, {"c":"d"} ]\n}\n\n');
  check('{"__proto__": {"a": 1}, "constructor": 2, "1": 3, "": 4, "<<": {"x": 1}, "yes": 5}');
  check('{"escaped\\u0020\\"key\\"": 1}');
  let seed = 1;
  const pick = (below: number) => {
    seed = (seed * 48_271) % 0x7fff_ffff;
    return seed % below;
  };
  const space = () => ['', ' ', '\n', '  \n\t', ''][pick(5)]!;
  const value = (depth: number): string => {
    if (depth > 4 || pick(3) === 0) return SCALARS[pick(SCALARS.length)]!;
    const items = Array.from({ length: pick(4) }, (_, index) => [index, value(depth + 1)] as const);
    if (pick(2) === 0) return `[${items.map(([, item]) => space() + item + space()).join(',')}]`;
    return `{${items.map(([index, item]) => `${space()}"k${index}${pick(9)}"${space().trim()}: ${item}${space()}`).join(',')}}`;
  };
  for (let round = 0; round < 300; round++) check(`{"all":${space()}${value(0)}, "more": ${value(1)}}`);
});

test('texts that are not a single JSON object, or have duplicate keys, are left to the YAML parser', () => {
  const deep = `{"a": ${'['.repeat(60)}${']'.repeat(60)}}`;
  const many = JSON.stringify({ a: Array.from({ length: 60_000 }, () => 0) });
  for (const text of [
    '',
    '[]',
    'a: 1',
    '{a: 1}',
    '{"a": 1',
    '{"a": 1} {"b": 2}',
    '{"a": 1, "a": 2}',
    '{"a": 1e999}',
    deep,
    many,
  ])
    assert.equal(readJsonDocument(text), undefined, text.slice(0, 60));
});

test('the cost is linear in the text length', { timeout: 20_000 }, () => {
  const items = Array.from({ length: 5000 }, (_, index) => ({ kind: 'x', text: `${index}`.repeat(100) }));
  const text = JSON.stringify({ items, one: '\\"'.repeat(1 << 20) }, null, 1);
  const [document] = readYamlDocuments(text, 1).documents;
  for (const index of items.keys()) assert.equal(document!.locate(['items', index], 'value').line, 3 + 4 * index);
});
