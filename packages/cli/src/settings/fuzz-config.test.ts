import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import { parseConfig } from './parse-config.ts';

/** Returns a generator of pseudo-random numbers below a bound, with the same sequence in every run (mulberry32). */
function seededRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below) | 0;
  };
}

const whole = `root = "/x"
log_level = 'info'
[network]
cni_bin_dirs = ["/a", "/b"]
[runtime]
default_handler = "crun"
[runtime.handlers.x]
task = "oci"
[runtime.handlers]
y.sandbox = "pinned"
[runtime.plugins.z]
package = "./z.js"
settings = { a = [1, 2.5, true, 1979-05-27T07:32:00Z, { b = """
c""" }] }
[kubelet]
max_pods = 0x10
`;
const pieces = [
  ...[
    '"',
    "'",
    '"""',
    '[',
    ']',
    '[[',
    '{',
    '}',
    '=',
    '.',
    ',',
    '\n',
    '#',
    '\\u0000',
    '\\uD800',
    '-',
    '_',
    '0',
    ' ',
    '\r',
  ],
  ...[
    'inf',
    'nan',
    '1e400',
    '9223372036854775808',
    '1979-05-27',
    'true',
    '\u0000',
    '\u{1F600}',
    '__proto__',
    'constructor',
  ],
  ...[
    '[__proto__]\nx = 1\n',
    'toString = 1\n',
    'runtime.handlers.__proto__.task = "oci"\n',
    '[runtime.tcp]\n',
    '[[runtime]]\n',
  ],
  ...[
    '[runtime.plugins.constructor]\npackage = "x"\n',
    'network = "ab"\n',
    'runtime = []\n',
    'kubelet.max_pods = [[[[[[]]]]]]\n',
  ],
];

test('any file content is accepted, or rejected with its file or flag: 3000 mutations', () => {
  const random = seededRandom(20261121);
  let refused = 0;
  for (let round = 0; round < 3000; round++) {
    let text = whole;
    for (let changes = 1 + random(3); changes > 0; changes--) {
      const at = random(text.length + 1);
      const cut = random(3) === 0 ? random(20) : 0;
      text = text.slice(0, at) + pieces[random(pieces.length)] + text.slice(at + cut);
    }
    try {
      parseConfig(text, 'c.toml', round % 2 === 0 ? {} : { bridge: 'b', root: '/r' });
    } catch (error) {
      refused++;
      assert.ok(error instanceof PodwrightError, `round ${round}: ${error}\n${text}`);
      assert.equal(error.code, 'invalid_argument');
      assert.match(error.message, /^read (c\.toml|--[a-z]+)/, `round ${round}`);
    }
  }
  assert.ok(refused > 1000 && refused < 3000, `${refused} refused`);
  assert.equal(Object.hasOwn(Object.prototype, 'x'), false);
});

test('deep nesting and long lines are accepted or rejected without a crash', () => {
  for (const text of [
    `a = ${'['.repeat(100_000)}`,
    `a = ${'{a='.repeat(50_000)}`,
    `${'a.'.repeat(50_000)}a = 1`,
    `[${'a.'.repeat(50_000)}a]`,
    `root = "${'x'.repeat(900_000)}"`,
    `x = "${'y'.repeat(900_000)}"`,
    `${'z'.repeat(900_000)} = 1`,
    `[runtime.handlers."${'\\u001b['.repeat(1000)}"]`,
    `${'k = 1\n'.repeat(100_000)}`,
  ]) {
    try {
      parseConfig(text, 'c.toml');
    } catch (error) {
      assert.ok(error instanceof PodwrightError, `${text.slice(0, 20)}: ${error}`);
      assert.ok(error.message.length < 1000, `${error.message.length} characters`);
      assert.ok(!error.message.includes('\u001b'));
    }
  }
});
