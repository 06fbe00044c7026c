import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { errorCode } from '@podwright/base';
import { lacksAccount, resolveUser } from './resolve-user.ts';

let rootfs: string;
beforeEach(() => {
  rootfs = mkdtempSync(join(tmpdir(), 'user-test-'));
  mkdirSync(join(rootfs, 'etc'));
});
afterEach(() => rmSync(rootfs, { recursive: true }));

const root = { user: '', supplementalGroups: [], groupsPolicy: 'merge' as const };

test('symbolic links in account file paths are resolved within the root file system', async () => {
  mkdirSync(join(rootfs, 'data'));
  writeFileSync(join(rootfs, 'data/passwd'), 'inside:x:5:6::/:\n');
  symlinkSync('/data/passwd', join(rootfs, 'etc/passwd'));
  symlinkSync('../../../../../../etc/group', join(rootfs, 'etc/group')); // resolves to itself inside the root
  await assert.rejects(resolveUser(rootfs, { ...root, user: 'inside' }));
  rmSync(join(rootfs, 'etc/group'));
  assert.deepEqual(await resolveUser(rootfs, { ...root, user: 'inside' }), { uid: 5, gid: 6, additionalGids: [6] });
});

test('without account files only numeric users are accepted', async () => {
  assert.deepEqual(await resolveUser(rootfs, { ...root, user: '9' }), { uid: 9, gid: 0, additionalGids: [0] });
  await assert.rejects(resolveUser(rootfs, { ...root, user: 'x' }), (error) => errorCode(error) === 'invalid_argument');
});

test('account files that are too big or not regular files are refused without blocking', async () => {
  execFileSync('mkfifo', [join(rootfs, 'etc/passwd')]);
  await assert.rejects(resolveUser(rootfs, root), (error) => errorCode(error) === 'invalid_argument');
  rmSync(join(rootfs, 'etc/passwd'));
  writeFileSync(join(rootfs, 'etc/passwd'), Buffer.alloc((1 << 20) + 1));
  await assert.rejects(resolveUser(rootfs, root), (error) => errorCode(error) === 'invalid_argument');
});

test('a user without an entry in the container’s effective /etc/passwd has no account', async () => {
  const source = join(rootfs, 'source'); // of a mount; outside of the paths that are resolved
  mkdirSync(join(source, 'data'), { recursive: true });
  writeFileSync(join(source, 'data/passwd'), 'mounted:x:7:7::/:\n');
  symlinkSync('data/passwd', join(source, 'passwd'));
  const check = async (mounts: { destination: string; source: string }[], expected: { of5: boolean; of7: boolean }) => {
    const [of5, of7] = await Promise.all([5, 7].map((uid) => lacksAccount(uid, { rootfs, mounts })));
    assert.deepEqual({ of5, of7 }, expected, JSON.stringify(mounts));
  };
  const etc = { destination: '/etc', source };
  const file = { destination: '/etc/passwd', source: join(source, 'data/passwd') };
  const empty = { destination: '/etc', source: join(source, 'data/none') };
  await check([], { of5: true, of7: true });
  writeFileSync(join(rootfs, 'etc/passwd'), 'own:x:5:6::/:\n');
  await check([], { of5: false, of7: true });
  await check([{ destination: '/etc/pass', source }], { of5: false, of7: true });
  await check([etc], { of5: true, of7: false });
  await check([file], { of5: true, of7: false });
  await check([empty], { of5: true, of7: true });
  await check([empty, file], { of5: true, of7: false });
});

test('an unreadable account file leaves it unknown whether a user has an account', async () => {
  execFileSync('mkfifo', [join(rootfs, 'etc/passwd')]);
  assert.equal(await lacksAccount(5, { rootfs, mounts: [] }), false);
  symlinkSync('/etc/shadow', join(rootfs, 'passwd'));
  assert.equal(await lacksAccount(5, { rootfs, mounts: [{ destination: '/etc', source: rootfs }] }), false);
});

test('account files on a volume that may block on a server are not read', async () => {
  const volume = join(rootfs, 'volume');
  mkdirSync(volume);
  const mounts = [{ destination: '/etc', source: volume }];
  const mountinfo = (type: string) => Buffer.from(`1 0 0:1 / ${volume} rw - ${type} server:/ rw\n`);
  assert.equal(await lacksAccount(5, { rootfs, mounts }, mountinfo('ext4')), true);
  for (const type of ['nfs4', 'fuse.sshfs', 'cifs'])
    assert.equal(await lacksAccount(5, { rootfs, mounts }, mountinfo(type)), false, type);
});
