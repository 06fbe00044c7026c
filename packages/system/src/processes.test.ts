import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode } from '@podwright/base';
import { readProcess, signalNumber } from './processes.ts';

test('signals are parsed from names, numbers and offsets to the realtime signals', () => {
  const check = (signal: string, number: number) => assert.equal(signalNumber(signal), number, signal);
  check('TERM', 15);
  check('SIGTERM', 15);
  check('sigkill', 9);
  check('15', 15);
  check('SIGRTMIN', 34);
  check('SIGRTMIN+3', 37);
  check('RTMAX-1', 63);
  for (const wrong of ['', 'SIGNOPE', '0', '65', 'SIGRTMIN+31x', '-1'])
    assert.throws(
      () => signalNumber(wrong),
      (error) => errorCode(error) === 'invalid_argument',
      wrong,
    );
});

test('processes with arbitrary names are parsed, and an exited process is undefined', () => {
  const title = process.title;
  process.title = 'odd) S 1 (name';
  try {
    const own = readProcess(process.pid);
    assert.equal(own?.parent, process.ppid);
  } finally {
    process.title = title;
  }
  assert.equal(readProcess(2 ** 22 + 1), undefined);
});
