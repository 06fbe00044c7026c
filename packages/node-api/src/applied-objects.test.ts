import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runChecked } from '@podwright/host';
import { AppliedObjects } from './applied-objects.ts';

function makeApplied(context: TestContext): { applied: AppliedObjects; directory: string; files: () => string[] } {
  const directory = mkdtempSync('/tmp/applied-');
  context.after(() => rmSync(directory, { recursive: true }));
  const applied = new AppliedObjects(directory, { podOfUid: () => undefined, wantedPod: () => undefined });
  return { applied, directory, files: () => readdirSync(directory).sort() };
}

const object = (kind: string, fields: object, name = 'a') =>
  JSON.stringify({ apiVersion: 'v1', kind, metadata: { name }, ...fields });
const pod = (image: string, name?: string) => object('Pod', { spec: { containers: [{ name: 'c', image }] } }, name);

test('a dry run reports the actions of an apply, and writes nothing', async (context) => {
  const { applied, files } = makeApplied(context);
  await applied.apply([pod('b'), object('ConfigMap', {})].join('\n---\n'));
  const before = files();
  const text = [pod('c'), pod('b', 'new'), object('ConfigMap', {})].join('\n---\n');
  const actions = async (dryRun: boolean) =>
    (await applied.apply(text, { dryRun })).done.map(({ name, action }) => `${name} ${action}`);
  assert.deepEqual(await actions(true), ['a unchanged', 'a replaced', 'new created']);
  assert.deepEqual(files(), before);
  assert.deepEqual(await actions(false), ['a unchanged', 'a replaced', 'new created']);
});

test('a change to an immutable ConfigMap or Secret is rejected with upstream’s message, along with the whole manifest', async (context) => {
  const { applied, files } = makeApplied(context);
  await applied.apply(object('ConfigMap', { data: { x: '1', y: '2' }, immutable: true }));
  await applied.apply(object('Secret', { stringData: { x: '1' }, immutable: true }));
  const refused = (text: string, message: RegExp) =>
    assert.rejects(applied.apply([pod('b'), text].join('\n---\n')), { code: 'failed_precondition', message });
  const forbidden = 'Forbidden: field is immutable when `immutable` is set; delete it first';
  await refused(
    object('ConfigMap', { data: { x: '2' }, immutable: true }),
    new RegExp(`^apply ConfigMap default/a: data: ${forbidden}$`),
  );
  await refused(
    object('ConfigMap', { data: { x: '1', y: '2' } }),
    new RegExp(`^apply ConfigMap default/a: immutable: ${forbidden}$`),
  );
  await refused(object('Secret', { stringData: { x: '2' }, immutable: true }), /Secret default\/a: data: Forbidden/);
  await refused(object('Secret', { stringData: { x: '1' }, immutable: true, type: 'b' }), /type: Invalid value: "b"/);
  assert.deepEqual(files(), ['applied-configmap_default_a.json', 'applied-secret_default_a.json']);
  const relabelled = object('ConfigMap', { data: { y: '2', x: '1' }, immutable: true }).replace(
    '"a"',
    '"a","labels":{"l":"1"}',
  );
  assert.equal((await applied.apply(relabelled)).done[0]?.action, 'replaced');
  await applied.remove({ kind: 'ConfigMap', namespace: 'default', name: 'a' });
  await applied.apply(object('ConfigMap', { data: { x: '2' } }));
});

test('with replace: false nothing is written if an object exists with different content', async (context) => {
  const { applied, files } = makeApplied(context);
  const config = (data: object) => object('ConfigMap', { data });
  const actions = async (text: string) => {
    const { done, planOnly } = await applied.apply(text, { replace: false });
    return [planOnly, ...done.map(({ action }) => action)];
  };
  assert.deepEqual(await actions(config({ x: '1' })), [false, 'created']);
  assert.deepEqual(await actions([config({ x: '1' }), pod('i', 'b')].join('\n---\n')), [false, 'unchanged', 'created']);
  assert.deepEqual(await actions([config({ x: '2' }), pod('i', 'c')].join('\n---\n')), [true, 'replaced', 'created']);
  assert.deepEqual(files(), ['applied-configmap_default_a.json', 'applied-pod_default_b.json']);
});

test('applying a ConfigMap or Secret as returned by the node changes nothing', async (context) => {
  const { applied } = makeApplied(context);
  await applied.apply(
    [object('ConfigMap', { data: { x: '1' } }), object('Secret', { data: { x: 'MQ==' } })].join('\n---\n'),
  );
  const own = { uid: '', creationTimestamp: '2026-11-22T00:00:00Z', resourceVersion: '7' };
  const shown = (kind: string, fields: object) =>
    JSON.stringify({ apiVersion: 'v1', kind, metadata: { name: 'a', namespace: 'default', ...own }, ...fields });
  for (const text of [shown('ConfigMap', { data: { x: '1' } }), shown('Secret', { data: { x: 'MQ==' } })])
    assert.equal((await applied.apply(text)).done[0]?.action, 'unchanged', text);
  assert.equal((await applied.apply(shown('ConfigMap', { data: { x: '2' } }))).done[0]?.action, 'replaced');
});

