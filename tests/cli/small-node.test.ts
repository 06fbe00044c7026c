import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { DAEMON_FLAGS, PROCESS_FLAGS } from '../../packages/cli/src/daemon/daemon-flags.ts';
import { fastPaths } from '../fixtures/fast-paths.ts';
import { buildBundle } from '../pods/bundle.fixture.ts';
import { forever, NodePlace, podManifest } from '../pods/node.fixture.ts';

/** Returns the NUL-separated fields of a process's file in /proc; empty if the process has exited. */
function read(pid: string, file: 'cmdline' | 'environ'): string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

test('a node started by bin/podwright has the memory-saving flags, even in the background', async (t) => {
  const bundle = await buildBundle();
  t.after(bundle.remove);
  const place = new NodePlace(bundle, '10.129.241.0/24');
  t.after(() => place.remove());
  const command = join(dirname(bundle.program), '../bin/podwright');
  mkdirSync(dirname(command));
  copyFileSync(new URL('../../bin/podwright', import.meta.url), command);
  const start = (...args: string[]) =>
    place.startProgram('env', '--unset=NODE_COMPILE_CACHE', command, ...place.flags(), ...args);
  const podwright = async (...args: string[]) => {
    const { code, err } = await start(...args).ended();
    assert.equal(code, 0, err);
  };

  await podwright('load', bundle.image);
  await podwright('run', '--detach', place.file('pod.yaml', podManifest('small', forever)));
  const isNode = (pid: string) => {
    const words = read(pid, 'cmdline');
    return words.includes(place.path('root')) && words.at(-2) === 'node';
  };
  const findNode = () => readdirSync('/proc').find((name) => /^\d+$/.test(name) && isNode(name));
  const checkNode = (compiled: string[]) => {
    const flags = [...PROCESS_FLAGS, ...DAEMON_FLAGS];
    assert.deepEqual(read(findNode()!, 'cmdline').slice(1, 1 + flags.length), flags);
    const environment = read(findNode()!, 'environ');
    assert.ok(environment.includes('MALLOC_ARENA_MAX=1'));
    const given = environment.filter((variable) => variable.startsWith('NODE_COMPILE_CACHE='));
    assert.deepEqual(given, compiled);
  };
  // `run` waits for the node it starts, so this node uses the compile cache, which counts as a fast path
  const cache = `NODE_COMPILE_CACHE=${join(realpathSync(dirname(bundle.program)), 'cache')}`;
  checkNode(fastPaths ? [cache] : []);
  await podwright('delete', 'small');
  process.kill(Number(findNode()), 'SIGTERM');
  await place.until(() => findNode() === undefined);

  const daemon = start('node');
  await place.until(() => existsSync(place.path('state/node.sock')));
  checkNode([]);
  daemon.child.kill('SIGTERM');
  await daemon.ended();
});

test('an outdated Node.js is reported in one line', async (t) => {
  const bundle = await buildBundle();
  t.after(bundle.remove);
  for (const [version, code] of [
    ['v18.19.0', 1],
    ['v22.21.9', 1],
    ['v22.22.0', 0],
    ['v24.0.0', 0],
  ] as const) {
    const preload = `data:text/javascript,Object.defineProperty(process,"version",{value:"${version}"})`;
    const { status, stderr } = spawnSync(process.execPath, ['--import', preload, bundle.program, '--help'], {
      encoding: 'utf8',
    });
    const expected = code === 0 ? '' : `podwright: needs Node.js 22.22 or later, found ${version}\n`;
    assert.deepEqual([status, stderr], [code, expected]);
  }
});
