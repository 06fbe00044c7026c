import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { nameFindings } from './doctor-names.ts';

test('name servers unreachable from pods are reported, unless systemd-resolved lists others', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'doctor-names-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const [path, resolved] = [join(directory, 'resolv.conf'), join(directory, 'resolved.conf')];
  const check = async (text: string, expected: RegExp | undefined) => {
    writeFileSync(path, text);
    const [finding] = await nameFindings(path, resolved);
    if (expected === undefined) assert.equal(finding, undefined, text);
    else assert.match(finding?.message ?? '', expected);
  };
  await check('nameserver 192.0.2.1\n', undefined);
  await check('nameserver 127.0.0.1\nnameserver 192.0.2.1\n', undefined);
  await check('nameserver 127.0.0.1\nnameserver ::1\n', /lists only 127\.0\.0\.1 and ::1, /);
  await check('# none\n', /lists no name server/);
  await check('nameserver 127.0.0.53\n', /lists only 127\.0\.0\.53, /);
  writeFileSync(resolved, 'nameserver 192.0.2.1\n');
  await check('nameserver 127.0.0.53\n', undefined);
});
