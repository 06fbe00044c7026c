/** Output and exit codes of `podwright run` for pods that fail to start or that exit. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, forever, NodePlace, podManifest } from '../pods/node.fixture.ts';

let bundle: Bundle;
let place: NodePlace;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.131.1.0/24');
  await place.loadImage();
  await place.startDaemon();
});
after(async () => {
  await place.remove();
  bundle.remove();
});

const init = `  initContainers: [{name: setup, image: ${exampleImage}, command: [echo, all set up]}]\n`;
const crash = 'echo "FATAL: DATABASE_URL is not set" >&2; exit 3';
/** A probe that always fails: without it, a crashing pod might briefly be ready. */
const unready = "    readinessProbe: {exec: {command: ['false']}}\n";
const names = async () => (await place.pods()).map(({ metadata }) => metadata.name);

test('--detach --timeout reports pods that are not ready with their logs and keeps them', async () => {
  const file = place.file('kept.yaml', podManifest('kept', crash, init) + unready);
  const { code, out, err } = await place.call('run', '--detach', '--timeout', '3s', file);
  assert.equal(code, 1);
  assert.match(err, /^podwright: not ready within 3 s \(--timeout\): kept$/m);
  assert.match(err, /^kept: (CrashLoopBackOff|Error)/m);
  assert.match(err, /^ {4}FATAL: DATABASE_URL is not set$/m);
  assert.match(err, /^ {2}more:\n {4}podwright --.* describe kept\n {4}podwright --.* logs kept -c main/m);
  assert.match(out, /^1 pod stays; see /m);
  assert.doesNotMatch(err, /stopping the pods/);
  assert.match(await place.ok('logs', 'kept'), /FATAL/);
  await place.ok('delete', 'kept');
});

test('--detach stops waiting at Ctrl-C and keeps the pod', async () => {
  const run = place.start('run', '--detach', place.file('kept.yaml', podManifest('kept', forever) + unready));
  await run.until(/main: Running/);
  run.child.kill('SIGINT');
  const { code, out, err } = await run.ended();
  assert.equal(code, 130);
  assert.match(out, /^1 pod stays; see /m);
  assert.doesNotMatch(err, /stopping the pods/);
  assert.deepEqual(await names(), ['kept']);
  await place.ok('delete', 'kept');
});

test('logs are shown from the first line of each container and attempt, even next to pods that are not ready', async () => {
  const manifest = `${podManifest('web', `echo up; ${forever}`)}---\n${podManifest('crash', crash, init)}${unready}`;
  const run = place.start('run', place.file('two.yaml', manifest));
  await run.until(/^crash\/setup \| all set up$/m);
  await run.until(/^web\/main \| up$/m);
  await run.until(/^crash\/main \| FATAL(.|\n)*^crash\/main \| FATAL/m);
  run.child.kill('SIGINT');
  const { code, out, err } = await run.ended();
  assert.equal(code, 130);
  assert.match(
    err,
    /^crash: (CrashLoopBackOff|Error|Running)(.|\n)*^ {4}FATAL.*\n {2}to keep and inspect it:\n {4}podwright --.* run --detach .*two\.yaml\n {4}podwright --.* describe crash/m,
  );
  assert.doesNotMatch(err, /^web: /m);
  assert.doesNotMatch(out, /\x1b/);
  assert.deepEqual(await names(), []);
});

test('no output is lost if a container writes a lot and exits at once, repeatedly', async () => {
  const script = 'n=$(cat /s/n 2>/dev/null || echo 0); echo $((n+1)) > /s/n; seq 1 3000; echo "end $n"; [ $n = 2 ]';
  const rest = '  restartPolicy: OnFailure\n  volumes: [{name: s, emptyDir: {}}]\n';
  const manifest = `${podManifest('seq', script, rest)}    volumeMounts: [{name: s, mountPath: /s}]\n`;
  const out = await place.ok('run', '--once', place.file('seq.yaml', manifest));
  const lines = out.trimEnd().split('\n');
  const numbers = Array.from({ length: 3000 }, (_, index) => `${index + 1}`);
  const expected = [0, 1, 2].flatMap((attempt) => [...numbers, `end ${attempt}`]);
  assert.equal(lines.length, expected.length);
  assert.deepEqual(lines, expected);
});

test('a rejected pod ends the run with the reason', async () => {
  // sets `nodeName`, because a scheduler would leave the pod pending
  const spec = `  nodeName: ${hostname().toLowerCase()}\n  nodeSelector: {disk: ssd}\n`;
  const file = place.file('refused.yaml', podManifest('refused', forever, spec));
  for (const args of [['run'], ['run', '--detach']]) {
    const { code, out, err } = await place.call(...args, file);
    assert.equal(code, 1);
    assert.match(err, /^refused: NodeAffinity: .*didn.t match Pod.s node affinity/m);
    assert.doesNotMatch(out, /keeps? running/);
  }
  await place.ok('delete', 'refused');
});

