import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Registry, silentLogger } from '@podwright/base';
import { parseImageReference } from '@podwright/kube-api';
import { askPlugin, decodeAnswer } from './credential-plugin.ts';
import { CredentialProviders } from './credential-providers.ts';

const VERSION = 'credentialprovider.kubelet.k8s.io/v1';

const answer = (rest: object) =>
  JSON.stringify({
    kind: 'CredentialProviderResponse',
    apiVersion: VERSION,
    cacheKeyType: 'Image',
    auth: { 'r.test': { username: 'me', password: 'secret' } },
    ...rest,
  });

/** Creates a directory with a credential provider plugin that appends each request to the file `calls`, one per line. */
function setUp(context: TestContext, script: string, matchImages = ['*.test']) {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-providers-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const config = join(directory, 'config.yaml');
  const provider = {
    name: 'helper',
    apiVersion: VERSION,
    matchImages,
    defaultCacheDuration: '10m',
    args: ['first', 'second'],
    env: [{ name: 'GIVEN', value: 'by the file' }],
  };
  const write = (text: string) => {
    writeFileSync(
      join(directory, 'helper'),
      `#!/bin/sh\nread request; echo "$request" >> ${directory}/calls\n${text}\n`,
    );
    chmodSync(join(directory, 'helper'), 0o755);
  };
  write(script);
  const document = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig', providers: [provider] };
  writeFileSync(config, JSON.stringify(document));
  let nowMs = 0;
  const metrics = new Registry();
  const open = () => new CredentialProviders({ config, directory, logger: silentLogger, metrics, now: () => nowMs });
  const providers = open();
  const calls = () =>
    existsSync(join(directory, 'calls')) ? readFileSync(join(directory, 'calls'), 'utf8').trim().split('\n') : [];
  const users = async (image: string) =>
    (await providers.entriesFor(parseImageReference(image)!)).map(({ credential }) => credential.username);
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { directory, config, document, provider, write, calls, users, pass, metrics };
}

test('a provider is run only for matching images, with its arguments, environment and a request', async (context) => {
  const script = `echo "$1 $2 $GIVEN $PATH" > "$(dirname "$0")/saw"; echo '${answer({})}'`;
  const { directory, users, calls, metrics } = setUp(context, script);
  assert.deepEqual(await users('r.test/team/app:1'), ['me']);
  assert.deepEqual(
    calls().map((line) => JSON.parse(line)),
    [{ kind: 'CredentialProviderRequest', apiVersion: VERSION, image: 'r.test/team/app' }],
  );
  assert.match(readFileSync(join(directory, 'saw'), 'utf8'), /^first second by the file \/./);
  assert.deepEqual(await users('r.test:5000/app'), []);
  assert.deepEqual(await users('docker.io/library/app'), []);
  assert.equal(calls().length, 1);
  const text = await metrics.metrics();
  assert.match(text, /kubelet_credential_provider_plugin_duration_count\{plugin_name="helper"\} 1/);
  assert.match(text, /kubelet_credential_provider_config_info\{hash="sha256:[0-9a-f]{64}"\} 1/);
});

test('responses are cached per image, per registry or globally, for their cacheDuration', async (context) => {
  const { write, users, calls, pass } = setUp(context, `echo '${answer({ cacheDuration: '1m' })}'`);
  const newCalls = async (...images: string[]) => {
    const before = calls().length;
    for (const image of images) await users(image);
    return calls().length - before;
  };
  assert.equal(await newCalls('a.test/x', 'a.test/x:2', 'a.test/y'), 2);
  pass(61_000);
  assert.equal(await newCalls('a.test/x'), 1);
  write(`echo '${answer({ cacheKeyType: 'Registry' })}'`);
  assert.equal(await newCalls('b.test/x', 'b.test/y', 'c.test/y'), 2);
  pass(11 * 60_000);
  assert.equal(await newCalls('b.test/x'), 1);
  write(`echo '${answer({ cacheKeyType: 'Global', cacheDuration: '0s' })}'`);
  assert.equal(await newCalls('d.test/x', 'd.test/x'), 2);
  write(`echo '${answer({ cacheKeyType: 'Global' })}'`);
  assert.equal(await newCalls('d.test/x', 'e.test/x', 'f.test/y'), 1);
  pass(11 * 60_000);
  write(`sleep 0.1; echo '${answer({})}'`);
  const before = calls().length;
  await Promise.all([users('g.test/x:1'), users('g.test/x:2')]);
  assert.equal(calls().length - before, 1);
});

