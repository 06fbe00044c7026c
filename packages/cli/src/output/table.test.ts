import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leftOut, renderTable } from './table.ts';
import { displayWidth, fit } from './text-width.ts';

const PODS = ['NAMESPACE', 'NAME', 'READY', 'STATUS', 'RESTARTS', 'IP', 'AGE'];
const pod = (name: string, status: string) => ['default', name, '1/1', status, '0', '10.83.12.34', '5m10s'];

/** Returns the shown titles. Asserts that no line is wider than `width`. */
function titles(header: string[], rows: string[][], width: number): string {
  const lines = renderTable(header, rows, width).split('\n');
  for (const line of lines) assert.ok(displayWidth(line) <= width, `${displayWidth(line)} > ${width}: ${line}`);
  return lines[0]!.trim().split(/ {2,}/).join(' ');
}

test('columns are dropped by importance', () => {
  const rows = [pod('web', 'Running'), pod('database', 'CrashLoopBackOff')];
  const long = [pod('frontend-7d9c5b8f4-abcde', 'CreateContainerConfigError')];
  const check = (width: number, expected: string, of = rows) => assert.equal(titles(PODS, of, width), expected);
  check(100, 'NAMESPACE NAME READY STATUS RESTARTS IP AGE');
  check(80, 'NAMESPACE NAME READY STATUS RESTARTS IP AGE');
  check(60, 'NAME READY STATUS RESTARTS AGE');
  check(40, 'NAME READY STATUS AGE');
  check(60, 'NAME READY STATUS RESTARTS AGE', long);
  check(40, 'NAME STATUS', long);
  check(20, 'NAME STATUS', long);
});

test('messages keep more width than other columns, and copyable columns are not truncated', () => {
  const events = ['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'];
  const event = (reason: string, object: string) => ['5m10s (x3)', 'Warning', reason, object, 'x'.repeat(90)];
  const check = (width: number, expected: string, row: string[]) =>
    assert.equal(titles(events, [row], width), expected);
  check(150, 'LAST SEEN TYPE REASON OBJECT MESSAGE', event('BackOff', 'pod/web'));
  check(80, 'LAST SEEN TYPE REASON OBJECT MESSAGE', event('BackOff', 'pod/web'));
  check(60, 'LAST SEEN REASON OBJECT MESSAGE', event('BackOff', 'pod/web'));
  check(60, 'REASON OBJECT MESSAGE', event('FailedMount', 'pod/database'));
  check(60, 'REASON OBJECT MESSAGE', event('FailedCreatePodSandBox', 'pod/database-with-a-name'));
  check(40, 'REASON MESSAGE', event('BackOff', 'pod/web'));
  check(30, 'REASON MESSAGE', event('BackOff', 'pod/web'));
  const claims = ['NAME', 'STATUS', 'CAPACITY', 'AGE', { title: 'DIRECTORY', importance: 9 }];
  const directory = '/var/lib/podwright/claims/default/data';
  const rows = [['data', 'Bound', '1Gi', '5m', directory]];
  assert.match(renderTable(claims, rows, 60), new RegExp(`^NAME +STATUS +AGE +DIRECTORY\n.* ${directory}$`));
});

test('the columns dropped at a width are reported', () => {
  const rows = [pod('frontend-7d9c5b8f4-abcde', 'CreateContainerConfigError')];
  assert.deepEqual(leftOut(PODS, rows, 60), ['NAMESPACE', 'IP']);
  for (const width of [undefined, 0, 100]) assert.deepEqual(leftOut(PODS, rows, width), []);
});

test('the gaps are narrowed before columns are dropped', () => {
  const rows = [['a'.repeat(10), 'b'.repeat(10)]];
  assert.equal(renderTable(['A', 'B'], rows, 23).split('\n')[1], 'aaaaaaaaaa   bbbbbbbbbb');
  assert.equal(renderTable(['A', 'B'], rows, 22).split('\n')[1], 'aaaaaaaaaa  bbbbbbbbbb');
});

test('the longest cells are truncated: names in the middle, sentences at the end', () => {
  const text = renderTable(
    ['NAME', 'MESSAGE'],
    [
      ['frontend-7d9c5b8f4-abcde', 'ready'],
      ['b', 'the image could not be pulled'],
    ],
    40,
  );
  assert.deepEqual(text.split('\n'), [
    'NAME                 MESSAGE',
    'frontend-…8f4-abcde  ready',
    'b                    the image could no…',
  ]);
});

test('nothing is truncated if there is no width', () => {
  const rows = [['x'.repeat(500), 'y'.repeat(500)]];
  for (const width of [undefined, 0])
    assert.ok(renderTable(['A', 'B'], rows, width).includes(`${'x'.repeat(500)}   y`));
});

test('a column can set its importance', () => {
  const rows = [['a'.repeat(16), 'b'.repeat(16), 'c'.repeat(16)]];
  const header = ['A', { title: 'B', importance: 9 }, { title: 'C', importance: 1 }];
  assert.equal(renderTable(header, rows, 40).split('\n')[1], `${'a'.repeat(16)}  ${'b'.repeat(16)}`);
});

test('displayWidth returns the width on a terminal', () => {
  const table: [string, number][] = [
    ['plain', 5],
    ['ü', 1],
    ['u\u0308', 1],
    ['漢字', 4],
    ['ｆｕｌｌ', 8],
    ['한국', 4],
    ['😀', 2],
    ['👩‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['❤', 1],
    ['a\u200bb', 2],
    ['\x1b[31mred\x1b[39m', 3],
  ];
  for (const [text, width] of table) assert.equal(displayWidth(text), width, JSON.stringify(text));
  const rows = [
    ['漢字', 'x'],
    ['u\u0308ber', 'y'],
  ];
  assert.deepEqual(renderTable(['A', 'B'], rows).split('\n'), ['A      B', '漢字   x', 'u\u0308ber   y']);
});

test('truncation never splits a character or an escape sequence', () => {
  assert.equal(fit('漢字漢字', 6), '漢字…');
  assert.equal(fit('a👩‍👩‍👧b', 3), 'a…');
  assert.equal(fit('e\u0301e\u0301e\u0301', 2), 'e\u0301…');
  assert.equal(fit('\x1b[31mred and long\x1b[39m', 4), '\x1b[31mred\x1b[39m…');
});

test('a cell with several names is truncated at the end', () => {
  const lines = renderTable(
    ['NAME', 'IMAGES'],
    [['web', 'registry.example.org/first:1,registry.example.org/second:2']],
    40,
  );
  assert.match(lines.split('\n')[1]!, /^web +registry\.example\.org\/first:1,reg\S*…$/);
});
