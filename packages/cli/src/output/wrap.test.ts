import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrapText } from './wrap.ts';

function check(text: string, width: number | undefined, expected: string[]): void {
  assert.deepEqual(wrapText(text, width).split('\n'), expected);
}

test('lines are wrapped between words and keep their indentation', () => {
  check('the quick brown fox', 10, ['the quick', 'brown fox']);
  check('  main: the quick brown fox', 14, ['  main: the', '  quick brown', '  fox']);
  check('fits\n  and so does this', 80, ['fits', '  and so does this']);
  check('  unchanged  if the  width is  unknown  ', undefined, ['  unchanged  if the  width is  unknown  ']);
});

test('text in a column is wrapped within the column', () => {
  check('  run        until its pods end', 24, ['  run        until its', '             pods end']);
  check('ok      cgroups   all of them here', 27, ['ok      cgroups   all of', '                  them here']);
  check('\x1b[32mok\x1b[39m  all of them', 10, ['\x1b[32mok\x1b[39m  all of', '    them']);
});

test('quoted commands and words longer than a line are not split', () => {
  check("no; 'podwright ps' lists them", 16, ['no;', "'podwright ps'", 'lists them']);
  check('see https://example.org/a/long/one there', 12, ['see', 'https://example.org/a/long/one', 'there']);
});

test('wide characters count as two cells', () => check('宽字符 宽字符 a', 8, ['宽字符', '宽字符 a']));
