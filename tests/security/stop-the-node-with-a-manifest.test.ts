/** A manifest that takes minutes to parse would block all pods' probes: it is rejected, or parsed in bounded time. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { NodeClient } from '../../packages/cli/src/client/node-client.ts';
import { readManifests } from '../../packages/cli/src/manifests/read-manifests.ts';
import { AppliedObjects } from '../../packages/node-api/src/applied-objects.ts';
import { LocalServer } from '../../packages/node-api/src/local-server.ts';
import type { NodeBackend } from '../../packages/node-api/src/node-backend.ts';
import { longestStallMs } from './longest-stall.fixture.ts';

/** Maximum time in ms that the event loop may be blocked; a fast host needs a tenth of this. */
const PATIENCE_MS = 4000;

const configMap = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n';
const podSpec = 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: a, image: b}]\n';
const lines = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join('');
const list = (item: string, count: number) => `apiVersion: v1\nkind: List\nitems: [${`${item},`.repeat(count)}]`;

/** Manifests known to be expensive to parse or validate, by description. */
const hostile: [string, string][] = [
  ['60,000 keys', configMap + lines(60_000, (at) => `  k${at}: "a"\n`)],
  ['as many keys as are allowed', configMap + lines(28_000, (at) => `  k${at}: "a"\n`)],
  ['100,000 anchors', configMap + lines(100_000, (at) => `  k${at}: &a${at} x\n`)],
  ['anchors and aliases', configMap + lines(9000, (at) => `  k${at}: &a${at} x\n  l${at}: *a${at}\n`)],
  ['20,000 unknown fields', podSpec + lines(20_000, (at) => `  contaners${at}: "a"\n`)],
  ['20,000 keys twice', configMap + lines(20_000, (at) => `  k${at % 10_000}: "a"\n`)],
  ['many objects with misspelled fields', list('{apiVersion: v1, kind: Pod, metdata: 1, sepc: 1}', 7000)],
  ['a map merged a thousand times', `a: &a {${lines(20_000, (at) => `k${at}: 1,`)}}\nb: [${'{<<: *a},'.repeat(1000)}]`],
  ['aliases of aliases', lines(12, (at) => `a${at}: &a${at} [${at === 0 ? 'x' : `*a${at - 1},`.repeat(9)}]\n`)],
  ['a million broken escapes', `a: "${'\\q'.repeat(1_000_000)}"`],
  ['a broken string of a million lines', `a: "${'x\n'.repeat(1_000_000)}"`],
  ['100,000 open lists', '['.repeat(100_000)],
];

async function startServer(context: TestContext): Promise<NodeClient> {
  const directory = mkdtempSync('/tmp/hostile-manifest-');
  context.after(() => rmSync(directory, { recursive: true }));
  const applied = new AppliedObjects(join(directory, 'manifests'), {
    podOfUid: () => undefined,
    wantedPod: () => undefined,
  });
  const apply: NodeBackend['apply'] = async (text) => {
    const { done, warnings } = await applied.apply(text);
    return { objects: done, warnings, findings: [] };
  };
  const backend: Partial<NodeBackend> = { apply };
  const socketPath = join(directory, 'node.sock');
  const server = new LocalServer({ socketPath, backend: backend as NodeBackend, logger: silentLogger });
  await server.listen();
  context.after(() => server.close());
  return new NodeClient(socketPath);
}

for (const [what, text] of hostile) {
  test(`a manifest of ${what} does not block the node`, async (context) => {
    const client = await startServer(context);
    let words = '';
    const stallMs = await longestStallMs(() => client.apply(text).catch((error: Error) => (words = error.message)));
    assert.ok(stallMs < PATIENCE_MS, `the event loop was blocked for ${stallMs} ms`);
    assert.ok(words.length < 200_000, 'the error message is too long');
  });
}

test('a manifest with the maximum number of keys is accepted', async (context) => {
  const client = await startServer(context);
  const { objects } = await client.apply(configMap + lines(28_000, (at) => `  k${at}: "a"\n`));
  assert.deepEqual(
    objects.map(({ action }) => action),
    ['created'],
  );
});

test('the command reads no more than the maximum manifest size from a file', async (context) => {
  await assert.rejects(
    readManifests(['/dev/zero'], {}, () => false),
    /is larger than 4 MiB/,
  );
  const directory = mkdtempSync('/tmp/hostile-manifest-');
  context.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'keys.yaml');
  writeFileSync(file, hostile[0]![1]);
  await assert.rejects(
    readManifests([file], {}, () => false),
    /keys\.yaml:\d+:\d+: has more than 200000 YAML tokens/,
  );
});