test('a missing image ends the run with the reason; only --detach keeps the pod', async (context) => {
  const registry = createServer((_request, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  context.after(() => registry.close());
  const image = `127.0.0.1:${(registry.address() as AddressInfo).port}/nothing:1`;
  const manifest = podManifest('unhad', forever, '  restartPolicy: OnFailure\n').replace(
    /image: .*/,
    `image: ${image}`,
  );
  const file = place.file('unhad.yaml', manifest);
  for (const args of [['run'], ['run', '--once'], ['run', '--detach']]) {
    const { code, err } = await place.call(...args, file);
    assert.equal(code, 1, args.join(' '));
    assert.match(err, /^unhad: (ErrImagePull|ImagePullBackOff)\n {2}main: \1: .*nothing:1\b/m);
    assert.deepEqual(await names(), args.includes('--detach') ? ['unhad'] : []);
  }
  await place.ok('delete', 'unhad');
});

test('a run ends with its pods and returns their exit code', async () => {
  const three = place.file('three.yaml', podManifest('three', 'echo bye; exit 3', '  restartPolicy: Never\n'));
  const { code, out, err } = await place.call('run', three);
  assert.equal(code, 3);
  assert.equal(out, 'bye\n');
  assert.match(err, /^three: Error(.|\n)*^ {4}bye$/m);
  assert.doesNotMatch(err, /stopping the pods/);
  const zero = place.file('zero.yaml', podManifest('zero', 'true', '  restartPolicy: Never\n'));
  const quiet = await place.call('run', '--quiet', zero);
  assert.deepEqual([quiet.code, quiet.out, quiet.err], [0, '', '']);
  assert.deepEqual(await names(), []);
});

test('a run ends when another command deletes its pod', async () => {
  const run = place.start('run', place.file('taken.yaml', podManifest('taken', forever)));
  await run.until(/^taken +1\/1 +Running/m);
  await place.ok('delete', 'taken');
  const { code, err } = await run.ended();
  assert.equal(code, 1);
  assert.match(err, /^taken: deleted by another command/m);
});

test('run --detach does not wait for a container that has ended for good', async () => {
  const more = `  - {name: job, image: ${exampleImage}, command: ['true']}\n`;
  const manifest = podManifest('part', forever, '  restartPolicy: Never\n') + more;
  await place.ok('run', '--detach', '--timeout', '30s', place.file('part.yaml', manifest));
  await place.until(async () => /^default +part +1\/2 +NotReady/m.test(await place.ok('ps')));
  await place.ok('delete', 'part');
});

test('invalid combinations of options are rejected before anything is started', async () => {
  const endless = place.file('endless.yaml', podManifest('endless', forever));
  const always = await place.call('run', '--once', endless);
  assert.equal(always.code, 1);
  assert.match(always.err, /pod endless never ends.*restartPolicy is Always.*Never or OnFailure/);
  const both = await place.call('run', '--once', '--detach', endless);
  assert.equal(both.code, 1);
  assert.match(both.err, /--once waits.*--detach does not/);
  assert.deepEqual(await names(), []);
});

test('on a terminal, colored logs appear above the status display', async () => {
  const manifest = podManifest('shown', `printf 'hello\\033[2J\\n'; sleep 1; touch /ready; ${forever}`);
  const probe = '    readinessProbe: {exec: {command: [cat, /ready]}, periodSeconds: 1}\n';
  const command = place.command('run', place.file('shown.yaml', manifest + probe)).join(' ');
  const terminal = place.startProgram(
    ...['env', '-i', `PATH=${process.env.PATH}`, 'TERM=xterm', 'script', '-qfec', command, '/dev/null'],
  );
  await terminal.until(/TOOK/);
  terminal.type('\x03');
  const { code, out } = await terminal.ended();
  assert.equal(code, 130);
  assert.match(out, /\x1b\[36mshown\/main \| \x1b\[39mhello\^\[\[2J\r\n.*Running, not ready.*TOOK/s);
});

test('a run that follows logs uses little memory', async () => {
  const manifest = podManifest('front', 'trap "exit 0" TERM; while :; do echo x; sleep 0.02; done');
  const run = place.startProgram(
    'env',
    'MALLOC_ARENA_MAX=1',
    ...place.command('run', place.file('front.yaml', manifest)),
  );
  await place.until(() => run.err.includes('TOOK') && run.out.split('x\n').length > 100);
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${run.child.pid}/status`, 'utf8'))!;
  run.child.kill('SIGINT');
  assert.equal((await run.ended()).code, 130);
  assert.ok(Number(kib) <= 70 << 10, `${kib} KiB`);
});
