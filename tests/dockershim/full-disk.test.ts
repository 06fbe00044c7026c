import assert from 'node:assert/strict';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isErrno, silentLogger } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { connectEngine } from '../../packages/dockershim/src/engine/engine.ts';
import { imageEnsurer } from '../../packages/dockershim/src/images/ensure-image.ts';
import { pullImage } from '../../packages/dockershim/src/images/pull-image.ts';
import { parseReference } from '../../packages/dockershim/src/images/reference.ts';
import type { DockershimOptions } from '../../packages/dockershim/src/options.ts';
import { imageTransfers } from '../../packages/dockershim/src/transfers/image-transfers.ts';
import { writeExampleArchive } from '../../scripts/example-image.ts';
import { DockerRegistry } from '../images/docker-registry.ts';
import { openShim, podConfig, remains, startPlace } from './sandbox-place.fixture.ts';

let started: Awaited<ReturnType<typeof startPlace>>;
let ballast: string;
before(async () => {
  started = await startPlace({ diskBytes: 64 << 20 });
  ballast = join(started.engine.scratch, 'data/ballast');
});
after(() => started?.end());

const FULL = { code: 'resource_exhausted', message: /no space left on device/ };

/** Writes a file until the disk is full. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (const bytes of [1 << 20, 4096, 1]) {
      const block = Buffer.alloc(bytes);
      try {
        for (;;) writeSync(file, block);
      } catch (error) {
        if (!isErrno(error, 'ENOSPC')) throw error;
      }
    }
  } finally {
    closeSync(file);
  }
}

test('a full Docker disk is reported as such and leaves nothing behind, and calls succeed once there is space', async () => {
  const shim = await openShim(started.place);
  try {
    const before = await shim.run(podConfig('before'));
    fill(ballast);
    await assert.rejects(shim.run(podConfig('full')), FULL);
    assert.deepEqual(
      (await shim.list()).map(({ id }) => id),
      [before],
    );
    await shim.stop(before);
    rmSync(ballast);
    await shim.remove(before);
    const after = await shim.run(podConfig('full'));
    await shim.stop(after);
    await shim.remove(after);
    assert.deepEqual(await remains(started.place), []);
  } finally {
    shim.close();
  }
});

test('pulling, loading and building images fails because of the full disk, and succeeds once there is space', async () => {
  const { scratch, socket } = started.engine;
  await using registry = await DockerRegistry.start(scratch);
  const path = join(scratch, 'app.tar');
  await writeExampleArchive(path, { name: 'localhost/app:1' });
  const source = ['--insecure-policy', '--dest-tls-verify=false', '--format=v2s2', `oci-archive:${path}`];
  await runChecked('skopeo', ['copy', ...source, `docker://${registry.host}/app:1`]);
  const engine = await connectEngine(socket);
  const signal = AbortSignal.timeout(60_000);
  const options = { pullProgressDeadlineMs: 60_000 } as DockershimOptions;
  const pull = () => pullImage({ engine, options }, { reference: parseReference(`${registry.host}/app:1`) }, signal);
  const load = async () => {
    const request = { path, name: '' } as never;
    const events: unknown[] = [];
    for await (const event of imageTransfers(engine).load(request, { signal, service: '', method: '' }))
      events.push(event);
    return events;
  };
  const make = () => imageEnsurer({ engine, options, logger: silentLogger })('127.0.0.1:1/pause:1', signal);
  try {
    fill(ballast);
    await assert.rejects(pull(), FULL);
    await assert.rejects(load(), FULL);
    await assert.rejects(make(), /connection refused; and it cannot be built locally: .*no space left on device/);
    rmSync(ballast);
    assert.match(await pull(), /^sha256:/);
    assert.equal((await load()).length, 1);
    await make();
  } finally {
    rmSync(ballast, { force: true });
    engine.close();
  }
});
