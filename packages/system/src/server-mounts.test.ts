import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ServerMounts } from './server-mounts.ts';

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'server-mounts-')));
after(() => rmSync(directory, { recursive: true }));
mkdirSync(join(directory, 'local'));
symlinkSync('../share/data', join(directory, 'local/relative'));
symlinkSync(join(directory, 'share'), join(directory, 'absolute'));
symlinkSync('loop', join(directory, 'loop'));

const entry = (mountPoint: string, type: string, id = 50) =>
  `${id} 1 0:41 / ${mountPoint} rw - ${type} srv:/export rw\n`;

/** Creates a `ServerMounts` for a host with these mounts, on which a file server responds once the test resolves `answer`. */
function mountsOn(entries: string[], { timeoutMs = 30 } = {}) {
  const asked: string[] = [];
  let answer = Promise.withResolvers<void>();
  const mounts = new ServerMounts({
    mountinfo: () => Buffer.from(entry('/', 'overlay', 1) + entries.join('')),
    probe: (path) => {
      asked.push(path);
      return answer.promise;
    },
    timeoutMs,
    tableAgeMs: 0,
  });
  const respond = () => {
    answer.resolve();
    answer = Promise.withResolvers();
    answer.resolve();
  };
  return { mounts, asked, respond };
}

const share = join(directory, 'share');
const silent = {
  code: 'failed_precondition',
  message: /^the server of .+\/share \(nfs4, srv:\/export\) does not respond/,
};

test('local paths are not checked', async () => {
  const { mounts, asked } = mountsOn([entry(share, 'nfs4'), entry('/other', 'fuse.sshfs')]);
  for (const path of [
    join(directory, 'local/file'),
    `${share}d`,
    join(directory, 'missing/x'),
    join(directory, 'loop'),
  ])
    await mounts.requireResponse(path);
  assert.deepEqual(asked, []);
});

test('a mount that is covered by a local one is not checked', async () => {
  const { mounts, asked } = mountsOn([entry(share, 'nfs4'), entry(share, 'tmpfs')]);
  await mounts.requireResponse(share);
  assert.deepEqual(asked, []);
});

test('paths that lead to an unresponsive server are rejected', async () => {
  for (const path of ['share', 'share/a/b', 'local/../share', 'local/relative', 'absolute/x'])
    await assert.rejects(mountsOn([entry(share, 'nfs4')]).mounts.requireResponse(join(directory, path)), silent);
});

test('an unresponsive server is queried once, and rejected at once until it responds', async () => {
  const { mounts, asked, respond } = mountsOn([entry(share, 'nfs4')]);
  const first = ['a', 'b', 'c', 'd', 'e'].map((name) => mounts.requireResponse(join(share, name)));
  for (const one of first) await assert.rejects(one, silent);
  const startedMs = performance.now();
  await assert.rejects(mounts.requireResponse(share), silent);
  assert.ok(performance.now() - startedMs < 25);
  assert.deepEqual(asked, [join(share, 'a')]);
  respond();
  await new Promise(setImmediate);
  await mounts.requireResponse(share);
  assert.deepEqual(asked, [join(share, 'a'), share]);
});

test('an unresponsive server does not delay paths on other servers', async () => {
  const mounts = new ServerMounts({
    mountinfo: () => Buffer.from(entry(share, 'nfs4', 50) + entry('/fast', 'fuse.fast', 51)),
    probe: (path) => (path.startsWith('/fast') ? Promise.resolve() : new Promise(() => undefined)),
    timeoutMs: 30,
  });
  const hanging = assert.rejects(mounts.requireResponse(share), silent);
  await mounts.requireResponse('/fast/x');
  await hanging;
});

test('an unresponsive server of an automounter does not delay its other servers', async () => {
  const home = join(directory, 'home');
  const mounts = [entry(home, 'autofs'), entry(`${home}/a`, 'nfs', 51), entry(`${home}/b`, 'nfs', 52)];
  const { mounts: served, asked, respond } = mountsOn(mounts);
  await assert.rejects(served.requireResponse(`${home}/a/file`), /the server of \S+\/home\/a \(nfs/);
  respond();
  await served.requireResponse(`${home}/b/./file`);
  assert.deepEqual(asked, [`${home}/a/file`, `${home}/b/./file`]);
  await assert.rejects(mountsOn(mounts).mounts.requireResponse(`${home}/a/../b`), /the server of \S+\/home \(autofs/);
});
