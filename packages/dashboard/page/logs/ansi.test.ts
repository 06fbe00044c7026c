import assert from 'node:assert/strict';
import { test } from 'node:test';
import { piecesOf, plainText } from './ansi.ts';

test('colors become classes, and end when reset', () => {
  assert.deepEqual(piecesOf('a \u001b[31mred \u001b[1mbold\u001b[0m b'), [
    { text: 'a ', style: '' },
    { text: 'red ', style: 'ansi-red' },
    { text: 'bold', style: 'ansi-red ansi-bold' },
    { text: ' b', style: '' },
  ]);
  assert.deepEqual(
    piecesOf('\u001b[92mx\u001b[39my\u001b[2mz\u001b[mq').map(({ style }) => style),
    ['ansi-green', '', 'ansi-dim', ''],
  );
  assert.deepEqual(
    piecesOf('\u001b[38;2;255;0;0;1mx\u001b[38;5;31;22my').map(({ style }) => style),
    ['ansi-bold', ''],
  );
});

test('sequences that move the cursor, clear, link or set titles are removed', () => {
  const check = (text: string, expected: string) => {
    assert.equal(plainText(text), expected);
    assert.equal(
      piecesOf(text)
        .map((piece) => piece.text)
        .join(''),
      expected,
    );
  };
  check('a\u001b[2J\u001b[1;1Hb', 'ab');
  check('a\u001b]0;title\u0007b', 'ab');
  check('a\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\b', 'alinkb');
  check('a\u001bP1$r\u001b\\b', 'ab');
  check('a\u001b(0b\u001b7', 'ab');
  check('end\u001b', 'end');
  check('open\u001b]0;never ended', 'open');
  check('a\u009b31mb', 'ab');
});

test('control characters and bidirectional overrides are made visible', () => {
  assert.equal(plainText('a\rb\u0008\tc'), 'a\u240db\u2408\tc');
  assert.equal(plainText('x\u202egnp.exe\u200b'), 'x\ufffdgnp.exe\ufffd');
  assert.equal(piecesOf('<script>&amp;')[0]?.text, '<script>&amp;');
});

test('a line of unterminated sequences does not take quadratic time', () => {
  const line = '\u001b]'.repeat(50_000);
  const begin = performance.now();
  piecesOf(line);
  assert.ok(performance.now() - begin < 2000);
});
