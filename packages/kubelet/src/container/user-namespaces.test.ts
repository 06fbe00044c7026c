import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runChecked } from '@podwright/host';
import { PodDirectories } from '@podwright/volumes';
import { parseSubIds } from '../node/subordinate-ids.ts';
import { type IdRange, UserNamespaces } from './user-namespaces.ts';

const LENGTH = 65_536;

/** Creates user namespaces for at most `slots` pods; `start` simulates a kubelet restart with the same root directory. */
async function setUp(context: TestContext, slots = 3, available: Partial<IdRange> = {}) {
  const scratch = await mkdtemp(join(tmpdir(), 'podwright-userns-'));
  context.after(() => rm(scratch, { recursive: true }));
  const directories = new PodDirectories(scratch);
  const start = (idsPerPod = LENGTH) =>
    new UserNamespaces({
      directories,
      idsPerPod,
      maxPods: 1,
      available: async () => ({ firstId: LENGTH * 2, length: LENGTH * slots, ...available }),
    });
  return { start, directories, namespaces: start() };
}

test('each pod has its own range, and none includes the host’s root user', async (context) => {
  const { namespaces } = await setUp(context);
  const ranges = await Promise.all(['a', 'b', 'c'].map((uid) => namespaces.rangeOf(uid)));
  const firsts = ranges.map(({ firstId }) => firstId).sort((a, b) => a - b);
  assert.deepEqual(firsts, [2 * LENGTH, 3 * LENGTH, 4 * LENGTH]);
  await assert.rejects(namespaces.rangeOf('d'), {
    message: 'could not find an empty slot to allocate a user namespace',
  });
});

test('a range survives a restart, and is freed once its pod’s directory is removed', async (context) => {
  const { namespaces, start, directories } = await setUp(context, 2);
  const a = await namespaces.rangeOf('a');
  const b = await namespaces.rangeOf('b');
  const again = start();
  assert.deepEqual(await again.rangeOf('b'), b);
  assert.deepEqual(await again.rangeOf('a'), a);
  await rm(directories.pod('a'), { recursive: true });
  assert.deepEqual(await again.rangeOf('c'), a);
});

test('ranges are stored in upstream’s format', async (context) => {
  const { namespaces, directories } = await setUp(context, 1);
  await namespaces.rangeOf('a');
  const mapping = { hostId: 2 * LENGTH, containerId: 0, length: LENGTH };
  const file = { uidMappings: [mapping], gidMappings: [mapping] };
  assert.deepEqual(JSON.parse(await readFile(directories.userNamespace('a'), 'utf8')), file);
});

test('an invalid mapping file is refused', { timeout: 10_000 }, async (context) => {
  const { namespaces, directories, start } = await setUp(context);
  const mapping = { hostId: 2 * LENGTH, containerId: 0, length: LENGTH };
  const check = async (content: object | string, cause: RegExp) => {
    await mkdir(directories.pod('x'), { recursive: true });
    await writeFile(directories.userNamespace('x'), typeof content === 'string' ? content : JSON.stringify(content));
    const error = await namespaces.rangeOf('x').catch((reason: Error) => reason);
    assert.match(String((error as Error).cause), cause);
  };
  const both = (one: object) => ({ uidMappings: [one], gidMappings: [one] });
  await check('{', /it is not JSON/);
  await check({}, /one mapping/);
  await check({ uidMappings: [mapping, mapping], gidMappings: [mapping, mapping] }, /one mapping/);
  await check({ uidMappings: [mapping], gidMappings: [{ ...mapping, hostId: 0 }] }, /mapped alike/);
  await check(both({ ...mapping, containerId: 1 }), /id 0 must be mapped/);
  await check(both({ ...mapping, length: 1 }), /has 65536 ids, not 1/);
  await check(both({ ...mapping, hostId: 0 }), /no range begins at 0/);
  await check(both({ ...mapping, hostId: LENGTH + 1 }), /no range begins at/);
  await rm(directories.userNamespace('x'));
  await runChecked('mkfifo', [directories.userNamespace('x')]);
  await assert.rejects(namespaces.rangeOf('x'), { code: 'failed_precondition' }, 'a FIFO');
  await rm(directories.pod('x'), { recursive: true });
  await namespaces.rangeOf('y');
  await assert.rejects(start(2 * LENGTH).rangeOf('z'), { code: 'failed_precondition' }, 'other settings than before');
});

test('IDs that cannot be divided among the pods are rejected', async (context) => {
  const check = async (available: Partial<IdRange>, message: RegExp) => {
    const { namespaces } = await setUp(context, 3, available);
    await assert.rejects(namespaces.rangeOf('a'), { code: 'failed_precondition', message });
  };
  await check({ firstId: LENGTH + 1 }, /is not a multiple of 65536/);
  await check({ firstId: 0 }, /must be greater or equal to 65536/);
  await check({ length: LENGTH + 1 }, /length 65537 is not a multiple/);
  await check({ length: 0 }, /not enough to support 1 pods/);
});

test('the kubelet user’s IDs must form a single range', () => {
  assert.deepEqual(parseSubIds('0: kubelet 65536 2147483648\n'), { firstId: LENGTH, length: 2 ** 31 });
  for (const output of ['', 'x', '0: kubelet 1 2\n1: kubelet 3 4\n', '0: kubelet a b\n'])
    assert.throws(() => parseSubIds(output), { code: 'failed_precondition' });
});
