/** A local user without a certificate opens connections to the kubelet's port as fast as it can, and says nothing on them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { runChecked } from '@podwright/base';
import { Certificates } from '../fixtures/certificates.ts';
import type { FloodResult } from './flooded-port.child.ts';

const directory = mkdtempSync('/tmp/podwright-flood-');
after(() => rmSync(directory, { recursive: true }));
before(async () => {
  const certificates = new Certificates(directory);
  await certificates.makeAuthority('ca');
  await certificates.make('client', 'ca');
});

test('requests with a certificate are served at once, and memory stays, while strangers open connections', async (t) => {
  const child = new URL('flooded-port.child.ts', import.meta.url).pathname;
  const command = ['--net', process.execPath, child, directory, 'serve'];
  const result: FloodResult = JSON.parse(await runChecked('unshare', command, { signal: AbortSignal.timeout(60_000) }));
  t.diagnostic(JSON.stringify(result));
  assert.ok(result.opened > 3000);
  assert.deepEqual(result.statuses, Array(20).fill(200));
  assert.ok(result.slowestMs < 1000, 'no connection had to be tried twice (1 s, tcp(7))');
  assert.ok(result.grownMb < 40, `${result.grownMb} MB more`);
});
