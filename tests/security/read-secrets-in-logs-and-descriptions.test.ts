/** A Secret is visible only to the container that uses it, and not in node logs, descriptions, events or command lines. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { FaultyRegistry, sendError } from '../images/faulty-registry.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, NodePlace, podManifest } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

const SECRET = 'hunter2-7f3a9c';
const encoded = Buffer.from(SECRET).toString('base64');

let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;
let registry: FaultyRegistry;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.113.21.0/24');
  registry = await FaultyRegistry.start();
  registry.faults = [(_request, response) => sendError(response, { status: 401, code: 'UNAUTHORIZED', message: 'no' })];
  daemon = await place.startDaemon('--log-level', 'debug', 'node');
  await place.loadImage();
});
after(async () => {
  await place.remove();
  await registry[Symbol.asyncDispose]();
  bundle.remove();
});

const login = JSON.stringify({ auths: { REGISTRY: { username: 'me', password: SECRET } } });
const manifest = () => `apiVersion: v1
kind: Secret
metadata: {name: s}
data: {key: ${encoded}}
---
apiVersion: v1
kind: Secret
metadata: {name: pull}
type: kubernetes.io/dockerconfigjson
stringData: {.dockerconfigjson: ${JSON.stringify(login.replace('REGISTRY', registry.host))}}
---
${podManifest('holder', `test "$KEY" = ${SECRET.slice(0, 4)}*; ${forever}`, '  volumes: [{name: v, secret: {secretName: s}}]\n')}    env: [{name: KEY, valueFrom: {secretKeyRef: {name: s, key: key}}}]
    volumeMounts: [{name: v, mountPath: /v}]
---
${podManifest('puller', 'true', '  imagePullSecrets: [{name: pull}]\n').replace(/image: .*/, `image: ${registry.host}/app:1`)}`;

/** Asserts that a text does not contain the secret, neither in plain text nor encoded. */
function assertHidden(what: string, text: string): void {
  const login64 = Buffer.from(`me:${SECRET}`).toString('base64');
  for (const form of [SECRET, encoded, login64]) assert.ok(!text.includes(form), `${what}: ${text.slice(0, 3000)}`);
}

test('no log, description, event or command line of the node contains pod secrets', async () => {
  await place.ok('apply', place.file('a.yaml', manifest()));
  await place.until(async () => (await place.pods()).some(({ status }) => status?.phase === 'Running'));
  await place.until(async () => (await place.ok('events')).includes('ErrImagePull'));
  assert.equal((await place.ok('exec', 'holder', '--', 'cat', '/v/key')).trim(), SECRET);
  for (const command of [
    ['describe', 'holder'],
    ['describe', 'puller'],
    ['describe', 'secret', 's'],
    ['get', 'secrets', '-o', 'wide', '--show-labels'],
    ['events'],
    ['ps', '-o', 'yaml'],
    ['trace', 'holder'],
  ])
    assertHidden(command.join(' '), await place.ok(...command));
  for (const format of ['json', 'yaml'])
    assertHidden(`describe -o ${format}`, await place.ok('describe', 'holder', '-o', format));
  await place.ok('delete', 'holder', 'puller');
  assert.ok(daemon.err.includes('"level":20'), 'the node logs at debug level');
  assertHidden('the log', daemon.out + daemon.err);
});

test('no error, log or command line of the node contains pull credentials', async () => {
  const pulling = place.start('pull', '--creds', 'me', `${registry.host}/app:1`);
  pulling.child.stdin!.end(`${SECRET}\n`);
  const lines = new Set<string>();
  while (pulling.child.exitCode === null) {
    for (const line of commandLines()) lines.add(line);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const { code, out, err } = await pulling.ended();
  assert.equal(code, 1);
  assert.match(err, /UNAUTHORIZED/);
  assert.ok([...lines].some((line) => line.includes('--creds')));
  assertHidden('pull', out + err + [...lines].join('\n'));
  assertHidden('the log', daemon.out + daemon.err);
});

function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return ''; // the process has exited
      }
    });
}
