/** Text from containers and registries must not send control sequences to terminals (as in kubectl's CVE-2021-25743). */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Event, Pod } from '@podwright/kube-api';
import { readYamlDocuments } from '../../packages/kube-api/src/text/yaml-documents.ts';
import { FaultyRegistry, sendError } from '../images/faulty-registry.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { NodePlace, podManifest } from '../pods/node.fixture.ts';

/** A control sequence that sets the clipboard in some terminals. */
const ATTACK = '\x1b]52;c;cm0gLXJmIC8=\x07';
const SHOWN = '^[]52;c;cm0gLXJmIC8=^G';

let bundle: Bundle;
let place: NodePlace;
let registry: FaultyRegistry;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.113.1.0/24');
  registry = await FaultyRegistry.start();
  registry.faults = [
    (_request, response) => sendError(response, { status: 403, code: 'DENIED', message: `no ${ATTACK} access` }),
  ];
  await place.startDaemon();
  await place.loadImage();
});
after(async () => {
  await place.remove();
  await registry[Symbol.asyncDispose]();
  bundle.remove();
});

const script = `printf '\\033]52;c;cm0gLXJmIC8=\\007' | tee /dev/termination-log; exit 1`;
/** Returns a pod that never becomes ready, so that `run` waits for it to exit. */
const failing = (name: string) =>
  `${podManifest(name, script, '  restartPolicy: Never\n')}    readinessProbe: {exec: {command: ['false']}}\n`;

const parse = (yaml: string) => readYamlDocuments(yaml, 1).documents[0]!.value;

/** Asserts that the control sequence is shown in escaped form. */
function assertShown(text: string): void {
  assert.ok(text.includes(SHOWN), text);
  assert.ok(!text.includes('\x1b]'), JSON.stringify(text));
}

const failed = async (name: string) =>
  (await place.pods()).some(({ metadata, status }) => metadata.name === name && status?.phase === 'Failed');

test('a termination message is escaped by run and describe, and exact in JSON and YAML', async () => {
  const file = place.file('a.yaml', failing('message'));
  // like kubectl, `podwright run` escapes logs on standard output only if it is a terminal, so check standard error
  const { err } = await place.call('run', '--once', file);
  assertShown(err);
  await place.ok('apply', file);
  await place.until(() => failed('message'));
  const described = await place.ok('describe', 'message');
  assertShown(described);
  assert.ok(!described.includes('\x1b'));
  for (const format of ['json', 'yaml']) {
    const text = await place.ok('describe', 'message', '-o', format);
    assert.ok(!text.includes('\x1b'));
    const { pod } = parse(text) as { pod: Pod };
    assert.equal(pod.status?.containerStatuses?.[0]?.state.terminated?.message, ATTACK);
  }
  await place.ok('delete', 'message');
});

test('the status lines on a terminal and the log above them are escaped', async () => {
  const command = `stty cols 200; ${place.command('run', '--once', place.file('b.yaml', failing('picture'))).join(' ')}`;
  const { out } = await place.startProgram('script', '-qfec', command, '/dev/null').ended();
  assert.ok(out.includes(`picture/main | ${SHOWN}`), JSON.stringify(out));
  assertShown(out.replaceAll(/picture\/main \| .*/g, ''));
  assert.ok(!out.includes('\x1b]'), JSON.stringify(out));
});

test('registry messages are escaped by pull, run, events and describe', async () => {
  const image = `${registry.host}/app:1`;
  const pulled = await place.call('pull', image);
  assert.equal(pulled.code, 1);
  assertShown(pulled.err);
  const manifest = failing('pulling').replace(/image: .*/, `image: ${image}`);
  await place.ok('apply', place.file('c.yaml', manifest));
  await place.until(async () => (await place.ok('events')).includes('DENIED'));
  assertShown(await place.ok('events'));
  const described = await place.ok('describe', 'pulling');
  assertShown(described.slice(described.indexOf('Events:')));
  assert.ok(!described.includes('\x1b'));
  const { items } = parse(await place.ok('events', '-o', 'yaml')) as { items: Event[] };
  assert.ok(items.some(({ message }) => message.includes(`no ${ATTACK} access`)));
  await place.ok('delete', 'pulling');
  const { err } = await place.call('run', '--timeout', '3s', place.file('c.yaml', manifest));
  assertShown(err);
});

test('container logs are printed unchanged, like in kubectl and podman', async () => {
  await place.ok('apply', place.file('d.yaml', failing('raw')));
  await place.until(() => failed('raw'));
  assert.ok((await place.ok('logs', 'raw')).includes(ATTACK));
  await place.ok('delete', 'raw');
});
