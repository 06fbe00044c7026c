import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readPodResolvConf } from './resolv-conf.ts';

let directory: string;
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'pw-resolv-'));
});
after(() => rmSync(directory, { recursive: true }));

/**
 * Asserts which resolv.conf contents pods get. `host` is the host's resolv.conf; `upstream` is the file with systemd-resolved's upstream
 * servers, or `undefined` if the host does not run systemd-resolved.
 */
async function check(host: string, upstream: string | undefined, expected: string): Promise<void> {
  const [path, resolvedPath] = [join(directory, 'host'), join(directory, 'resolved')];
  writeFileSync(path, host);
  rmSync(resolvedPath, { force: true });
  if (upstream !== undefined) writeFileSync(resolvedPath, upstream);
  assert.equal(await readPodResolvConf(path, resolvedPath), expected);
}

test("a host's resolv.conf is used unchanged, unless it has only stub resolvers", async () => {
  const upstream = 'nameserver 10.0.0.2\nsearch example.org\n';
  const stub = '# stub\nnameserver 127.0.0.53\noptions edns0 trust-ad\nsearch .\n';
  await check(stub, upstream, upstream);
  await check('nameserver ::1 # here\n', upstream, upstream);
  await check(stub, undefined, stub);
  await check(stub, '# nothing yet\n', stub);
  const both = `nameserver 10.1.1.1\n${stub}`;
  await check(both, upstream, both);
  await check('#nameserver 127.0.0.53\nsearch a\n', upstream, '#nameserver 127.0.0.53\nsearch a\n');
  assert.equal(await readPodResolvConf(join(directory, 'missing'), join(directory, 'missing')), '');
});

test('the error for an unreadable resolv.conf names its path', async () => {
  await assert.rejects(readPodResolvConf(directory), { code: 'failed_precondition', message: new RegExp(directory) });
});
