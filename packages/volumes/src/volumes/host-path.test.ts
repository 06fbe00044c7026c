import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { HostPathType, Pod } from '@podwright/kube-api';
import { HostPathPlugin } from './host-path.ts';

let directory: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'podwright-hostpath-'));
  await writeFile(join(directory, 'file'), '');
});
after(() => rm(directory, { recursive: true }));

function setUp(path: string, type: HostPathType): Promise<string> {
  const volume = { name: 'v', hostPath: { path, type } };
  return new HostPathPlugin().setUp({ pod: {} as Pod, volume, directory: '' });
}

test('existing paths pass their type check', async () => {
  const table: [string, HostPathType][] = [
    ['', 'Directory'],
    ['', 'DirectoryOrCreate'],
    ['file', 'File'],
    ['file', 'FileOrCreate'],
    ['none', ''],
  ];
  for (const [name, type] of table) assert.equal(await setUp(join(directory, name), type), join(directory, name));
  await setUp('/dev/null', 'CharDevice');
});

test('missing directories and files are created if the type requires it', async () => {
  await setUp(join(directory, 'new/deep'), 'DirectoryOrCreate');
  await setUp(join(directory, 'new/file'), 'FileOrCreate');
  assert.ok((await stat(join(directory, 'new/deep'))).isDirectory());
  assert.ok((await stat(join(directory, 'new/file'))).isFile());
});

test('missing paths and paths of a different type are named', async () => {
  const table: [string, HostPathType, RegExp][] = [
    ['none', 'Directory', /^hostPath type check failed: \/.*\/none is not a directory$/],
    ['file', 'Directory', /file is not a directory$/],
    ['file', 'DirectoryOrCreate', /is not a directory$/],
    ['', 'File', /is not a file$/],
    ['file', 'Socket', /is not a socket file$/],
    ['file', 'CharDevice', /is not a character device$/],
    ['file', 'BlockDevice', /is not a block device$/],
    ['none/file', 'FileOrCreate', /open '\/.*\/none\/file'/],
    ['file/below', 'DirectoryOrCreate', /mkdir '\/.*\/file\/below'/],
    ['file/below', 'File', /is not a file$/],
  ];
  for (const [name, type, message] of table) {
    await assert.rejects(setUp(join(directory, name), type), { message });
  }
});
