import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluated } from './expressions.fixture.ts';

/** Costs computed by cel-go with the cost estimator of Kubernetes 1.36. */
const COSTS: readonly (readonly [string, number])[] = [
  ['self', 1],
  ['self.a.b.c', 4],
  ["self['a'].b", 3],
  ['self.l[self.a.b.c - 4]', 8],
  ['has(self.a.b.c)', 3],
  ['has(self.q)', 1],
  ['self.?a.?b', 3],
  ['self.?q.orValue(3)', 1],
  ['self.l.all(x, x > 0)', 18],
  ['self.l.exists(x, x > 2)', 21],
  ['self.l.map(x, x * 2)', 45],
  ['self.l.filter(x, x > 1)', 35],
  ['self.l.exists_one(x, x == 1)', 12],
  ['self.l.map(x, self.l.map(y, x * y))', 183],
  ['self.l.all(i, v, i < v)', 21],
  ['self.l.transformMap(i, v, v)', 15],
  ['[1, 2, 3] == [1, 2, 3]', 1],
  ['[i, 2]', 11],
  ["{'a': i}", 31],
  ['b ? i : 2', 1],
  ['b ? i + 1 : i', 3],
  ['(b ? self.a : self.m).b', 3],
  ["self.s + 'abcdefghijkl'", 4],
  ["self.s.startsWith('he')", 3],
  ["'hello world, hello world'.matches('h.*o')", 3],
  ['i in l', 5],
  ['i in [1, 2, 3]', 1],
  ['optional.of(self.l).optMap(x, x.size())', 11],
  ["m[b ? 'a' : 'b']", 3],
  ["has({'a': i}.a)", 32],
  ["quantity('1Gi').compareTo(quantity('1Mi'))", 3],
  ["cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", 6],
  ['sets.equivalent([1, 2, 3], [1, 2])', 13],
  ['lists.range(3)', 14],
  ['[3, 1, 2].sortBy(x, -x)', 74],
  ['[3, 1, 2].sort()', 29],
  ["format.dns1123Label().validate('abc')", 9],
  ['self.q || true', 2],
  ['l.exists(x, x / 0 > 1 || true)', 12],
  ["['a', 'b'].join(',')", 1],
  ["'a,b,c'.split(',')", 1],
  ['type(i) == int', 3],
  ["'hello world'.findAll('o')", 2],
];

test('expressions have the same cost as upstream', () => {
  for (const [text, cost] of COSTS) assert.equal(evaluated(text).cost, cost, text);
});
