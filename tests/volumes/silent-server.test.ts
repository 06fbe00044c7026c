import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, symlinkSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { hostPathOf } from '../../packages/runtime/src/containers/resolve-mounts.ts';
import { HostPathPlugin } from '../../packages/volumes/src/volumes/host-path.ts';
import { ProgramMounter } from '../../packages/volumes/src/volumes/mounter.ts';
import { mountSubPath } from '../../packages/volumes/src/volumes/sub-path.ts';

const directory = mkdtempSync(join(tmpdir(), 'silent-server-'));
const share = mkdtempSync(join(directory, 'share-'));
const link = join(directory, 'link');
symlinkSync(share, link);

/** Server of a FUSE file system that never responds: its requests are never read. */
const server = openSync('/dev/fuse', 'r+');
execFileSync('mount', ['-i', '-t', 'fuse', '-o', 'fd=3,rootmode=40000,user_id=0,group_id=0', 'silent', share], {
  stdio: ['ignore', 'inherit', 'inherit', server],
});
after(() => {
  closeSync(server); // the kernel aborts all requests
  execFileSync('umount', ['--lazy', share]);
  rmSync(directory, { recursive: true });
});

const silent = { code: 'failed_precondition', message: /^the server of .+ \(fuse, silent\) does not respond/ };

test('volumes on an unresponsive server are rejected without blocking a thread', { timeout: 60_000 }, async () => {
  const plugin = new HostPathPlugin();
  const volume = { name: 'v', hostPath: { path: join(share, 'a'), type: 'Directory' as const } };
  const bind = { containerPath: '/a', hostPath: join(link, 'b'), readonly: false, recursiveReadOnly: false, image: '' };
  const mount = { ...bind, propagation: 'private', selinuxRelabel: false } as Parameters<typeof hostPathOf>[0];
  const subPath = { volumePath: share, subPath: 'a', target: join(directory, 'target') };
  const uses = [
    ...Array.from({ length: 4 }, () => plugin.setUp({ volume } as Parameters<typeof plugin.setUp>[0])),
    ...Array.from({ length: 4 }, () => hostPathOf(mount)),
    mountSubPath(new ProgramMounter(), subPath, AbortSignal.timeout(20_000)),
  ].map((use) => assert.rejects(use, silent));
  await setTimeout(500);
  const other = await Promise.race([stat(directory), setTimeout(5000, 'no free thread', { ref: false })]);
  assert.ok(typeof other !== 'string', String(other));
  await Promise.all(uses);
});

test('the mount point of an unresponsive server is found without waiting for the server', {
  timeout: 60_000,
}, async () => {
  assert.deepEqual(await new ProgramMounter().mountsBelow(share), [share]);
  assert.ok(await new ProgramMounter().isMountPoint(share));
});
