/** Runs the release image in a Podwright pod and in containerd. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { VERSION } from '../../packages/base/src/version.ts';
import { Containerd } from '../cri/containerd.fixture.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { NodePlace } from '../pods/node.fixture.ts';
import { buildRelease, type Release } from './release.fixture.ts';

const NAME = `localhost/podwright/podwright:${VERSION}`;

let release: Release;
let bundle: Bundle;
before(async () => {
  [release, bundle] = await Promise.all([buildRelease(), buildBundle()]);
});
after(() => {
  release.remove();
  bundle.remove();
});

test('the image has the time of the commit, and labels with its version and commit', () => {
  const read = (path: string) => JSON.parse(execFileSync('tar', ['-xOf', release.image, path], { encoding: 'utf8' }));
  const { created, config } = read(read('manifest.json')[0].Config);
  const sbom = JSON.parse(readFileSync(join(release.directory, `podwright-${VERSION}.cdx.json`), 'utf8'));
  assert.equal(Date.parse(created), Date.parse(sbom.metadata.timestamp));
  assert.notEqual(Date.parse(created), 0);
  const label = (name: string) => config.Labels[`org.opencontainers.image.${name}`];
  assert.equal(label('version'), VERSION);
  assert.match(label('revision'), /^[0-9a-f]{40}$/);
});

test('podwright loads the image, and a pod runs the program in it', async (context) => {
  const place = new NodePlace(bundle, '10.97.5.0/24');
  context.after(() => place.remove());
  assert.match(await place.ok('load', release.image), new RegExp(`loaded ${NAME}`));
  const manifest = `apiVersion: v1
kind: Pod
metadata: {name: inside}
spec:
  restartPolicy: Never
  containers:
    - {name: main, image: "${NAME}", args: [--version]}
`;
  const { code, out, err } = await place.call('run', '--once', place.file('inside.yaml', manifest));
  assert.equal(code, 0, err);
  assert.equal(out, `${VERSION}\n`);
});

test('containerd imports the image and runs the program in it', async () => {
  await using containerd = await Containerd.start();
  const ctr = (...args: string[]) =>
    execFileSync('ctr', ['--address', containerd.endpoint.replace('unix://', ''), ...args], { encoding: 'utf8' });
  ctr('image', 'import', release.image);
  assert.equal(
    ctr('run', '--rm', '--snapshotter', 'native', NAME, 'inside', '/usr/bin/podwright', '--version'),
    `${VERSION}\n`,
  );
});
