import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { parseMaxFiles, readProcessUse } from './process-use.ts';

test('the soft limit on open files is parsed', () => {
  const limits = (soft: string) => `Limit                     Soft Limit           Hard Limit           Units
Max processes             7000                 7000                 processes
Max open files            ${soft.padEnd(20)} 524288               files
`;
  assert.equal(parseMaxFiles(limits('1024')), 1024);
  assert.equal(parseMaxFiles(limits('unlimited')), undefined);
  assert.equal(parseMaxFiles(''), undefined);
});

test('open files and sockets of processes are counted, and exited processes have none', async () => {
  const none = await readProcessUse([2 ** 30], 2 ** 30);
  assert.deepEqual(none, { files: 0, sockets: 0, maxFiles: undefined });
  const before = await readProcessUse([process.pid], process.pid);
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const after = await readProcessUse([process.pid], process.pid);
  server.close();
  assert.equal(after.sockets, before.sockets + 1);
  assert.ok(after.files > before.files);
  assert.ok(after.files <= readdirSync('/proc/self/fd').length + 1);
  assert.ok(after.maxFiles !== undefined && after.maxFiles > 0);
});
