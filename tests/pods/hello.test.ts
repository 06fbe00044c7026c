/** `run` goes from a manifest to running pods in a single command, and leaves nothing behind. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, type TestContext, test } from 'node:test';
import { type Bundle, buildBundle } from './bundle.fixture.ts';
import { forever, freePort, helloManifest, NodePlace, podManifest } from './node.fixture.ts';

let bundle: Bundle;
before(async () => {
  bundle = await buildBundle();
});
after(() => bundle.remove());

/** Creates a node with the image loaded; `number` determines its subnet. */
async function makePlace(context: TestContext, number: number): Promise<NodePlace> {
  const place = await NodePlace.open(bundle, `10.99.${number}.0/24`);
  context.after(() => place.remove());
  await place.loadImage();
  return place;
}

async function fetchText(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  return response.text();
}

test('the example starts, serves its page on the host and prints its URL, and Ctrl-C leaves nothing behind', async (context) => {
  const place = await makePlace(context, 1);
  const port = await freePort();
  const run = place.start('run', place.file('hello.yaml', helloManifest(port)));
  await run.until(/^POD +READY +STATUS +RESTARTS +IP +TOOK$/m);
  await run.until(new RegExp(`^web: open http://localhost:${port}$`, 'm'));
  assert.match(await fetchText(`http://localhost:${port}/`), /Hello from Podwright/);
  await run.until(/^fetch\/fetch \| <h1>Hello from Podwright<\/h1>$/m);
  assert.match(run.err, /^web +2\/2 +Running +0 +10\.99\.1\.\d+ +[\d.]+ m?s$/m);
  run.child.kill('SIGINT');
  const { code, out, err } = await run.ended();
  assert.equal(code, 130, err);
  assert.doesNotMatch(err, /Error|Warning|[Ff]ail|restarted/);
  const lines = ['fetch/fetch | <h1>Hello from Podwright</h1>', 'web/server | serving /index.html and /time.txt'];
  assert.deepEqual(out.trimEnd().split('\n').sort(), lines);
  assert.deepEqual(place.leftovers(), []);
});

test('--once exits with 0 if all pods succeeded, and shows their logs', async (context) => {
  const place = await makePlace(context, 2);
  const file = place.file('job.yaml', podManifest('job', 'echo all is well', '  restartPolicy: Never\n'));
  const { code, out, err } = await place.call('run', '--once', file);
  assert.equal(code, 0, `${out}\n${err}`);
  assert.equal(out, 'all is well\n');
  assert.deepEqual(place.leftovers(), []);
});

test("--once exits with a failed container's exit code", async (context) => {
  const place = await makePlace(context, 3);
  const good = podManifest('good', 'true', '  restartPolicy: Never\n');
  const bad = podManifest('bad', 'echo alas >&2; exit 42', '  restartPolicy: Never\n');
  const { code, out } = await place.call('run', '--once', place.file('two.yaml', `${good}---\n${bad}`));
  assert.equal(code, 42);
  assert.match(out, /^bad\/main \| alas$/m); // with several pods each line has the name of its pod
  assert.deepEqual(place.leftovers(), []);
});

test('pods that do not become ready within --timeout are removed with an error', async (context) => {
  const place = await makePlace(context, 4);
  const probe = '    readinessProbe: {exec: {command: ["false"]}, periodSeconds: 1}\n';
  const file = place.file('never.yaml', podManifest('never', forever) + probe);
  const { code, err } = await place.call('run', '--timeout', '3s', file);
  assert.equal(code, 1);
  assert.match(err, /within 3 s \(--timeout\)/);
  assert.deepEqual(place.leftovers(), []);
});

test('--detach keeps pods that are not ready within --timeout for inspection', async (context) => {
  const place = await makePlace(context, 5);
  const probe = '    readinessProbe: {exec: {command: ["false"]}, periodSeconds: 1}\n';
  const file = place.file('never.yaml', podManifest('never', forever) + probe);
  const { code, err } = await place.call('run', '--detach', '--timeout', '3s', file);
  assert.equal(code, 1);
  assert.match(err, /not ready within 3 s \(--timeout\): never$/m);
  assert.match(await place.ok('describe', 'never'), /Readiness/);
  await place.ok('stop', '--delete');
  assert.deepEqual(place.leftovers(), []);
});

