/** Fast-growing logs on a full node. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { assertNearLimit, FAST_WRITER, watchFastLog } from '../kubelet/fast-log.fixture.ts';
import { type Bundle, buildBundle } from './bundle.fixture.ts';
import { NodePlace, podManifest } from './node.fixture.ts';

let bundle: Bundle;
let place: NodePlace;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.132.26.0/24');
});
after(async () => {
  await place.remove();
  bundle.remove();
});

test('the log of a container that writes 50 MB/s exceeds its limit by at most a tenth', async (context) => {
  const settings = '[kubelet]\ncontainer_log_max_size = "10Mi"\ncontainer_log_max_files = 3\n';
  await place.startDaemon('node', '--config', place.file('config.toml', settings));
  await place.loadImage();
  await place.ok('run', '--detach', place.file('talker.yaml', podManifest('talker', FAST_WRITER)));
  const directory = await logDirectory('talker');
  const log = await watchFastLog(directory, 10 << 20);
  context.diagnostic(JSON.stringify(log));
  assertNearLimit(log);
  const newest = rotatedOf(directory).at(-1)!;
  const now = new Date().toISOString().replace(/[-:]/g, '').replace('T', '-');
  assert.ok(newest.slice('0.log.'.length) <= now, `${newest} is ahead of the clock, ${now}`);
});

test('a slow follower receives each line once across rotations, and so does a later reader', async () => {
  const lines = 400_000;
  const script = `echo begin; until [ -e /go ]; do sleep 0.1; done; seq ${lines}; echo end; exec sleep 1000`;
  await place.ok('run', '--detach', place.file('counter.yaml', podManifest('counter', script)));
  const directory = await logDirectory('counter');
  const [program, ...args] = place.command('logs', '--follow', 'counter');
  const follower = spawn(program!, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(follower.stdout, 'readable');
    await place.ok('exec', 'counter', '--', 'touch', '/go');
    await place.until(() => rotatedOf(directory).length > 0 && newestLog(directory).endsWith(' end\n'));
    const expected = ['begin', ...Array.from({ length: lines }, (_, index) => String(index + 1)), 'end'];
    const seen = await textUntil(follower.stdout, '\nend\n');
    assert.ok(
      seen
        .split('\n')
        .slice(0, -1)
        .every((line, index) => line === expected[index]),
      'all lines in order',
    );
    assert.equal(seen.length, expected.join('\n').length + 1);
    const tail = await place.ok('logs', '--tail', String(lines), 'counter');
    assert.equal(tail, `${expected.slice(-lines).join('\n')}\n`);
  } finally {
    follower.kill('SIGKILL');
  }
});

/**
 * Returns the content of the log file with the last line: the current file or, if it is still empty after a rotation, the newest rotated
 * one.
 */
function newestLog(directory: string): string {
  const path = join(directory, '0.log');
  const current = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return current || readFileSync(join(directory, rotatedOf(directory).at(-1)!), 'utf8');
}

async function logDirectory(name: string): Promise<string> {
  const pod = (await place.pods()).find(({ metadata }) => metadata.name === name);
  return place.path('logs', `default_${name}_${pod!.metadata.uid}`, 'main');
}

const rotatedOf = (directory: string) =>
  readdirSync(directory)
    .filter((name) => name.startsWith('0.log.'))
    .sort();

async function textUntil(stream: Readable, end: string): Promise<string> {
  let text = '';
  for await (const chunk of stream.setEncoding('latin1')) {
    text += chunk;
    if (text.endsWith(end)) break;
  }
  return text;
}
