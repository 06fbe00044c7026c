import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { busyboxImage, type DockerEngine, startDockerEngine } from './docker-engine.fixture.ts';
import { type Dockershim, openDockershim } from './dockershim.fixture.ts';

let docker: DockerEngine;
let dockershim: Dockershim;
before(async () => {
  docker = await startDockerEngine();
  dockershim = await openDockershim(docker.socket);
});
after(async () => {
  await dockershim?.[Symbol.asyncDispose]();
  await docker?.stop();
});

async function load(path: string, name = ''): Promise<string[]> {
  const references: string[] = [];
  for await (const { event } of dockershim.cri.transfers.load({ path, name }))
    if (event.case === 'loaded') references.push(...event.value.images.flatMap((image) => image.references));
  return references;
}

test('images are saved, loaded, named and untagged', async () => {
  const { cri, scratch } = dockershim;
  const path = join(scratch, 'busybox.tar');
  await cri.transfers.save({ references: [busyboxImage], path });
  assert.equal((await cri.transfers.untag({ reference: busyboxImage })).removed, true);
  assert.deepEqual(await load(path, 'localhost/other:2'), [busyboxImage, 'localhost/other:2']);
  assert.equal((await cri.transfers.untag({ reference: 'localhost/other:2' })).removed, false);
  const { images } = await cri.image.listImages({});
  assert.deepEqual(
    images.flatMap(({ repoTags }) => repoTags),
    [busyboxImage],
  );
});

test('an archive that the Engine does not support is refused with advice, and a failed save leaves no file', async () => {
  const { cri, scratch } = dockershim;
  const layout = join(scratch, 'layout');
  mkdirSync(layout);
  await assert.rejects(load(layout), {
    code: 'invalid_argument',
    message: /this is a directory; make an archive: skopeo copy/,
  });
  await assert.rejects(load(join(scratch, 'none')), { code: 'invalid_argument', message: /none: no such file/ });
  const text = join(scratch, 'text');
  writeFileSync(text, 'no archive');
  await assert.rejects(load(text), /load images/);
  const path = join(scratch, 'missing.tar');
  await assert.rejects(cri.transfers.save({ references: ['localhost/missing:1'], path }), /localhost\/missing/);
  assert.equal(existsSync(path), false);
});
