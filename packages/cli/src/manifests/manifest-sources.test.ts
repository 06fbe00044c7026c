import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readSources } from './manifest-sources.ts';
import { readManifests } from './read-manifests.ts';

const configMap = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;

function makeDirectory(context: TestContext): string {
  const directory = mkdtempSync('/tmp/manifest-sources-');
  context.after(() => rmSync(directory, { recursive: true }));
  mkdirSync(join(directory, 'a.d/deep'), { recursive: true });
  mkdirSync(join(directory, 'empty.yaml'));
  for (const name of ['z.yaml', 'b.yml', 'c.json', 'notes.txt', 'b.yaml~', 'a.d/x.yaml', 'a.d/deep/y.yaml'])
    writeFileSync(join(directory, name), configMap('a'));
  symlinkSync('z.yaml', join(directory, 'link.yaml'));
  symlinkSync('..', join(directory, 'a.d/around'));
  return directory;
}

test('a directory is read in name order, and subdirectories on request', async (context) => {
  const directory = makeDirectory(context);
  const names = async (recursive: boolean) => {
    const { texts, problems } = await readSources([directory], { recursive });
    assert.deepEqual(problems, []);
    return texts.map(({ file }) => file.slice(directory.length + 1));
  };
  assert.deepEqual(await names(false), ['b.yml', 'c.json', 'link.yaml', 'z.yaml']);
  assert.deepEqual(await names(true), ['b.yml', 'c.json', 'link.yaml', 'z.yaml', 'a.d/x.yaml', 'a.d/deep/y.yaml']);
});

test('unreadable files are reported, and the others are still read', async (context) => {
  const directory = makeDirectory(context);
  writeFileSync(join(directory, 'bytes.yaml'), Buffer.from([0x61, 0xff, 0xfe, 0x00]));
  writeFileSync(join(directory, 'windows.yaml'), Buffer.from(`\ufeff${configMap('w')}`, 'utf16le'));
  const file = (name: string) => join(directory, name);
  const { texts, problems } = await readSources(
    [file('none.yaml'), file('empty.yaml'), file('bytes.yaml'), file('z.yaml/x'), file('windows.yaml'), file('z.yaml')],
    {},
  );
  assert.deepEqual(
    problems.map(({ message }) => message.replaceAll(`${directory}/`, '')),
    [
      'read none.yaml: no such file or directory',
      'read empty.yaml: it has no *.yaml, *.yml or *.json; -R also reads its subdirectories',
      'read bytes.yaml: it is not UTF-8 text',
      'read z.yaml/x: not a directory',
    ],
  );
  assert.deepEqual(
    texts.map(({ text }) => text.replace('\ufeff', '')),
    [configMap('w'), configMap('a')],
  );
});

test('a file named twice is read once, and an object defined in two files is rejected with both locations', async (context) => {
  const directory = makeDirectory(context);
  const file = join(directory, 'z.yaml');
  assert.equal((await readManifests([file, file], {}, () => false)).objects.length, 1);
  writeFileSync(join(directory, 'b.yml'), `# first\n---\n${configMap('a')}`);
  rmSync(join(directory, 'c.json'));
  rmSync(join(directory, 'link.yaml'));
  await assert.rejects(
    readManifests([directory], {}, () => false),
    {
      message: `${file}:1:1: metadata.name: ConfigMap default/a is already defined at ${directory}/b.yml:3:1`,
    },
  );
});

test('the node gets only objects, excluding skipped ones', async (context) => {
  const directory = makeDirectory(context);
  const file = join(directory, 'both.yaml');
  writeFileSync(file, `${configMap('a')}---\napiVersion: v1\nkind: Service\nmetadata: {name: s}\n`);
  const { text, decoded } = await readManifests([file], {}, () => false);
  assert.deepEqual(
    (JSON.parse(text) as { items: { kind: string }[] }).items.map(({ kind }) => kind),
    ['ConfigMap'],
  );
  assert.match(String(decoded.leftOut), /both\.yaml:5:1: Service s is left out/);
  await assert.rejects(
    readManifests([file], { strict: true }, () => false),
    /both\.yaml:6:7: kind: Service cannot be used/,
  );
});

test('an image name in place of a file points to the help on manifests', async () => {
  for (const name of ['nginx', 'busybox:1.28', 'localhost:5000/a/b:c'])
    assert.match((await readSources([name], {})).problems[0]!.message, /run by a manifest: 'podwright help manifests'/);
  for (const name of ['pod.yaml', 'a/pod', '/no/such', 'my-pod'])
    assert.match((await readSources([name], {})).problems[0]!.message, /no such file or directory$/);
});