test('a daemon keeps running with its pods after --detach, and all commands reach them', async (context) => {
  const place = await makePlace(context, 6);
  const file = place.file('a.yaml', podManifest('a', `echo started; ${forever}`));
  assert.match(await place.ok('run', '--detach', file), /1 pod keeps running/);
  assert.match(await place.ok('ps'), /^default +a +1\/1 +Running +0 +10\.99\.6\.\d+/m);
  assert.match(await place.ok('ps', '-o', 'wide'), /QOS +UID +IMAGES/);
  assert.match(await place.ok('ps', '-o', 'yaml'), /^kind: List$/m);
  assert.match(await place.ok('logs', 'a'), /^started$/m);
  const exec = await place.call('exec', 'a', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7');
  assert.deepEqual({ ...exec, signal: null }, { code: 7, signal: null, out: 'out\n', err: 'err\n' });
  assert.match(await place.ok('describe', 'a'), /Container started/);
  const events = await place.json<{ items: { reason: string }[] } | { reason: string }[]>('events');
  const reasons = (Array.isArray(events) ? events : events.items).map(({ reason }) => reason);
  assert.ok(reasons.includes('Started'), reasons.join());
  const second = place.start('run', place.file('b.yaml', podManifest('b', forever)));
  await second.until(/^b +1\/1 +Running/m);
  second.child.kill('SIGINT');
  assert.equal((await second.ended()).code, 130);
  assert.deepEqual(
    (await place.pods()).map(({ metadata }) => metadata.name),
    ['a'],
  );
  await place.ok('delete', 'a');
  assert.match(await place.ok('ps'), /^no pods/);
});

test('two nodes on one host do not affect each other', async (context) => {
  const [left, right] = [await makePlace(context, 7), await makePlace(context, 8)];
  const file = left.file('twin.yaml', podManifest('twin', forever));
  await Promise.all([left.ok('run', '--detach', file), right.ok('run', '--detach', file)]);
  const run = left.start('run', left.file('more.yaml', podManifest('more', forever)));
  await run.until(/^more +1\/1 +Running/m);
  const before = await right.pods();
  await left.ok('delete', 'twin');
  run.child.kill('SIGINT');
  await run.ended();
  assert.deepEqual(await right.pods(), before);
  assert.equal((await right.call('exec', 'twin', '--', 'true')).code, 0);
  await right.ok('delete', 'twin');
});

test('exec forwards stdin and its end', async (context) => {
  const place = await makePlace(context, 9);
  await place.ok('run', '--detach', place.file('a.yaml', podManifest('a', forever)));
  const sum = place.start('exec', '-i', 'a', '--', 'sh', '-c', 'cat; exit 3');
  const text = 'many lines\n'.repeat(50_000);
  sum.child.stdin!.end(text);
  const { code, out } = await sum.ended();
  assert.equal(code, 3);
  assert.equal(out.length, text.length);
  await place.ok('delete', 'a');
});

test('exec -it has a terminal that follows the size of the caller’s terminal', async (context) => {
  const place = await makePlace(context, 10);
  await place.ok('run', '--detach', place.file('a.yaml', podManifest('a', forever)));
  const inside = place.command('exec', '-it', 'a', '--', 'sh').join(' ');
  // resizes the outer shell's terminal, which exec is using, while exec runs
  const resize = 'sleep 3; stty rows 33 cols 77 < "$(readlink -f /proc/$$/fd/1)"';
  const command = `stty rows 20 cols 100; (${resize}) & ${inside}; echo "ended $?"`;
  const terminal = place.startProgram('script', '-qfec', command, '/dev/null');
  await terminal.until(/\/ # /);
  terminal.type('stty size\n');
  await terminal.until(/20 100/);
  terminal.type('while [ "$(stty size)" != "33 77" ]; do sleep 0.1; done; echo re""sized; exit 5\n');
  await terminal.until(/resized/);
  await terminal.until(/ended 5/);
  await terminal.ended();
  await place.ok('delete', 'a');
});

test('a terminal shows one line per container, redrawn in place', async (context) => {
  const place = await makePlace(context, 11);
  const file = place.file('hello.yaml', helloManifest(await freePort()));
  const terminal = place.startProgram('script', '-qfec', place.command('run', file).join(' '), '/dev/null');
  await terminal.until(/TOOK/);
  assert.ok(terminal.out.includes('\x1b[0J'), 'the lines are redrawn');
  assert.match(terminal.out, /write-page +init +Completed/);
  assert.match(terminal.out, /clock +sidecar +Running/);
  terminal.type('\x03');
  const { code } = await terminal.ended();
  assert.equal(code, 130);
  assert.deepEqual(place.leftovers(), []);
});

test('logs -f ends with its container, and -p shows the previous run', async (context) => {
  const place = await makePlace(context, 12);
  const volume = '  volumes: [{name: state, emptyDir: {}}]\n';
  const script =
    'if [ -e /state/go ]; then echo second; trap "exit 0" TERM; while :; do sleep 0.1; done; fi; ' +
    'echo first; until [ -e /state/go ]; do sleep 0.1; done; exit 1';
  const manifest = `${podManifest('a', script, volume)}    volumeMounts: [{name: state, mountPath: /state}]\n`;
  await place.ok('run', '--detach', place.file('a.yaml', manifest));
  const follow = place.start('logs', '-f', 'a');
  await follow.until(/^first$/m);
  await place.ok('exec', 'a', '--', 'touch', '/state/go');
  const { code, out } = await follow.ended();
  assert.equal(code, 0);
  assert.equal(out, 'first\n');
  await place.until(async () => (await place.call('logs', 'a')).out === 'second\n');
  assert.equal(await place.ok('logs', '-p', 'a'), 'first\n');
  await place.ok('delete', 'a');
  assert.equal(existsSync(place.path('logs')) && place.leftovers().some((line) => line.includes('/logs/')), false);
});
