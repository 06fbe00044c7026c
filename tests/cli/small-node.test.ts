import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { belongsTo, processIds } from '../../bench/memory.ts';
import { buildBundle } from '../pods/bundle.fixture.ts';
import { forever, NodePlace, podManifest } from '../pods/node.fixture.ts';

test('a node that bin/podwright starts in the background has the flags that keep it small', async (t) => {
  const bundle = await buildBundle();
  t.after(bundle.remove);
  const place = new NodePlace(bundle, '10.241.0.0/16');
  t.after(() => place.remove());
  const command = join(dirname(bundle.program), '../bin/podwright');
  mkdirSync(dirname(command));
  copyFileSync(new URL('../../bin/podwright', import.meta.url), command);
  const podwright = async (...args: string[]) => {
    const { code, err } = await place.startProgram(command, ...place.flags(), ...args).ended();
    assert.equal(code, 0, err);
  };

  await podwright('load', bundle.image);
  await podwright('run', '--detach', place.file('pod.yaml', podManifest('small', forever)));
  const read = (pid: number, what: string) => readFileSync(`/proc/${pid}/${what}`, 'utf8').split('\0');
  const node = processIds().find((pid) => belongsTo(pid, place.directory) && read(pid, 'cmdline').at(-2) === 'node')!;
  assert.deepEqual(read(node, 'cmdline').slice(1, 3), ['--max-semi-space-size=1', '--optimize-for-size']);
  assert.ok(read(node, 'environ').includes('MALLOC_ARENA_MAX=1'));
  await podwright('delete', 'small');
});
