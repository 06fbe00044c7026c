import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderJsonPath, valuesAt } from './jsonpath.ts';
import { parsePath } from './jsonpath-parser.ts';

const container = (name: string, restarts: number, ready: boolean) => ({ name, restartCount: restarts, ready });
const pod = (name: string, phase: string) => ({
  kind: 'Pod',
  metadata: { name, labels: { app: 'web', 'example.com/tier': 'x' } },
  status: { phase, statuses: [container('a', 0, true), container('b', 7, false)] },
});
const list = { kind: 'List', items: [pod('one', 'Running'), pod('two', 'Failed'), pod('three', 'Running')] };

test('templates have the same results as in kubectl', () => {
  const check = (template: string, expected: string) =>
    assert.equal(renderJsonPath(template, list), expected, template);
  check('', '');
  check('plain', 'plain');
  check('{.kind}', 'List');
  check('{$.kind}', 'List');
  check('{.items[*].metadata.name}', 'one two three');
  check('{.items[*]["kind"]}', 'Pod Pod Pod');
  check('{.items[0].metadata.name}', 'one');
  check('{.items[-1].metadata.name}', 'three');
  check('{.items[0:2].metadata.name}', 'one two');
  check('{.items[::2].metadata.name}', 'one three');
  check('{.items[-2:].metadata.name}', 'two three');
  check('{.items[-5:].metadata.name}', 'one two three');
  check('{.items[0,2].metadata.name}', 'one three');
  check("{.items[0]['kind','missing']}", 'Pod');
  check('{.items[0].metadata.labels.app}', 'web');
  check('{.items[0].metadata.labels.example\\.com/tier}', 'x');
  check("{.items[0].metadata.labels['example.com/tier']}", 'x');
  check('{.items[0].metadata.labels}', '{"app":"web","example.com/tier":"x"}');
  check(
    '{range .items[*]}{.metadata.name}{"\\t"}{.status.phase}{"\\n"}{end}',
    'one\tRunning\ntwo\tFailed\nthree\tRunning\n',
  );
  check('{range .items[*]}[{.metadata.name}, {.status.phase}] {end}', '[one, Running] [two, Failed] [three, Running] ');
  check('{range .items[0:1]}{range .status.statuses[*]}{$.name}/{@.name} {end}{end}', 'a/a b/b ');
  check('{.items[?(@.status.phase=="Running")].metadata.name}', 'one three');
  check("{.items[?(@.status.phase != 'Running')].metadata.name}", 'two');
  check('{.items[0].status.statuses[?(@.restartCount>5)].name}', 'b');
  check('{.items[0].status.statuses[?(@.restartCount<=0)].name}', 'a');
  check('{.items[0].status.statuses[?(@.ready==true)].name}', 'a');
  check('{.items[0].status.statuses[?(@.nothing)].name}', '');
  check('{.items[?(@.status.statuses[1].restartCount==7)].metadata.name}', 'one two three');
  check('{..restartCount}', '0 7 0 7 0 7');
  check('{.items[0].status.statuses[*].ready}', 'true false');
  check('{.nothing.at.all[3]}', '');
  check('{.items[0].metadata .name}', 'one');
  check("{.items[*]['metadata.name', 'status.phase']}", 'one two three Running Failed Running');
  check('{.items[*].status.statuses[1,0].name}', 'b b b a a a');
  check("{.items[0].metadata.labels['example\\.com/tier']}", 'x');
  check('{.items[0].status.statuses[0]}', '{"name":"a","ready":true,"restartCount":0}');
  check('{.items[0].metadata.name} is {.items[0].status.phase}', 'one is Running');
  check("{'it''s'}{\"\\\"\"}", 'its"');
  check('{.kind}{1}{true}', 'List1true');
  check('{.toString}{.constructor.name}{.__proto__}', '');
});

test('an invalid template is refused with the position', () => {
  const check = (template: string, message: RegExp) =>
    assert.throws(() => renderJsonPath(template, list), { code: 'invalid_argument', message });
  check('{.kind', /^the JSONPath template, at its end: .* is expected$/);
  check('{range .items[*]}x', /at its end: \{end\} is expected$/);
  check('x{end}', /at "\{end\}": there is no range/);
  check('{.items[}', /at "\}": an index, a name in quotes or \*/);
  check('{.items[?(@.a|1)]}', /at "\|1\)\]\}": \. is expected/);
  check('{"x}', /the end of the quotes/);
  check('{.a[::0]}', /a step of 0/);
  check('{.a[0:1:-1]}', /is expected$/);
  check('{nope}', /a path, or text in quotes is expected$/);
  check('{range .items[*]}'.repeat(60), /nested deeper than 50/);
  check('x'.repeat(70_000), /longer than/);
});

test('an out-of-range index is an error in a template, but not in a condition', () => {
  assert.throws(() => renderJsonPath('{.items[9].kind}', list), {
    code: 'out_of_range',
    message: /asks for \[9\] of a list of 3$/,
  });
  assert.throws(() => renderJsonPath('{.items[-4]}', list), { code: 'out_of_range' });
  assert.deepEqual(valuesAt(parsePath('.items[9].kind'), list), []);
});

test('a template that multiplies values is aborted', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 500; level++) deep = [deep];
  assert.throws(() => renderJsonPath('{..*..*..*..*}', deep), { code: 'resource_exhausted' });
});

test('a single path needs neither braces nor a dot', () => {
  for (const path of ['.metadata.name', '{.metadata.name}', 'metadata.name', '$.metadata.name', "{['metadata'].name}"])
    assert.deepEqual(valuesAt(parsePath(path), pod('one', '')), ['one'], path);
  for (const path of ['{range .a}{end}', '"x"', '{.a}{.b}'])
    assert.throws(() => parsePath(path), { code: 'invalid_argument' }, path);
});
