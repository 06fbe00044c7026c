import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitExecOutput } from './command-requests.ts';

test('output is truncated to fit both streams in one response, each with at least half if needed', () => {
  const check = (lengths: [number, number], kept: [number, number]) => {
    const [stdout, stderr] = lengths.map((length) => Buffer.alloc(length)) as [Buffer, Buffer];
    const { stdout: out, stderr: err } = fitExecOutput({ stdout, stderr }, 100);
    assert.deepEqual([out.length, err.length], kept, lengths.join());
  };
  check([10, 20], [10, 20]);
  check([100, 0], [100, 0]);
  check([0, 100], [0, 100]);
  check([90, 20], [80, 20]);
  check([20, 90], [20, 80]);
  check([200, 200], [50, 50]);
});
