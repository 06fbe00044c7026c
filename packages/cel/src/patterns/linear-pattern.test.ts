import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LinearPattern } from './linear-pattern.ts';
import { Patterns } from './patterns.ts';

test('patterns match as in Go', () => {
  const cases: [pattern: string, matching: string[], other: string[]][] = [
    ['^a+$', ['a', 'aaa'], ['', 'ab']],
    ['b', ['abc'], ['ac']],
    ['^(\\d+|\\*)(/\\d+)?(\\s+(\\d+|\\*)(/\\d+)?){4}$', ['* * * * */5', '1 2 3 4 5'], ['* * *', '* * * * x']],
    ['^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$', ['a.b-c', 'x'], ['a..b', '-a', 'A']],
    ['^a{2,3}$', ['aa', 'aaa'], ['a', 'aaaa']],
    ['^a{2,}?$', ['aa', 'aaaaa'], ['a']],
    ['^(?:a|b|)c$', ['ac', 'c'], ['dc']],
    ['(?i)^straße$', ['STRAßE'], ['strase']],
    ['^[^a-c\\]-]$', ['d', 'é'], ['a', ']', '-']],
    ['^[[:alpha:]_]+$', ['a_B'], ['1']],
    ['^[[:^alpha:]b]+$', ['1-b', 'é'], ['a', 'B']],
    ['(?i)^[[:^lower:]]$', ['1'], ['a', 'A']],
    ['^[^[:^digit:]]$', ['1'], ['a']],
    ['^\\p{L}+$', ['é'], ['1']],
    ['^.$', ['😀', 'a'], ['\n', 'ab']],
    ['(?s)^.$', ['\n'], []],
    ['\\bfoo\\b', ['a foo b'], ['afoo']],
    ['^\\Qa.b\\E$', ['a.b'], ['axb']],
    ['^\\x41\\x{1F600}$', ['A😀'], ['A']],
    ['^(?P<name>a)$', ['a'], ['b']],
    ['(?m)^b$', ['a\nb\nc'], ['abc']],
    ['^\\S+\\s\\S$', ['ab 1', '\u00a0 \v'], ['a  b', ' a b']],
    ['^[^\\s]$', ['a'], [' ']],
    ['^\\W\\D$', ['-a'], ['a1']],
    ['^$', [''], ['a']],
    ['{', ['a{'], ['a']],
  ];
  for (const [pattern, matching, other] of cases) {
    const compiled = new LinearPattern(pattern);
    for (const text of matching) assert.ok(compiled.test(text), `${pattern} matches ${JSON.stringify(text)}`);
    for (const text of other) assert.ok(!compiled.test(text), `${pattern} does not match ${JSON.stringify(text)}`);
  }
});

test('the flag U swaps greedy and lazy repetitions until the end of its group', () => {
  const cases: [pattern: string, found: string][] = [
    ['(?U)a+', 'a'],
    ['(?U)a+?', 'aaa'],
    ['(?U:a{1,2})a*', 'aaa'],
    ['(?U:a+)', 'a'],
    ['(?U)(?-U)a+', 'aaa'],
    ['(?:(?U)a+)', 'a'],
    ['(?U:a)+', 'aaa'],
  ];
  for (const [pattern, found] of cases)
    assert.deepEqual(
      new LinearPattern(pattern).findAll('aaa', { limit: 1, budget: { steps: 1000 } }),
      [found],
      pattern,
    );
});

test('patterns that Go rejects are rejected', () => {
  const messages = {
    '[': 'missing closing ]: `[`',
    '(a': 'missing closing ): `(a`',
    '(?=a)': 'invalid or unsupported Perl syntax: `(?=`',
    'a**': 'invalid nested repetition operator: `**`',
    '*': 'missing argument to repetition operator: `*`',
    'a{1001}': 'invalid repeat count: `{1001}`',
    'a\\': 'trailing backslash at end of expression',
    '[[:^x:]]': 'invalid character class range: `[:^x:]`',
    '\\1x\\8': 'invalid escape sequence: `\\8`',
  };
  for (const [pattern, message] of Object.entries(messages))
    assert.throws(() => new LinearPattern(pattern), { message: `error parsing regexp: ${message}` }, pattern);
});

test('patterns that take exponential time in JavaScript take little time', () => {
  const startMs = performance.now();
  for (const pattern of ['^(a+)+$', '^(a|aa)+$', '^([a-z]+)*\\d$', '(x+x+)+y', '(a*)*b', '(|a|b*)*c'])
    assert.ok(!new LinearPattern(pattern).test(`${'a'.repeat(2000)}!`), pattern);
  assert.ok(performance.now() - startMs < 5000);
});

test('all matches for an object together take bounded time', () => {
  const startMs = performance.now();
  const patterns = new Patterns();
  const budget = patterns.budget();
  const text = 'a'.repeat(100_000);
  for (let count = 0; count < 20; count++) assert.ok(!patterns.matches('.{0,1000}x$', text, budget));
  assert.ok(!patterns.matches('^a', 'a', budget));
  assert.ok(patterns.matches('^[a-z]([-a-z]*[a-z])?$', text, patterns.budget()));
  assert.ok(performance.now() - startMs < 10_000);
});

test('patterns with multiplying repetitions are rejected', () => {
  const startMs = performance.now();
  for (const pattern of ['((a{100}){100}){100}', '(((){200}){1000}){1000}', '((a{2}|b){10,}c){51}', '(?:a{500}){0,3}'])
    assert.throws(() => new LinearPattern(pattern), { message: /invalid repeat count: `\{[\d,]+\}`/ }, pattern);
  for (const pattern of ['(a{10}){100}', '(a{2,}){500}', '(a{1000}){0}', '(a+){1000}', '((a{1000})?)*'])
    assert.ok(new LinearPattern(pattern), pattern);
  for (const pattern of ['(a{1000}){1}'.repeat(30), '(){1000}'.repeat(2000)])
    assert.throws(() => new LinearPattern(pattern), { message: /nests repetitions too deeply/ });
  assert.throws(() => new LinearPattern('a*'.repeat(500_000)), { message: /too large/ });
  assert.ok(performance.now() - startMs < 2000);
  assert.throws(() => new LinearPattern('('.repeat(1000)), { message: /nests too deeply/ });
});
