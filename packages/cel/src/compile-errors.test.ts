import assert from 'node:assert/strict';
import { test } from 'node:test';
import { program } from './expressions.fixture.ts';
import { CompileError } from './syntax/compile-error.ts';

/** Expressions, and the errors that cel-go reports for them: line, column and message. */
const PROBLEMS: readonly (readonly [string, string])[] = [
  ["[1,'x']", "1:4: expected type 'int' but found 'string'"],
  ["{1:1,'a':2}", "1:6: expected type 'int' but found 'string'"],
  ["{'a':1,'b':'c'}", "1:12: expected type 'int' but found 'string'"],
  ["timestamp('x')", '1:11: invalid timestamp argument'],
  ["duration('x')", '1:10: invalid duration argument'],
  ["'a'.matches('(')", '1:13: invalid matches argument'],
  ['9223372036854775808', '1:1: invalid int literal'],
  ["i.startsWith('x')", "1:13: found no matching overload for 'startsWith' applied to 'int.(string)'"],
  ["1 + 'a'", "1:3: found no matching overload for '_+_' applied to '(int, string)'"],
  ["i < 'a'", "1:3: found no matching overload for '_<_' applied to '(int, string)'"],
  ["l['a']", "1:2: found no matching overload for '_[_]' applied to '(list(int), string)'"],
  [
    'self.s.size() > 3 &&',
    "1:21: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
  ],
  ['a b', "1:3: Syntax error: extraneous input 'b' expecting <EOF>"],
  ['foo(1)', "1:4: undeclared reference to 'foo' (in container '')"],
  ['self.foo(1)', "1:9: undeclared reference to 'foo' (in container '')"],
  ['i.size()', "1:7: found no matching overload for 'size' applied to 'int.()'"],
  ['[1,2', "1:5: Syntax error: mismatched input '<EOF>' expecting {']', ','}"],
  ['self.', "1:6: Syntax error: no viable alternative at input '.'"],
  ['x.y', "1:1: undeclared reference to 'x' (in container '')"],
  ['if', '1:1: reserved identifier: if'],
  ["'a' + b'a'", "1:5: found no matching overload for '_+_' applied to '(string, bytes)'"],
  ["b ? 1 : 'a'", "1:3: found no matching overload for '_?_:_' applied to '(bool, int, string)'"],
  ['self.all(1, true)', '1:10: argument must be a simple name'],
  ['has(i)', '1:5: invalid argument to has() macro'],
  ['has(self.l[0])', '1:11: invalid argument to has() macro'],
  ["['a',1].join()", "1:6: expected type 'string' but found 'int'"],
  ["quantity('5').sign()", "1:19: found no matching overload for 'sign' applied to 'kubernetes.Quantity.()'"],
  ['[[1],2].flatten()', "1:6: expected type 'list(int)' but found 'int'"],
  ["self.m == {'x': 1.0, 'y': 2u}", "1:27: expected type 'double' but found 'uint'"],
  ["{1: 'a'}[1.0]", "1:9: found no matching overload for '_[_]' applied to '(map(int, string), double)'"],
  ["{1: 'a'}[1u]", "1:9: found no matching overload for '_[_]' applied to '(map(int, string), uint)'"],
  ['{1: 1, 1u: 2}', "1:8: expected type 'int' but found 'uint'"],
  ['1.0 in [1]', "1:5: found no matching overload for '@in' applied to '(double, list(int))'"],
  ['i in m', "1:3: found no matching overload for '@in' applied to '(int, map(string, string))'"],
  ['authorizer', "1:1: undeclared reference to 'authorizer' (in container '')"],
  ['self.`a`', "1:6: unsupported syntax: '`'"],
  ['self.m.`x`', "1:8: unsupported syntax: '`'"],
  ["[dyn(1), 'a']", "1:10: expected type 'dyn' but found 'string'"],
  ["['a', dyn(1)]", "1:10: expected type 'string' but found 'dyn'"],
  ["[self.a, 'a']", "1:10: expected type 'dyn' but found 'string'"],
  ["['a', self.a]", "1:11: expected type 'string' but found 'dyn'"],
  ["[null, timestamp('2020-01-01T00:00:00Z')]", "1:17: expected type 'null' but found 'timestamp'"],
  ["{'a': self.a, 'b': 1}", "1:20: expected type 'dyn' but found 'int'"],
  ['self.foo(1', "1:11: Syntax error: missing ')' at '<EOF>'"],
  ['{1: 2', "1:6: Syntax error: mismatched input '<EOF>' expecting {'}', ','}"],
  ["{'a' 1}", "1:6: Syntax error: missing ':' at '1'"],
  ['(1', "1:3: Syntax error: missing ')' at '<EOF>'"],
  ['self[1', "1:7: Syntax error: missing ']' at '<EOF>'"],
  [
    'b ? 1 :',
    "1:8: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
  ],
  [
    '1 +',
    "1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
  ],
  [
    '1 + + 2',
    "1:5: Syntax error: extraneous input '+' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
  ],
  ['self..a', "1:6: Syntax error: no viable alternative at input '..'"],
  ['self.1', "1:5: Syntax error: extraneous input '.1' expecting <EOF>"],
  [
    ')',
    "1:1: Syntax error: mismatched input ')' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
  ],
  ['1)', "1:2: Syntax error: extraneous input ')' expecting <EOF>"],
  ['self.a self.b', "1:8: Syntax error: mismatched input 'self' expecting <EOF>"],
  ['a.b.c.d', "1:1: undeclared reference to 'a' (in container '')"],
  [
    'a ?',
    "1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
  ],
  [
    'x -> y',
    "1:4: Syntax error: extraneous input '>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
  ],
  [
    'self.all(x, )',
    "1:13: Syntax error: mismatched input ')' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
  ],
  ['self.x.all(self.y, true)', '1:16: argument must be a simple name'],
  ['[1, 2, 3].all(__result__, true)', '1:15: iteration variable overwrites accumulator variable'],
  ['true && 1', "1:9: expected type 'bool' but found 'int'"],
  ['1 && true', "1:1: expected type 'bool' but found 'int'"],
  ['!1', "1:1: found no matching overload for '!_' applied to '(int)'"],
  ["-'a'", "1:1: found no matching overload for '-_' applied to '(string)'"],
  ['b + b', "1:3: found no matching overload for '_+_' applied to '(bool, bool)'"],
  ['l.all(x, x)', "1:10: expected type 'bool' but found 'int'"],
  ['l.map(x, y)', "1:10: undeclared reference to 'y' (in container '')"],
  ['l.filter(x, x + 1)', "1:9: found no matching overload for '_?_:_' applied to '(int, list(int), list(int))'"],
  ['m.all(k, m[k] > 1)', "1:15: found no matching overload for '_>_' applied to '(string, int)'"],
  ['m.all(k, v, v)', "1:13: expected type 'bool' but found 'string'"],
  [
    'i.all(x, true)',
    "1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
  ],
  [
    "'abc'.all(x, true)",
    "1:1: expression of type 'string' cannot be range of a comprehension (must be list, map, or dynamic)",
  ],
  ['l[0].a', "1:5: type 'int' does not support field selection"],
  ['m.a.b', "1:4: type 'string' does not support field selection"],
  ['optional.of(1).a', "1:15: type 'int' does not support field selection"],
  [
    'optional.of(m).orValue(1)',
    "1:23: found no matching overload for 'orValue' applied to 'optional_type(map(string, string)).(int)'",
  ],
  ['l.foo', "1:2: type 'list(int)' does not support field selection"],
  ['string(l)', "1:7: found no matching overload for 'string' applied to '(list(int))'"],
  ['int(true)', "1:4: found no matching overload for 'int' applied to '(bool)'"],
  ['size(1)', "1:5: found no matching overload for 'size' applied to '(int)'"],
  ["'a'.startsWith(1)", "1:15: found no matching overload for 'startsWith' applied to 'string.(int)'"],
  ['duration(1u)', "1:9: found no matching overload for 'duration' applied to '(uint)'"],
  ["i == 'a'", "1:3: found no matching overload for '_==_' applied to '(int, string)'"],
  ['i != null', "1:3: found no matching overload for '_!=_' applied to '(int, null)'"],
  ["l == ['a']", "1:3: found no matching overload for '_==_' applied to '(list(int), list(string))'"],
  ["l + ['a']", "1:3: found no matching overload for '_+_' applied to '(list(int), list(string))'"],
  ["i in ['a']", "1:3: found no matching overload for '@in' applied to '(int, list(string))'"],
  ['m[1]', "1:2: found no matching overload for '_[_]' applied to '(map(string, string), int)'"],
  ["l['0']", "1:2: found no matching overload for '_[_]' applied to '(list(int), string)'"],
  ["l.indexOf('a')", "1:10: found no matching overload for 'indexOf' applied to 'list(int).(string)'"],
  ["l.slice('a', 1)", "1:8: found no matching overload for 'slice' applied to 'list(int).(string, int)'"],
  ['quantity(1)', "1:9: found no matching overload for 'quantity' applied to '(int)'"],
  ["ip('1.1.1.1').foo()", "1:18: undeclared reference to 'foo' (in container '')"],
  ["'a' < 1", "1:5: found no matching overload for '_<_' applied to '(string, int)'"],
  ['1 == 2u', "1:3: found no matching overload for '_==_' applied to '(int, uint)'"],
  ['1 == 2.0', "1:3: found no matching overload for '_==_' applied to '(int, double)'"],
  ["[[1]] + [['a']]", "1:7: found no matching overload for '_+_' applied to '(list(list(int)), list(list(string)))'"],
  ['i == int', "1:3: found no matching overload for '_==_' applied to '(int, type(int))'"],
  [
    'true ||',
    "1:8: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
  ],
  ['  x', "1:3: undeclared reference to 'x' (in container '')"],
  ['é.x', "1:1: Syntax error: token recognition error at: 'é'"],
  ["'é' + 1", "1:5: found no matching overload for '_+_' applied to '(string, int)'"],
  ['optional.of(1).optMap(1, 2)', '1:23: optMap() variable name must be a simple identifier'],
  ["optional.of(1).optMap(x, x + 'a')", "1:28: found no matching overload for '_+_' applied to '(int, string)'"],
  ['Foo{}', "1:4: undeclared reference to 'Foo' (in container '')"],
  ['Foo{a: 1}', "1:4: undeclared reference to 'Foo' (in container '')"],
  ['i.?a', "1:2: type 'int' does not support field selection"],
  ['m.?a.b', "1:5: type 'string' does not support field selection"],
  ['l.sortBy(x, y)', "1:13: undeclared reference to 'y' (in container '')"],
  [
    'l.sortBy(x, [x])',
    "1:9: found no matching overload for '@sortByAssociatedKeys' applied to 'list(int).(list(list(int)))'",
  ],
  [
    "sets.contains(l, ['a'])",
    "1:14: found no matching overload for 'sets.contains' applied to '(list(int), list(string))'",
  ],
  ["lists.range('a')", "1:12: found no matching overload for 'lists.range' applied to '(string)'"],
  ['min(1, 2)', "1:4: found no matching overload for 'min' applied to '(int, int)'"],
];

const messageOf = (text: string): string => {
  try {
    program(text);
    return 'no error';
  } catch (error) {
    if (error instanceof CompileError) return error.message;
    throw error;
  }
};

test('strings that are not expressions have upstream’s errors', () => {
  for (const [text, problem] of PROBLEMS)
    assert.equal(messageOf(text).split('\n')[0], `ERROR: <input>:${problem}`, text);
});

test('an error shows its line, with a mark below the position', () => {
  assert.equal(
    messageOf('b &&\n\té.x'),
    "ERROR: <input>:2:2: Syntax error: token recognition error at: 'é'\n |  é.x\n | .\uff3e",
  );
  assert.equal(
    messageOf('b || (x && y)'),
    [
      "ERROR: <input>:1:7: undeclared reference to 'x' (in container '')\n | b || (x && y)\n | ......^",
      "ERROR: <input>:1:12: undeclared reference to 'y' (in container '')\n | b || (x && y)\n | ...........^",
    ].join('\n'),
  );
});
