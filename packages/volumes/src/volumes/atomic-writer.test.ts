import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { writeAtomically } from './atomic-writer.ts';
import type { Payload } from './payload.ts';

async function scratch(context: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-writer-'));
  context.after(() => rm(directory, { recursive: true }));
  return directory;
}

const payload = (files: Record<string, string>, mode = 0o644): Payload =>
  new Map(Object.entries(files).map(([path, text]) => [path, { data: Buffer.from(text), mode }]));

const visible = async (directory: string) => (await readdir(directory)).filter((name) => !name.startsWith('..')).sort();

test('files and directories appear behind links with the requested modes', async (context) => {
  const directory = await scratch(context);
  assert.equal(await writeAtomically(directory, payload({ a: '1', 'sub/dir/b': '2' }, 0o400)), true);
  assert.deepEqual(await visible(directory), ['a', 'sub']);
  assert.equal(await readFile(join(directory, 'sub/dir/b'), 'utf8'), '2');
  assert.equal((await stat(join(directory, 'a'))).mode & 0o777, 0o400);
  assert.equal(await readlink(join(directory, 'a')), '..data/a');
});

test('a file gets its owner and the volume’s group', async (context) => {
  const directory = await scratch(context);
  const token = (uid?: number): Payload => new Map([['token', { data: Buffer.from('t'), mode: 0o600, uid }]]);
  const look = async () => {
    const { uid, gid, mode } = await stat(join(directory, 'token'));
    return [uid, gid, (mode & 0o777).toString(8)];
  };
  await writeAtomically(directory, token(1000));
  assert.deepEqual(await look(), [1000, 0, '600']);
  assert.equal(await writeAtomically(directory, token(1000)), false);
  assert.equal(await writeAtomically(directory, token(1001)), true);
  assert.deepEqual(await look(), [1001, 0, '600']);
  await writeAtomically(directory, token(), { group: 2000 });
  assert.deepEqual(await look(), [0, 2000, '640']);
});

test('no path leads out of the volume, or to the writer’s own files', async (context) => {
  const directory = await scratch(context);
  await writeAtomically(directory, payload({ a: '1' }));
  const wrong = [
    '../b',
    '/etc/passwd',
    'a/../../b',
    '..data',
    '..b/c',
    './..data',
    './/..b/c',
    '',
    '.',
    './',
    'x'.repeat(256),
    'é'.repeat(128),
    'a\0b',
  ];
  for (const path of wrong) {
    await assert.rejects(writeAtomically(directory, payload({ [path]: '2' })), /invalid path: /, path);
  }
  assert.deepEqual(await visible(directory), ['a']);
});

test('paths are normalized, and the last of two equal ones is used', async (context) => {
  const directory = await scratch(context);
  const files = { './a': '1', 'x//b': '2', 'c/': '3', 'x/./b/': '4' };
  assert.equal(await writeAtomically(directory, payload(files)), true);
  assert.deepEqual(await visible(directory), ['a', 'c', 'x']);
  for (const [path, text] of Object.entries({ a: '1', 'x/b': '4', c: '3' }))
    assert.equal(await readFile(join(directory, path), 'utf8'), text);
  assert.equal(await writeAtomically(directory, payload(files)), false);
});

test('unchanged content is not rewritten', async (context) => {
  const directory = await scratch(context);
  await writeAtomically(directory, payload({ a: '1' }));
  const before = await readlink(join(directory, '..data'));
  assert.equal(await writeAtomically(directory, payload({ a: '1' })), false);
  assert.equal(await readlink(join(directory, '..data')), before);
});

test('a change in content, modes or names replaces the version', async (context) => {
  const directory = await scratch(context);
  await writeAtomically(directory, payload({ a: '1', b: '2' }));
  for (const next of [
    payload({ a: '9', b: '2' }),
    payload({ a: '9', b: '2' }, 0o600),
    payload({ a: '9', 'c/d': '3' }, 0o600),
    payload({}),
  ]) {
    assert.equal(await writeAtomically(directory, next), true);
    const names = [...new Set([...next.keys()].map((path) => path.split('/')[0]!))];
    assert.deepEqual(await visible(directory), names);
    for (const [path, { data }] of next) assert.deepEqual(await readFile(join(directory, path)), data);
    assert.equal(
      (await readdir(directory)).filter((name) => name.startsWith('..')).length,
      2,
      'one version and its link',
    );
  }
});

