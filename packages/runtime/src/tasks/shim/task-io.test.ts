import assert from 'node:assert/strict';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Limiter, silentLogger } from '@podwright/base';
import { loadSystem } from '@podwright/system';
import { CriLog } from './cri-log.ts';
import { fifoPaths, makeTaskFifos, TaskIo } from './task-io.ts';

test('a client that reads nothing does not prevent the last output of an exited task from being logged', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'task-io-'));
  const logPath = join(directory, 'log');
  const log = new CriLog(logPath, { logger: silentLogger, writers: new Limiter(2) });
  await log.reopen();
  const options = { directory, terminal: true, stdin: false, stdinOnce: false, log };
  const io = new TaskIo(options, makeTaskFifos(loadSystem(), options));
  try {
    io.attach(false, new AbortController().signal);
    const pipe = openSync(fifoPaths(options).stdout, constants.O_WRONLY | constants.O_NONBLOCK);
    const line = `${'x'.repeat(1023)}\n`;
    const lines = 60; // less than the size of a pipe, more than one read
    assert.equal(writeSync(pipe, line.repeat(lines)), lines * line.length);
    closeSync(pipe);
    assert.ok(await io.finish());
    assert.equal(readFileSync(logPath, 'utf8').replaceAll(/^\S+ stdout [FP] |\n/gm, '').length, lines * 1023);
  } finally {
    io.close();
    rmSync(directory, { recursive: true });
  }
});
