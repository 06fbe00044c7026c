import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluated, program } from './expressions.fixture.ts';
import { CompileError } from './syntax/compile-error.ts';

const STOPPED = 'operation cancelled: actual cost limit exceeded';

/** Calls `run` and returns its result. Fails if the call takes more than a few seconds. */
function isQuick<Result>(run: () => Result): Result {
  const startMs = performance.now();
  const outcome = run();
  assert.ok(performance.now() - startMs < 5000, `${performance.now() - startMs} ms`);
  return outcome;
}

const NUMBERS = Array.from({ length: 2000 }, (_, index) => index);
const LONG = 'a'.repeat(200_000);
const SELF = {
  pattern: 'a'.repeat(15_000),
  list: NUMBERS,
  lists: [[NUMBERS], [NUMBERS]],
  long: LONG,
  texts: Array(1000).fill(LONG.slice(0, 1000)),
};

test('long-running expressions are stopped', () => {
  const texts = [
    'self.list.all(x, self.list.all(y, self.list.all(z, x + y + z >= 0)))',
    'self.list.map(x, self.list.map(y, [x, y])).size() > 0',
    'self.list.all(x, [0, 1, 2].all(y, self.lists[0] == self.lists[1]))',
    'self.list.all(x, self.long.size() > 0 && (self.long + string(x)).size() > 0)',
    'self.list.all(x, self.texts.all(y, !y.matches("(a*)*b")))',
    '"aaaaaaaaaaaaaaaaaaaa".matches("(a{0,30}){30}b") || self.list.all(x, !self.long.matches("(a+a+)+y"))',
    'lists.range(100).all(x, "a".matches(self.pattern + string(x)) || true)',
    'lists.range(100).all(x, "a".find(self.pattern + string(x)) == "")',
    'self.long.replace("", self.long).size() > 0',
    'self.long.replace("a", self.long).size() > 0',
    'lists.range(9000000000000).size() > 0',
    'self.list.map(x, self.list).map(y, y.map(z, "%s".format([self.texts]))).size() > 0',
    '"%s".format([self.list.map(x, self.texts)]).size() > 0',
    'self.texts.join(self.long).size() > 0',
    'self.list.distinct().size() + self.list.map(x, self.list.distinct().size()).size() > 0',
    'sets.contains(self.list, self.list) && self.list.all(x, sets.equivalent(self.list, self.list))',
    'self.list.all(x, self.long.charAt(5) == "a" && self.long.findAll("a").size() > 0)',
    'self.list.all(x, [self.list].map(l, l.sum())[0] >= 0 && self.list.indexOf(1999) > 0 && self.list.max() > 0)',
  ];
  for (const text of texts) {
    const outcome = isQuick(() => evaluated(text, SELF));
    assert.ok('error' in outcome && outcome.isExceeded, `${text}: ${JSON.stringify(outcome.cost)}`);
    assert.equal(outcome.error, STOPPED, text);
  }
});

test('searching long texts takes linear time', () => {
  const self = { text: 'a'.repeat(1_000_000), part: `${'a'.repeat(250_000)}b${'a'.repeat(250_000)}` };
  for (const text of [
    'self.text.contains(self.part)',
    'self.text.indexOf(self.part) >= 0',
    'self.text.lastIndexOf(self.part) >= 0',
    'self.text.split(self.part).size() > 1',
    'self.text.replace(self.part, "") == ""',
  ])
    assert.ok(isQuick(() => evaluated(text, self)).cost > 0, text);
});

test('texts that would take long to compile are rejected', () => {
  const texts = [
    '('.repeat(100_000),
    `${'('.repeat(300)}1${')'.repeat(300)}`,
    `${'['.repeat(90_000)}`,
    Array(10_000).fill('1').join('+'),
    Array(10_000).fill('a').join('.'),
    `i${'[0]'.repeat(20_000)}`,
    `1${'?1:1'.repeat(20_000)}`,
    `${'!('.repeat(300)}b${')'.repeat(300)}`,
    'x'.repeat(100_001),
    `optional.of(1)${'.optMap(x, x)'.repeat(100)}`,
    `"${'\\'.repeat(50_001)}"`,
    '#'.repeat(100_000),
    `[${'1u,'.repeat(100_001)}`,
    `'a'.matches('${'(a{1000}){1000}'.repeat(1000)}')`,
  ];
  for (const text of texts)
    assert.throws(() => isQuick(() => program(text)), CompileError, `${text.slice(0, 50)} of ${text.length}`);
});

test('long texts within the limits are compiled', () => {
  const texts = [
    Array(10_000).fill('b').join(' && '),
    `[${Array(20_000).fill('1').join(',')}].size() > 0`,
    Array(10_000).fill('[] == []').join('&&'),
    `[${Array(30_000).fill('[]').join(',')}].size() > 0`,
    Array(400).fill('1').join('+'),
    `${'('.repeat(200)}1${')'.repeat(200)}`,
    `${'-'.repeat(90_000)}i`,
  ];
  for (const text of texts) assert.ok(!('error' in isQuick(() => evaluated(text))), text.slice(0, 50));
});
