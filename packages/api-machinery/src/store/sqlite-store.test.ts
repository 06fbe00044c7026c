import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { objectStoreSuite } from './object-store.suite.ts';
import { openSqliteStore } from './sqlite-store.ts';
import { ExpiredRevision } from './store-errors.ts';
import { configMap, nodeNameOf, pod, podKey } from './test-objects.fixture.ts';

/** A program that opens a store. */
const CHILD = new URL('./crash-child.fixture.ts', import.meta.url).pathname;

const scratch = mkdtempSync(join(tmpdir(), 'podwright-store-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

let files = 0;
const newPath = () => join(scratch, String(files++), 'objects.db');

objectStoreSuite('in a file', (options) => openSqliteStore(newPath(), options));
objectStoreSuite('in a file that survives a power cut', (options) =>
  openSqliteStore(newPath(), { ...options, durability: 'power' }),
);

const LEASE = { resource: 'leases', namespace: 'kube-node-lease', name: 'n' };

suite('a store that was opened again', () => {
  test('has the same objects and revisions, except those of volatile resources', () => {
    const path = newPath();
    const options = { volatile: ['leases'] };
    const first = openSqliteStore(path, options);
    for (const name of ['b', 'a', 'c']) first.create(podKey(name), pod(name));
    first.create({ ...podKey('a'), resource: 'services' }, pod('ä€😀'));
    first.update(podKey('a'), pod('a', 'n'), first.get(podKey('a'))!.revision);
    first.delete(podKey('c'), first.get(podKey('c'))!.revision);
    first.create(LEASE, pod('n'));
    const before = ['pods', 'services'].map((resource) => first.list(resource).objects.map(({ bytes }) => `${bytes}`));
    const { revision } = first;
    first.close();
    const second = openSqliteStore(path, options);
    const found = ['pods', 'services'].map((resource) => second.list(resource).objects.map(({ bytes }) => `${bytes}`));
    assert.deepEqual(found, before);
    assert.equal(nodeNameOf(second.get(podKey('a'))!.decode()), 'n');
    assert.deepEqual(second.list('leases').objects, []);
    assert.ok(second.revision > revision);
    assert.throws(() => second.watch('pods', { from: revision }), ExpiredRevision);
    second.watch('pods', { from: second.revision });
    second.close();
  });

  test('assigns revisions above those of volatile writes, which are not in the file', () => {
    const path = newPath();
    const options = { volatile: ['leases'] };
    const first = openSqliteStore(path, options);
    const lease = first.create(LEASE, pod('n'));
    const content = () => [path, `${path}-wal`].map((file) => readFileSync(file).toString('base64'));
    const before = content();
    let { revision } = lease;
    for (let index = 0; index < 1_000; index++) revision = first.update(LEASE, pod('n'), revision).revision;
    assert.deepEqual(content(), before);
    first.close();
    const second = openSqliteStore(path, options);
    assert.ok(second.revision > revision);
    second.close();
  });

  test('reserves more revisions before a range is used up', () => {
    const path = newPath();
    const first = openSqliteStore(path, { volatile: ['leases'], history: { maxEvents: 1, maxBytes: 1 } });
    let { revision } = first.create(LEASE, pod('n'));
    for (let index = 0; index < 100_010; index++) revision = first.update(LEASE, pod('n'), revision).revision;
    first.close();
    const second = openSqliteStore(path);
    assert.ok(second.revision > revision, `${second.revision} has been given`);
    second.close();
  });
});

suite('the file of a store', () => {
  let path: string;
  before(() => {
    path = newPath();
  });

  test('and its directory are accessible to root only', () => {
    const store = openSqliteStore(path);
    store.create(podKey('a'), configMap('a', 'secret'));
    const modes = [join(path, '..'), path, `${path}-wal`].map((file) => statSync(file).mode & 0o777);
    assert.deepEqual(modes, [0o700, 0o600, 0o600]);
    store.close();
  });

  test('cannot be opened by another process', () => {
    const store = openSqliteStore(path);
    const { stderr } = spawnSync(process.execPath, [CHILD, path], { encoding: 'utf8' });
    assert.match(stderr, /another process has opened the file/);
    assert.match(stderr, /code: 'failed_precondition'/);
    assert.ok(stderr.includes(path));
    store.create(podKey('b'), pod('b'));
    store.close();
  });
});
