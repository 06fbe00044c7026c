import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { findProcesses, parseProcessStart, readProcessStart } from '@podwright/base';
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
  const read = async (pid: number, what: 'cmdline' | 'environ') => parseProcessStart(await readProcessStart(pid, what));
  const isNode = (words: string[]) => words.at(-1) === 'node' && words.some((word) => word.includes(place.directory));
  const [node] = await findProcesses(async (pid) => isNode(await read(pid, 'cmdline')));
  assert.deepEqual((await read(node!, 'cmdline')).slice(1, 3), ['--max-semi-space-size=1', '--optimize-for-size']);
  assert.ok((await read(node!, 'environ')).includes('MALLOC_ARENA_MAX=1'));
  await podwright('delete', 'small');
});
