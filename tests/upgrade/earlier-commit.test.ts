/**
 * An earlier version from the Git history, whose node does not support re-exec: a new node takes over its pods, and the earlier version
 * takes them back.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, NodePlace, podManifest } from '../pods/node.fixture.ts';
import { StartedProgram } from '../pods/started-program.ts';
import { buildBundleOf } from './release.fixture.ts';

/** The last commit before `podwright upgrade` was added. Once there are releases, this becomes the tag of the last one. */
const EARLIER = '2a21a9deb541df33eb398b2c56e2bd28eecccb68';
const checkout = new URL('../..', import.meta.url).pathname;

let bundle: Bundle;
let place: NodePlace;
const directories: string[] = [];
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.98.33.0/24');
});
after(async () => {
  await place.remove();
  bundle.remove();
  for (const directory of directories) rmSync(directory, { recursive: true });
});

function makeDirectory(): string {
  const directory = mkdtempSync('/tmp/pwb-');
  directories.push(directory);
  return directory;
}

/**
 * Returns the sources of the earlier commit or, if the history lacks it (as in a shallow clone), those of the checkout, to be built with a
 * different version.
 */
function earlierSources(): string {
  const archive = spawnSync('git', ['archive', EARLIER], { cwd: checkout, maxBuffer: 256 << 20 });
  if (archive.status !== 0) return checkout;
  const sources = makeDirectory();
  execFileSync('tar', ['-x', '-C', sources], { input: archive.stdout });
  const modules = join(sources, 'node_modules');
  mkdirSync(join(modules, '@podwright'), { recursive: true });
  for (const name of readdirSync(join(checkout, 'node_modules')))
    if (name !== '@podwright') symlinkSync(join(checkout, 'node_modules', name), join(modules, name));
  for (const name of readdirSync(join(sources, 'packages')))
    symlinkSync(join(sources, 'packages', name), join(modules, '@podwright', name));
  return sources;
}

test('a node from an earlier commit is replaced while its pods run, and takes them over again', async () => {
  const builds = {
    earlier: buildBundleOf(earlierSources(), makeDirectory(), '0.0.9'),
    current: bundle.program,
  };
  const installed = place.path('dist');
  symlinkSync(join(checkout, 'node_modules'), place.path('node_modules'));
  const program = join(installed, 'podwright.js');
  /** Replaces the installed program's files, as a rebuild or npm does. */
  const install = (from: string) => {
    rmSync(installed, { recursive: true, force: true });
    cpSync(dirname(from), installed, { recursive: true, dereference: true });
  };
  const call = (...args: string[]) => new StartedProgram([process.execPath, program, ...place.flags(), ...args]);
  const ok = async (...args: string[]) => {
    const { code, out, err } = await call(...args).ended();
    assert.equal(code, 0, `${args.join(' ')}: ${out}${err}${place.log()}`);
    return out;
  };
  const containers = async () =>
    (JSON.parse(await ok('ps', '-o', 'json')) as { items: Pod[] }).items.flatMap(({ status }) =>
      status!.containerStatuses!.map(
        ({ containerID, restartCount, state }) => `${containerID} ${restartCount} ${state.running?.startedAt}`,
      ),
    );

  install(builds.earlier);
  const daemon = call('node');
  await place.until(async () => daemon.child.exitCode !== null || (await call('ps').ended()).code === 0);
  assert.equal(daemon.child.exitCode, null, daemon.err);
  await ok('load', bundle.image);
  await ok('apply', place.file('pod.yaml', podManifest('web', `echo started; ${forever}`)));
  await ok('wait', 'pod/web', '--for=condition=Ready', '--timeout=60s');
  const before = await containers();

  install(builds.current);
  assert.deepEqual(await containers(), before);
  assert.match(
    (await ok('status')).replaceAll(/\s+/g, ' '),
    /this command is \S+ ?[\da-f]*: 'podwright upgrade' restarts the node/,
  );
  assert.match(await ok('upgrade'), /the node runs podwright \d/);
  assert.deepEqual(await containers(), before);
  assert.equal(await ok('exec', 'web', '--', 'echo', 'hello'), 'hello\n');
  assert.match(await ok('upgrade'), /the node already runs podwright/);

  await ok('stop', '--keep');
  install(builds.earlier);
  const again = call('node');
  await place.until(async () => again.child.exitCode !== null || (await call('ps').ended()).code === 0);
  assert.equal(again.child.exitCode, null, again.err);
  assert.deepEqual(await containers(), before);
  assert.equal(await ok('logs', 'web'), 'started\n');
  await ok('delete', 'pod', 'web');
});
