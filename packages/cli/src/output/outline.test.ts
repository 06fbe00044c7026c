import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeTime, entry, lines, pairs, prose, renderOutline, section } from './outline.ts';

test('sibling texts are aligned, and children are indented', () => {
  const outline = [
    ...entry('Name', 'web'),
    ...entry('Absent', undefined),
    pairs('Labels', { a: '1', b: 'true' }),
    pairs('None', {}),
    section('Containers', [{ label: 'main', below: [...entry('Image', 'x:1'), lines('Command', ['sh', '-c'])] }]),
    section('Volumes', []),
    { label: 'State', text: ['Waiting'], below: entry('Message', 'one\ntwo') },
  ];
  assert.deepEqual(renderOutline(outline), [
    'Name:     web',
    'Labels:   a=1',
    '          b=true',
    'None:     <none>',
    'Containers:',
    '  main:',
    '    Image:    x:1',
    '    Command:  sh',
    '              -c',
    'Volumes:  <none>',
    'State:    Waiting',
    '  Message:  one',
    '            two',
  ]);
});

test('only sentences are wrapped', () => {
  const command = `echo ${'word '.repeat(9)}end`;
  const outline = [...entry('Command', command), section('State', prose('Message', 'one two three four five'))];
  assert.deepEqual(renderOutline(outline, 30), [
    `Command:  ${command}`,
    'State:',
    '  Message:  one two three four\n            five',
  ]);
});

test('control characters are escaped in texts and labels', () => {
  const text = renderOutline([{ label: 'a\x1b[2J', text: ['\x1b]0;x\x07\u202e'] }]).join('\n');
  assert.doesNotMatch(text, /[\x1b\x07\u202e]/);
});

test('times are human-readable', () => {
  assert.equal(describeTime('2026-11-22T12:48:40Z'), 'Sun, 22 Nov 2026 12:48:40 +0000');
  assert.equal(describeTime(undefined), undefined);
});
