import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '@podwright/metadata';
import { chainIds, sha256Digest } from '../content/digest.ts';
import { ImageRecords, type NewImage } from './image-records.ts';

function open() {
  const database = openDatabase(':memory:');
  return { database, records: new ImageRecords(database, 'this boot') };
}

function imageOf(name: string): NewImage {
  const diffIds = [sha256Digest(`${name} base`), sha256Digest(`${name} top`)];
  return {
    id: sha256Digest(name),
    manifestDigest: sha256Digest(`${name} manifest`),
    config: {
      architecture: 'amd64',
      os: 'linux',
      config: { Env: ['A=b'] },
      rootfs: { type: 'layers', diff_ids: diffIds },
    },
    chain: chainIds(diffIds),
    content: [sha256Digest(`${name} layer`)],
    sizeBytes: 7,
    tags: [`docker.io/library/${name}:1`],
    digests: [],
    isLoaded: false,
  };
}

test('a recorded image is found by its ID, unchanged', () => {
  const { records } = open();
  const { content: _content, tags, digests, ...image } = imageOf('app');
  records.putAll([imageOf('other'), imageOf('app')]);
  assert.deepEqual(records.get(image.id), {
    ...image,
    repoTags: tags,
    repoDigests: digests,
    chainId: image.chain[1],
    unsyncedBoot: 'this boot',
  });
  assert.equal(records.get('sha256:'), undefined);
  assert.equal(records.get(image.id), records.list()[1], 'a look-up returns the cached record');
});

const loadChecks: [string, { puts: Partial<NewImage>[]; removed?: string[] }, boolean][] = [
  ['pulled', { puts: [{}] }, false],
  ['loaded', { puts: [{ isLoaded: true }] }, true],
  ['loaded by a digest', { puts: [{ isLoaded: true, tags: [], digests: ['r.test/app@sha256:1'] }] }, true],
  ['loaded without a name', { puts: [{ isLoaded: true, tags: [] }] }, false],
  ['loaded after a pull of the same name', { puts: [{}, { isLoaded: true }] }, true],
  ['pulled by the same name after a load', { puts: [{ isLoaded: true }, {}] }, false],
  ['pulled by another name after a load', { puts: [{ isLoaded: true }, { tags: ['r.test/app:1'] }] }, true],
  [
    'loaded, and replaced by another image with the same tag',
    {
      puts: [
        { isLoaded: true, digests: ['r.test/app@sha256:1'] },
        { ...imageOf('other'), tags: imageOf('app').tags },
      ],
    },
    false,
  ],
  ['loaded and untagged', { puts: [{ isLoaded: true }], removed: imageOf('app').tags }, false],
];
for (const [what, { puts, removed = [] }, isLoaded] of loadChecks) {
  test(`an image that was ${what} ${isLoaded ? 'counts' : 'does not count'} as loaded`, () => {
    const { database, records } = open();
    for (const given of puts) records.put({ ...imageOf('app'), ...given });
    records.removeNames(removed);
    assert.equal(new ImageRecords(database, 'this boot').get(imageOf('app').id)?.isLoaded, isLoaded);
  });
}

test('images from before loads were recorded count as pulled', () => {
  const { database, records } = open();
  records.put({ ...imageOf('app'), isLoaded: true });
  database.exec("DROP TABLE loaded_image_names; DELETE FROM schema_versions WHERE name = 'loaded images'");
  assert.deepEqual(
    new ImageRecords(database, 'this boot').list().map(({ isLoaded, repoTags }) => ({ isLoaded, repoTags })),
    [{ isLoaded: false, repoTags: imageOf('app').tags }],
  );
});

test('a loaded name that an earlier version moved to a pulled image does not count as loaded', () => {
  const { database, records } = open();
  records.putAll([{ ...imageOf('app'), isLoaded: true }, imageOf('other')]);
  database
    .prepare('UPDATE image_names SET image_id = ? WHERE name = ?')
    .run(imageOf('other').id, imageOf('app').tags[0]!);
  assert.deepEqual(
    new ImageRecords(database, 'this boot').list().map(({ isLoaded }) => isLoaded),
    [false, false],
  );
});

test('records without a version, as written by older releases, are read', () => {
  const { database, records } = open();
  records.put(imageOf('app'));
  const before = records.list();
  database.exec("UPDATE images SET config = json_remove(config, '$.recordVersion')");
  assert.deepEqual(new ImageRecords(database, 'this boot').list(), before);
});

const damages: [string, string][] = [
  ['config that is not JSON', "config = '{'"],
  ['config of the wrong shape', `config = '{"rootfs": 1}'`],
  ['chain that does not match the diff ids', `chain = '["sha256:${'0'.repeat(64)}"]'`],
  ['chain that is not a list', "chain = '7'"],
  ['manifest digest that is not a digest', "manifest_digest = '../../etc/passwd'"],
  ['size below zero', 'size_bytes = -1'],
];
for (const [what, damage] of damages) {
  test(`a record with a ${what} is reported as damaged by name, and no longer holds content once it is removed`, () => {
    const { database, records } = open();
    records.putAll([imageOf('sound'), imageOf('app')]);
    const { id, content } = imageOf('app');
    database.exec(`UPDATE images SET ${damage} WHERE id = '${id}'`);
    const again = new ImageRecords(database, 'this boot');
    assert.deepEqual(
      again.list().map((image) => image.id),
      [imageOf('sound').id],
    );
    assert.equal(again.get(id), undefined);
    const [damaged, ...others] = again.damaged();
    assert.deepEqual(others, []);
    assert.equal(damaged?.id, id);
    assert.deepEqual(damaged?.names, ['docker.io/library/app:1']);
    assert.notEqual(damaged?.reason, '');
    assert.ok(again.needs(content[0]!));
    again.remove(id);
    assert.deepEqual(again.damaged(), []);
    assert.ok(!again.needs(content[0]!));
  });
}

test('recording an image again repairs its corrupt record', () => {
  const { database, records } = open();
  database.exec(`INSERT INTO images VALUES ('${imageOf('app').id}', 'x', '{', '[]', 1, '')`);
  assert.equal(records.damaged().length, 1);
  records.put(imageOf('app'));
  assert.deepEqual(records.damaged(), []);
  assert.deepEqual(records.get(imageOf('app').id)?.chain, imageOf('app').chain);
});

test('records with a newer version are rejected and left unchanged', () => {
  const { database, records } = open();
  records.put(imageOf('app'));
  database.exec("UPDATE images SET config = json_set(config, '$.recordVersion', 2)");
  const again = new ImageRecords(database, 'this boot');
  assert.throws(() => again.list(), { code: 'failed_precondition', message: /library\/app:1.* version 2.* up to 1/ });
  assert.equal((database.prepare('SELECT count(*) AS n FROM images').get() as { n: number }).n, 1);
});
