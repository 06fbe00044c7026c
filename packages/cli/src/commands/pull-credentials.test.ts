import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readCredentials } from './pull-credentials.ts';

const directory = mkdtempSync('/tmp/pull-credentials-');
after(() => rmSync(directory, { recursive: true }));

test('--creds consists of a name and a password, which may contain colons', () => {
  const { username, password } = readCredentials({ creds: 'me:a:b' })('r.test/app')!;
  assert.deepEqual([username, password], ['me', 'a:b']);
  assert.equal(readCredentials({})('r.test/app'), undefined);
});

test('--creds applies to the image’s registry, not to its mirrors', () => {
  const credentials = readCredentials({ creds: 'me:a' });
  assert.equal(credentials('r.test:5000/app')?.serverAddress, 'r.test:5000');
  assert.equal(credentials('app')?.serverAddress, 'docker.io');
});

test('the password can be passed on stdin to keep it out of the process list', () => {
  const script = `const { readCredentials } = await import(${JSON.stringify(new URL('./pull-credentials.ts', import.meta.url))});
    console.log(JSON.stringify(readCredentials({ creds: 'me' })('r.test/app')))`;
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    input: 's3cret word\n',
    encoding: 'utf8',
  });
  const { username, password } = JSON.parse(out);
  assert.deepEqual([username, password], ['me', 's3cret word']);
});

test('a Docker configuration has a credential for each registry', () => {
  const file = join(directory, 'config.json');
  writeFileSync(
    file,
    JSON.stringify({ auths: { 'r.test': { auth: btoa('me:s3cret') }, 'https://other.test/v1/': {} } }),
  );
  const credentials = readCredentials({ authfile: file });
  assert.equal(credentials('r.test/app:1')?.password, 's3cret');
  assert.equal(credentials('else.test/app:1'), undefined);
});

test('conflicting options and missing files are refused', () => {
  assert.throws(() => readCredentials({ creds: 'a:b', authfile: 'x' }), { code: 'invalid_argument' });
  assert.throws(() => readCredentials({ authfile: join(directory, 'none') }), /read the docker configuration .*none/);
});
