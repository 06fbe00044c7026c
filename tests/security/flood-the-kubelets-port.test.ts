/** A local user without a certificate opens connections to the kubelet's port as fast as it can. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { runChecked } from '@podwright/host';
import { DAEMON_FLAGS } from '../../packages/cli/src/daemon/daemon-flags.ts';
import { Certificates } from '../fixtures/certificates.ts';
import type { FloodKind } from './flood.child.ts';
import type { FloodResult } from './flooded-port.child.ts';

const directory = mkdtempSync('/tmp/podwright-flood-');
after(() => rmSync(directory, { recursive: true }));
before(async () => {
  const certificates = new Certificates(directory);
  await certificates.makeAuthority('ca');
  await certificates.make('client', 'ca');
});

/**
 * What the flood sends, and the maximum time of a request during the flood. A request whose connection has to be retried takes 1 s longer
 * (tcp(7)).
 */
const FLOODS: [what: string, kind: FloodKind, mostMs: number][] = [
  ['nothing', 'silent', 1000],
  ['nothing, on more connections than the kernel defers', 'silentBeyondQueue', 5000],
  ['the first message of a TLS handshake', 'hello', 5000],
];

for (const [what, kind, mostMs] of FLOODS)
  test(`requests with a certificate are served, and memory does not grow, while another client sends ${what}`, async (t) => {
    const child = new URL('flooded-port.child.ts', import.meta.url).pathname;
    const command = ['--net', process.execPath, ...DAEMON_FLAGS, child, directory, kind];
    const signal = AbortSignal.timeout(60_000);
    const result: FloodResult = JSON.parse(await runChecked('unshare', command, { signal }));
    t.diagnostic(JSON.stringify(result));
    assert.ok(result.opened > 3000);
    assert.deepEqual(result.statuses, Array(20).fill(200));
    assert.ok(result.slowestMs < mostMs, `${result.slowestMs} ms`);
    assert.ok(result.grownMb < 30, `${result.grownMb} MB more`);
  });