test('ignored parts of a manifest result in warnings', async (context) => {
  const { applied } = makeApplied(context);
  const { done, warnings } = await applied.apply([pod('b'), object('Service', {})].join('\n---\n'));
  assert.equal(done.length, 1);
  assert.match(String(warnings), /^manifest:3:1: Service a is left out/);
});

test('a pod with only its resources changed remains the same pod', async (context) => {
  const { applied } = makeApplied(context);
  const sized = (cpu: string, image = 'b') =>
    object('Pod', { spec: { containers: [{ name: 'c', image, resources: { requests: { cpu } } }] } });
  const did = async (text: string) => (await applied.apply(text)).done[0]!;
  const { uid } = await did(sized('1'));
  assert.deepEqual([(await did(sized('2'))).action, (await did(sized('3'))).uid], ['resized', uid]);
  const other = await did(sized('3', 'c'));
  assert.equal(other.action, 'replaced');
  assert.notEqual(other.uid, uid);
});

test('objects with names of any length are applied, changed and removed', async (context) => {
  const { applied, files } = makeApplied(context);
  const [long, other] = ['a', 'b'].map((end) => `${'n'.repeat(252)}${end}`);
  for (const kind of ['ConfigMap', 'PersistentVolumeClaim'])
    for (const name of [long!, other!]) {
      const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
      const text = object(kind, kind === 'ConfigMap' ? { data: { name } } : { spec }, name);
      assert.equal((await applied.apply(text)).done[0]?.action, 'created');
      assert.equal((await applied.apply(text)).done[0]?.action, 'unchanged');
    }
  assert.equal(files().length, 4);
  for (const kind of ['ConfigMap', 'PersistentVolumeClaim'])
    for (const name of [long!, other!]) assert.equal(await applied.remove({ kind, namespace: 'default', name }), true);
  assert.deepEqual(files(), []);
});

test('a FIFO with an object’s file name is replaced', { timeout: 10_000 }, async (context) => {
  const { applied, directory, files } = makeApplied(context);
  await applied.apply(object('ConfigMap', {}));
  const [file] = files();
  rmSync(join(directory, file!));
  await runChecked('mkfifo', [join(directory, file!)]);
  const { done } = await applied.apply(object('ConfigMap', {}));
  assert.deepEqual([done.map(({ action }) => action), files()], [['created'], [file]]);
  assert.ok(statSync(join(directory, file!)).isFile());
});

test('an apply is refused if staticPodPath is a file', async (context) => {
  const directory = mkdtempSync('/tmp/applied-');
  context.after(() => rmSync(directory, { recursive: true }));
  const path = `${directory}/pods`;
  writeFileSync(path, pod('b'));
  for (const file of [path, `${directory}/to-come.yaml`]) {
    const applied = new AppliedObjects(file, { podOfUid: () => undefined, wantedPod: () => undefined });
    await applied.removeUnfinished();
    const message = `apply: the node's manifests are one file, ${file}; change it there, or make staticPodPath a directory`;
    await assert.rejects(applied.apply(pod('c')), { code: 'failed_precondition', message });
    assert.equal(await applied.remove({ kind: 'Pod', namespace: 'default', name: 'a' }), false);
    assert.equal(await applied.patch({ kind: 'Pod', namespace: 'default', name: 'a' }, () => ({})), undefined);
  }
  assert.deepEqual(readdirSync(directory), ['pods']);
});

test('an object that is patched while being deleted is not re-created', async (context) => {
  const { applied, files } = makeApplied(context);
  const name = { kind: 'Pod', namespace: 'default', name: 'a' };
  const sized = (image: string) =>
    object('Pod', { spec: { containers: [{ name: 'c', image, resources: { requests: { cpu: '1' } } }] } });
  const verbs = {
    label: () => applied.patch(name, () => ({ labels: { k: 'v' } })),
    resize: () => applied.resize(name, () => ({ containers: new Map([['c', { requests: { cpu: '2' } }]]) })),
    apply: async () => (await applied.apply(sized('b'))).done[0]!.action,
    replace: async () => (await applied.apply(sized('c'))).done[0]!.action,
  };
  for (const [verb, call] of Object.entries(verbs))
    for (let round = 0; round < 20; round++) {
      await applied.apply(sized('b'));
      const calls: (() => Promise<unknown>)[] = [call, () => applied.remove(name)];
      const answers = await Promise.all((round % 2 === 0 ? calls : calls.toReversed()).map((one) => one()));
      assert.deepEqual(files().length > 0, answers.includes('created'), `${verb}, ${answers}`);
      await applied.remove(name);
    }
});
