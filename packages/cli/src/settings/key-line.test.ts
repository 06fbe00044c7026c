import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineOfKey } from './key-line.ts';

const text = `root = "/x" # comment
kubelet.max_pods = 3

[runtime]
oci_runtime = """
[not.a.table]
still a string"""
"quoted key" = 1

[runtime.handlers.kata]
task = "shim-v2"
list = [
  1,
  # in between
  { a = 2 },
]
inline = { deep = { key = true } }
`;

const places: [PropertyKey[], number | undefined][] = [
  [['root'], 1],
  [['kubelet', 'max_pods'], 2],
  [['runtime'], 4],
  [['runtime', 'oci_runtime'], 5],
  [['runtime', 'quoted key'], 8],
  [['runtime', 'handlers', 'kata'], 10],
  [['runtime', 'handlers', 'kata', 'task'], 11],
  [['runtime', 'handlers', 'kata', 'list', 1, 'a'], 12],
  [['runtime', 'handlers', 'kata', 'inline', 'deep', 'key'], 17],
  [['runtime', 'handlers', 'kata', 'missing'], 10],
  [['not', 'a'], undefined],
  [['missing'], undefined],
];
for (const [path, line] of places) {
  test(`${path.join('.')} is on ${line === undefined ? 'no line' : `line ${line}`}`, () => {
    assert.equal(lineOfKey(text, path), line);
  });
}

test('a file with too many lines is not searched', () => {
  assert.equal(lineOfKey('\n'.repeat(5000), ['x']), undefined);
});
