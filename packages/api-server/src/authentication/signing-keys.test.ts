import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { SigningKeys } from './signing-keys.ts';

const root = mkdtempSync(join(tmpdir(), 'signing-keys-'));
after(() => rmSync(root, { recursive: true }));

const pem = (kind: 'rsa' | 'ed25519', modulusLength = 2048) =>
  (kind === 'rsa' ? generateKeyPairSync('rsa', { modulusLength }) : generateKeyPairSync('ed25519')).privateKey
    .export({ type: 'pkcs8', format: 'pem' })
    .toString();
const ids = (keys: SigningKeys) => keys.all.map(({ id }) => id);

test('the first key is created in a private directory, and loaded again later', async () => {
  const directory = join(root, 'new', 'keys');
  const created = await SigningKeys.open(directory);
  assert.deepEqual(readdirSync(directory), ['1.pem']);
  assert.equal(statSync(directory).mode & 0o777, 0o700);
  assert.equal(statSync(join(directory, '1.pem')).mode & 0o777, 0o600);
  assert.deepEqual(ids(await SigningKeys.open(directory)), ids(created));
});

test('a rotation adds a new signing key and retains older keys', async () => {
  const directory = join(root, 'rotated');
  const keys = await SigningKeys.open(directory);
  const first = keys.current;
  for (let count = 0; count < 10; count++) await keys.rotate();
  assert.equal(keys.all.length, 11);
  assert.equal(keys.all[0]!.id, first.id);
  const opened = await SigningKeys.open(directory);
  assert.deepEqual(ids(opened), ids(keys)); // 10.pem follows 9.pem
  assert.equal(opened.current.id, keys.current.id);
});

test('administrator-provided keys are used, other files are ignored', async () => {
  const directory = join(root, 'given');
  await SigningKeys.open(directory);
  writeFileSync(join(directory, '7.pem'), pem('rsa'));
  writeFileSync(join(directory, 'notes.txt'), 'x');
  writeFileSync(join(directory, '8.pem.0123456789ab.tmp'), 'x');
  const keys = await SigningKeys.open(directory);
  assert.deepEqual(
    keys.all.map(({ algorithm }) => algorithm),
    ['ES256', 'RS256'],
  );
});

test('an unusable key file is named, but its content is not shown', async () => {
  const check = async (content: string, expected: RegExp) => {
    const directory = mkdtempSync(join(root, 'bad-'));
    writeFileSync(join(directory, '3.pem'), content);
    await assert.rejects(SigningKeys.open(directory), (error: Error) => {
      assert.match(error.message, expected);
      assert.match(error.message, /3\.pem/);
      assert.doesNotMatch(`${error.message} ${error.stack} ${error.cause}`, /hidden|MII/);
      return true;
    });
  };
  await check('hidden', /not a private key/);
  await check('', /not a private key/);
  await check(pem('ed25519'), /not an RSA key of at least 2048 bits/);
  await check(pem('rsa', 1024), /not an RSA key of at least 2048 bits/);
  await check('x'.repeat(100_000), /100000 bytes/);
});