test('a failing provider or an invalid response yields no credentials, and errors do not quote the response', async (context) => {
  const { write, users, calls, metrics } = setUp(context, 'exit 3');
  assert.deepEqual(await users('r.test/x'), []);
  write('echo secret');
  assert.deepEqual(await users('r.test/x'), []);
  assert.equal(calls().length, 2);
  assert.match(await metrics.metrics(), /kubelet_credential_provider_plugin_errors_total\{plugin_name="helper"\} 2/);
  const check = (text: string, message: RegExp) =>
    assert.throws(() => decodeAnswer(text, VERSION), { message }, text.slice(0, 100));
  const undecodable = /^error decoding credential provider plugin response from stdout$/;
  check('secret', undecodable);
  check('null', undecodable);
  check(answer({ kind: 'Other' }), undecodable);
  check(answer({ more: 1 }), undecodable);
  check(answer({ auth: [] }), undecodable);
  check(answer({ auth: { r: { username: 1 } } }), undecodable);
  check(answer({ auth: { r: { password: 'x'.repeat(70_000) } } }), undecodable);
  check(answer({ auth: Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`r${at}`, {}])) }), undecodable);
  check(answer({ cacheDuration: 'soon' }), undecodable);
  check(answer({ cacheKeyType: 'Pod' }), /did not return a valid cacheKeyType: Pod$/);
  check(answer({ apiVersion: 'v9' }), /did not match expected apiVersion:.*v1, actual apiVersion:v9$/);
  assert.deepEqual(decodeAnswer(answer({ auth: null, cacheDuration: null }), VERSION), {
    cacheKeyType: 'Image',
    cacheMs: undefined,
    entries: [],
  });
});

test('a provider that floods its stdout or hangs is killed', async (context) => {
  const { directory, write, provider } = setUp(context, 'yes 0123456789');
  const defaults = { ...provider, defaultCacheDuration: 0 };
  await assert.rejects(askPlugin(defaults, { directory, image: 'r.test/x' }), /more than 1048576 bytes of stdout/);
  write('sleep 5 & wait');
  const startedAtMs = performance.now();
  await assert.rejects(askPlugin(defaults, { directory, image: 'r.test/x', timeoutMs: 100 }), {
    code: 'deadline_exceeded',
  });
  assert.ok(performance.now() - startedAtMs < 4000, 'its child process does not delay the error');
});

test('configuration errors name the file, line and field', (context) => {
  const { directory, config, document, provider } = setUp(context, '');
  const refuse = (text: string | object, message: RegExp, path = config) => {
    if (path === config) writeFileSync(config, typeof text === 'string' ? text : JSON.stringify(text, null, 1));
    assert.throws(
      () => new CredentialProviders({ config: path, directory, logger: silentLogger }),
      { code: 'invalid_argument', message },
      JSON.stringify(text).slice(0, 200),
    );
  };
  const withProvider = (rest: object) => ({ ...document, providers: [{ ...provider, ...rest }] });
  refuse('a: [', /config\.yaml:\d+: /);
  refuse('', /must hold one document/);
  refuse({ ...document, kind: 'KubeletConfiguration' }, /config\.yaml:3: kind: /);
  refuse({ ...document, providers: [] }, /it has no providers/);
  refuse({ ...document, providers: [provider, provider] }, /two providers of the name helper/);
  refuse(withProvider({ name: '../helper' }), /providers\[0\]\.name: must be the name of a program/);
  refuse(withProvider({ name: 'missing' }), /there is no program .*\/missing/);
  refuse(withProvider({ matchImages: [] }), /matchImages: must have one pattern/);
  refuse(withProvider({ matchImages: ['https://r.test'] }), /matchImages\[0\]: must be a registry/);
  refuse(withProvider({ defaultCacheDuration: '-1s' }), /must not be negative/);
  refuse(withProvider({ defaultCacheDuration: 5 }), /must be a duration/);
  refuse(withProvider({ apiVersion: 'v1' }), /apiVersion: must be one of/);
  refuse(withProvider({ tokenAttributes: {} }), /tokenAttributes: needs tokens of ServiceAccounts/);
  refuse(withProvider({ extra: 1 }), /extra/);
  refuse('x'.repeat((1 << 20) + 1), /longer than/);
  refuse('', /ENOENT|no such file/, join(directory, 'nowhere'));
});

test('the files in a directory are merged in name order', async (context) => {
  const { directory, document, provider, config } = setUp(context, `echo '${answer({})}'`);
  const files = join(directory, 'conf.d');
  mkdirSync(files);
  writeFileSync(join(files, 'a.json'), readFileSync(config));
  const text = JSON.stringify({ ...document, providers: [{ ...provider, name: 'other' }] });
  writeFileSync(join(files, 'b.yaml'), text);
  writeFileSync(join(files, 'notes.txt'), 'no configuration');
  writeFileSync(
    join(directory, 'other'),
    `#!/bin/sh\necho '${answer({ auth: { 'r.test': { username: 'other' } } })}'\n`,
  );
  chmodSync(join(directory, 'other'), 0o755);
  const providers = new CredentialProviders({ config: files, directory, logger: silentLogger });
  const entries = await providers.entriesFor(parseImageReference('r.test/x')!);
  assert.deepEqual(
    entries.map(({ credential }) => credential.username),
    ['me', 'other'],
  );
});