test('directories for nested mounts remain, and hide files with the same name', async (context) => {
  const directory = await scratch(context);
  const mountPoints = ['in/here', 'b'];
  for (const text of ['1', '2']) {
    await writeAtomically(directory, payload({ a: text, 'b/c': '' }), { mountPoints });
    assert.deepEqual(await visible(directory), ['a', 'b', 'in']);
    assert.ok((await stat(join(directory, 'in/here'))).isDirectory());
    assert.deepEqual(await readdir(join(directory, 'b')), []);
  }
});

test('leftovers of an interrupted writer are removed', async (context) => {
  const directory = await scratch(context);
  await mkdir(join(directory, '..2020_01_01_00_00_00.0000'));
  await writeFile(join(directory, '..data_tmp'), '');
  await writeFile(join(directory, 'a'), 'not a link');
  await writeAtomically(directory, payload({ a: '1' }));
  assert.equal((await readdir(directory)).length, 3);
  assert.equal(await readFile(join(directory, 'a'), 'utf8'), '1');
});

test('a killed writer leaves either the old or the new content, and leftovers only until the next write', async (context) => {
  const directory = await scratch(context);
  const script = `
    import { writeAtomically } from ${JSON.stringify(new URL('./atomic-writer.ts', import.meta.url).href)};
    for (let n = 0; ; n++) {
      const data = Buffer.from(String(n));
      const names = ['a', 'b', 'c' + (n % 3), 'd/' + (n % 2)];
      await writeAtomically(process.argv[1], new Map(names.map((name) => [name, { data, mode: 0o600 }])));
      if (n === 0) process.stdout.write('begun');
    }`;
  for (let round = 0; round < 8; round++) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
    child.kill('SIGKILL');
    await once(child, 'exit');
    const version = join(directory, await readlink(join(directory, '..data')));
    const shown = new Map<string, string>();
    for (const name of await readdir(version, { recursive: true }))
      if (name !== 'd') shown.set(name, await readFile(join(version, name), 'utf8'));
    assert.equal(shown.size, 4);
    assert.equal(new Set(shown.values()).size, 1, 'of one version');
    for (const entry of await readdir(directory, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) assert.equal((await stat(join(entry.parentPath, entry.name))).mode & 0o077, 0, entry.name);
    const same = new Map([...shown].map(([name, text]) => [name, { data: Buffer.from(text), mode: 0o600 }]));
    assert.equal(await writeAtomically(directory, same), false);
    assert.deepEqual(
      await visible(directory),
      [...new Set([...shown.keys()].map((name) => name.split('/')[0]!))].sort(),
    );
    assert.equal((await readdir(directory)).filter((name) => name.startsWith('..')).length, 2);
    for (const [name, text] of shown) assert.equal(await readFile(join(directory, name), 'utf8'), text);
  }
});

/** Takes a write lease on the file given as its argument (F_SETLEASE, F_WRLCK), and ignores requests to release it. */
const TAKE_LEASE =
  '$SIG{IO} = "IGNORE"; open(F, "<", $ARGV[0]) && fcntl(F, 1024, 1) or die "no lease: $!"; $| = 1; print "taken"; sleep 100';

test('a container that has a lease on a file does not delay the writer', { timeout: 20_000 }, async (context) => {
  const directory = await scratch(context);
  await writeAtomically(directory, payload({ a: '1' }));
  const holder = spawn('perl', ['-e', TAKE_LEASE, join(directory, 'a')], { stdio: ['ignore', 'pipe', 'inherit'] });
  context.after(() => holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  assert.equal(
    await writeAtomically(directory, payload({ a: '1' })),
    true,
    'the file cannot be read, so it is replaced',
  );
  assert.equal(await readFile(join(directory, 'a'), 'utf8'), '1');
});
