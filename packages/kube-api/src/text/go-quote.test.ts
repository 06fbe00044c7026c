import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goQuote } from './go-quote.ts';

test('text is quoted like Go’s strconv.Quote', () => {
  for (const [text, quoted] of [
    ['', '""'],
    ['a "b" \\', String.raw`"a \"b\" \\"`],
    ['\u0007\b\f\n\r\t\v', String.raw`"\a\b\f\n\r\t\v"`],
    ['\0\u0001\u007f', String.raw`"\x00\x01\x7f"`],
    ['é 日本 😀 +½', '"é 日本 😀 +½"'],
    ['\u00a0\u200b\u{e0001}', String.raw`"\u00a0\u200b\U000e0001"`],
  ] as const)
    assert.equal(goQuote(text), quoted);
});
