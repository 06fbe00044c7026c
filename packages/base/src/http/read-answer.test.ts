import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { readableAnswers, unreadableAnswers } from '../../../../tests/fixtures/odd-http-answers.ts';
import { readAnswer } from './read-answer.ts';

const limits = { maxHeadBytes: 256 << 10, maxBodyBytes: 10 << 10 };

function read(raw: string, pieceBytes = raw.length || 1) {
  const connection = new PassThrough();
  const reading = readAnswer(connection, limits);
  const bytes = Buffer.from(raw, 'latin1');
  for (let at = 0; at < bytes.length; at += pieceBytes) connection.write(bytes.subarray(at, at + pieceBytes));
  connection.end();
  return reading;
}

/** Piece size for a response: one byte, to split it at every position; for long responses, about a thousandth of the length. */
const smallPieces = (raw: string) => Math.ceil(raw.length / 1000);

for (const { name, raw, status, body } of readableAnswers) {
  test(`${name}: read, whole and in pieces`, async () => {
    for (const pieceBytes of [undefined, smallPieces(raw)]) {
      const answer = await read(raw, pieceBytes);
      assert.deepEqual([answer.status, answer.body.bytes.toString(), answer.body.error], [status, body, undefined]);
    }
  });
}

for (const { name, raw } of unreadableAnswers) {
  test(`${name}: refused, whole and in pieces`, async () => {
    for (const pieceBytes of [undefined, smallPieces(raw)]) {
      const error = await read(raw, pieceBytes).then(
        (answer) => answer.body.error,
        (refusal: Error) => refusal,
      );
      assert.ok(error !== undefined, name);
    }
  });
}

test('a body is read up to the limit', async () => {
  const { body } = await read(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(20_000)}`);
  assert.deepEqual([body.bytes.length, body.isCut, body.error], [limits.maxBodyBytes, true, undefined]);
});

const hostile: Record<string, string> = {
  'a line of spaces': `HTTP/1.1 200 OK\r\nX: ${' '.repeat(250_000)}x\r\n\r\n`,
  'folded lines': `HTTP/1.1 200 OK\r\nX: 1\r\n${' x\r\n'.repeat(5000)}\r\n`,
  'a length of many digits': `HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(250_000)}\r\n\r\n`,
  'a chunk line of spaces': `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1${' '.repeat(4000)}x\r\n`,
  'a status line of spaces': `HTTP/1.1${' '.repeat(250_000)}x\r\n\r\n`,
};
for (const [name, raw] of Object.entries(hostile)) {
  test(`${name} takes less than half a second of CPU time`, async () => {
    const before = process.threadCpuUsage();
    await read(raw, 4096).catch(() => undefined);
    const { user, system } = process.threadCpuUsage(before);
    assert.ok(user + system < 500_000, `${user + system} µs`);
  });
}

for (const [name, raw] of Object.entries({
  fields: `HTTP/1.1 200 OK\r\n${'A: b\r\n'.repeat(10_000)}\r\n`,
  'a field': `HTTP/1.1 200 OK\r\nA: ${'b'.repeat(300_000)}\r\n\r\n`,
  'early hints': `${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(6000)}HTTP/1.1 200 OK\r\n\r\n`,
})) {
  test(`too much of ${name} is refused`, () => assert.rejects(read(raw, 4096), /too (large|long)/));
}

test("the error for an unknown transfer encoding has Go's wording", () =>
  assert.rejects(read('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n'), {
    message: 'net/http: HTTP/1.x transport connection broken: unsupported transfer encoding: "gzip, chunked"',
  }));
