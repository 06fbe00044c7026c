import assert from 'node:assert/strict';
import { test } from 'node:test';
import { binaryFrame, execMessage, inputFrame, resizeFrame } from './exec-frames.ts';

const bytes = (channel: number, text: string) => new Uint8Array([channel, ...new TextEncoder().encode(text)]);

test('input and sizes are sent on their channels', () => {
  assert.deepEqual(inputFrame('ä'), bytes(0, 'ä'));
  assert.deepEqual(binaryFrame('\u00ff'), new Uint8Array([0, 255]));
  assert.deepEqual(resizeFrame({ columns: 80, rows: 24 }), bytes(4, '{"Width":80,"Height":24}'));
});

test('output and exit status are decoded', () => {
  assert.deepEqual(execMessage(bytes(1, 'hi')), { kind: 'output', data: new TextEncoder().encode('hi') });
  assert.deepEqual(execMessage(bytes(2, 'hi'))?.kind, 'output');
  assert.equal(execMessage(bytes(1, '')), undefined);
  assert.equal(execMessage(bytes(255, '')), undefined);
  assert.equal(execMessage(new Uint8Array()), undefined);
});

test('a failed program’s exit has a description', () => {
  const check = (status: unknown, message: string | undefined) =>
    assert.deepEqual(execMessage(bytes(3, JSON.stringify(status))), { kind: 'end', message });
  check({ status: 'Success' }, undefined);
  check({ status: 'Failure', message: 'no shell' }, 'no shell');
  check(
    { status: 'Failure', message: 'x', details: { causes: [{ reason: 'ExitCode', message: '3' }] } },
    'exit code 3',
  );
  assert.deepEqual(execMessage(bytes(3, 'broken')), { kind: 'end', message: 'broken' });
});
