/** The image commands. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, forever, NodePlace, podManifest } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.175.1.0/24');
  daemon = await place.startDaemon();
});
after(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.ended();
  await place.remove();
  bundle.remove();
});

const names = async () =>
  (await place.json<{ repoTags: string[] }[]>('images')).flatMap(({ repoTags }) => repoTags).sort();
/** Runs a bash script in which `podwright` is a function that runs the tested command on this node. */
const shell = (script: string) =>
  place.startProgram('bash', '-c', `podwright() { ${place.command().join(' ')} "$@"; }; ${script}`).ended();

test('load prints the names in an archive from a file, -i, a redirect or a pipe', async () => {
  assert.equal(await place.ok('load', bundle.image), `loaded ${exampleImage}\n`);
  assert.equal(await place.ok('load', '-i', bundle.image, '--name', 'r.test/app:1'), 'loaded r.test/app:1\n');
  assert.deepEqual(
    await shell(`podwright load --name r.test/app:2 - < ${bundle.image}`).then(({ out }) => out),
    'loaded r.test/app:2\n',
  );
  const piped = await shell(`cat ${bundle.image} | gzip | podwright load --name r.test/app:3`);
  assert.deepEqual([piped.code, piped.out], [0, 'loaded r.test/app:3\n'], piped.err);
  assert.deepEqual(await names(), [exampleImage, 'r.test/app:1', 'r.test/app:2', 'r.test/app:3']);
  const broken = await shell('echo no archive | podwright load');
  assert.equal(broken.code, 1);
  assert.match(broken.err, /^podwright: load standard input: /);
  assert.doesNotMatch(broken.err, /\/proc\//);
});

test('images shows short ids, digests on request, and fits on narrow terminals', async () => {
  const [{ id } = { id: '' }] = await place.json<{ id: string }[]>('images');
  assert.equal(await place.ok('images', '-q'), `${id.slice(7, 20)}\n`);
  assert.match(await place.ok('images', '--digests'), /r\.test\/app:1 +sha256:[0-9a-f]{64} +[0-9a-f]{13} /);
  assert.match(await place.ok('images', '-o', 'wide'), new RegExp(id));
  const on = (columns: number, args: string) =>
    execFileSync(
      'script',
      ['-qfec', `stty cols ${columns}; ${place.command('images').join(' ')} ${args}`, '/dev/null'],
      { encoding: 'utf8' },
    );
  for (const columns of [40, 60]) {
    const lines = on(columns, '--digests').split(/\r?\n/);
    assert.ok(
      lines.every((line) => line.length <= columns),
      lines.join('\n'),
    );
    assert.match(lines[0]!, /IMAGE .*ID/);
    assert.ok(
      lines.some((line) => line.includes(id.slice(7, 20))),
      lines.join('\n'),
    );
  }
});

test('save writes to a file or a pipe and leaves no partial files', async () => {
  const file = place.path('input', 'saved.tar');
  assert.match(
    await place.ok('save', exampleImage, 'r.test/app:1', '-o', file),
    /^saved 2 images to .*saved\.tar \(.* [KM]iB\)\n$/,
  );
  await place.ok('rmi', 'r.test/app:1');
  assert.equal(await place.ok('load', file), `loaded ${exampleImage}\nloaded r.test/app:1\n`);
  const piped = await shell(`podwright save ${exampleImage} | podwright load --name r.test/again:1`);
  assert.deepEqual([piped.code, piped.out], [0, 'loaded r.test/again:1\n'], piped.err);
  await place.ok('rmi', 'r.test/again:1');
  await shell(`TMPDIR=${place.path('input')} podwright save ${exampleImage} | head -c 10`); // its temporary file is removed, as checked below
  const entries = execFileSync('tar', ['-tf', file], { encoding: 'utf8' });
  for (const name of ['oci-layout', 'index.json', 'manifest.json']) assert.ok(entries.includes(`${name}\n`));

  const unknown = await place.call('save', 'no/such:1', '-o', place.path('input', 'none.tar'));
  assert.equal(unknown.code, 1);
  assert.match(unknown.err, /no\/such:1/);
  const terminal = await shell(`script -qfec '${place.command('save', exampleImage).join(' ')}' /dev/null`);
  assert.match(terminal.out, /standard output is a terminal.*-o FILE/);
  const lost = await place.call('save', exampleImage, '-o', '/no/such/directory/x.tar');
  assert.match(lost.err, /\/no\/such\/directory\/x\.tar: .*no such file or directory/);
  assert.deepEqual(readdirSync(place.path('input')), ['saved.tar']);
});

test('a full disk leaves no partial archive', async () => {
  const mount = place.path('input', 'small');
  execFileSync('mkdir', [mount]);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', mount]);
  try {
    const { code, err } = await place.call('save', exampleImage, '-o', `${mount}/x.tar`);
    assert.equal(code, 1);
    assert.match(err, /save images to .*x\.tar: no space left on device/i);
    assert.deepEqual(readdirSync(mount), []);
    const piped = await shell(`TMPDIR=${mount} podwright save ${exampleImage} | cat`);
    assert.match(piped.err, /no space left on device/i);
    const loaded = await shell(`cat ${bundle.image} | TMPDIR=${mount} podwright load`);
    assert.match(loaded.err, /^podwright: load standard input: .*no space left on device/i);
    assert.deepEqual(readdirSync(mount), []);
  } finally {
    execFileSync('umount', [mount]);
    execFileSync('rmdir', [mount]);
  }
});

test('rmi removes a name, and an image in use only with --force', async () => {
  assert.deepEqual(await names(), [exampleImage, 'r.test/app:1', 'r.test/app:2', 'r.test/app:3']);
  assert.equal(await place.ok('rmi', 'r.test/app:1', 'r.test/app:2'), 'untagged r.test/app:1\nuntagged r.test/app:2\n');
  await place.ok('apply', place.file('pod.yaml', podManifest('user', forever)));
  await place.until(async () => (await place.pods()).some(({ status }) => status?.phase === 'Running'));
  // image names that the running pod does not use can be removed
  assert.equal(await place.ok('rmi', 'r.test/app:3'), 'untagged r.test/app:3\n');
  for (const reference of [exampleImage, (await place.ok('images', '-q')).trim()]) {
    const { code, err } = await place.call('rmi', reference);
    assert.equal(code, 1);
    assert.match(err, /pod default\/user uses it; delete the pod first, or add --force/);
  }
  assert.deepEqual(await names(), [exampleImage]);
  assert.match((await place.call('rmi', 'no/such:1')).err, /no such image: no\/such:1; 'podwright images' lists them/);
});

test('prune removes unused images and prints the freed space', async () => {
  await place.ok('load', bundle.image, '--name', 'r.test/other:1');
  assert.match(await place.ok('prune', '--all', '--dry-run'), /^0 images of 0 B/);
  await place.ok('delete', 'user', '--force');
  assert.match(await place.ok('prune'), /^0 images removed, 0 B freed; --all/);
  assert.match(
    await place.ok('prune', '--all', '--dry-run'),
    /would remove .*r\.test\/other:1.*\n1 image of .*nothing was removed/,
  );
  assert.equal((await names()).length, 2);
  assert.match(await place.ok('prune', '--all'), /^removed .*\n1 image removed, [1-9].* [KM]iB freed\n$/);
  assert.deepEqual(await names(), []);
  await place.ok('load', bundle.image);
  assert.equal(await place.ok('rmi', '--force', exampleImage), `removed ${exampleImage}\n`);
});
