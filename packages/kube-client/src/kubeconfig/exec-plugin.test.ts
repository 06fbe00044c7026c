import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeCertificate } from '../test-server.fixture.ts';
import { ExecPlugin, type ExecPluginOptions } from './exec-plugin.ts';
import type { ExecConfig } from './parse-kubeconfig.ts';

const V1 = 'client.authentication.k8s.io/v1';
const CLUSTER = { server: 'https://h', insecureSkipTlsVerify: false };

/** A plugin that is a shell script, in a directory of its own; `runs` counts. */
class Scripted {
  readonly directory = mkdtempSync(join(tmpdir(), 'exec-plugin-'));
  readonly plugin: ExecPlugin;
  newCertificates = 0;
  nowMs = 0;

  constructor(
    script: string,
    options: Partial<Omit<ExecPluginOptions, 'config'>> & { config?: Partial<ExecConfig> } = {},
  ) {
    const args = ['-c', `echo >> ${this.directory}/runs; n=$(wc -l < ${this.directory}/runs); ${script}`];
    this.plugin = new ExecPlugin({
      cluster: CLUSTER,
      tls: async () => ({}),
      onNewCertificate: () => this.newCertificates++,
      pauseMs: 0,
      now: () => this.nowMs,
      ...options,
      config: {
        command: '/bin/sh',
        args,
        env: [{ name: 'GIVEN', value: 'given' }],
        apiVersion: V1,
        provideClusterInfo: false,
        interactiveMode: 'Never',
        ...options.config,
      },
    });
  }

  get runs(): number {
    return readFileSync(join(this.directory, 'runs'), 'utf8').length;
  }

  write(name: string, text: string): string {
    writeFileSync(join(this.directory, name), text);
    return join(this.directory, name);
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true });
  }
}

const gives = (status: string, apiVersion = V1) =>
  `echo '{"kind":"ExecCredential","apiVersion":"${apiVersion}","status":${status}}'`;

test('a token holds until it expires, or for good', async () => {
  using forGood = new Scripted(gives(`{"token":"t'$n'"}`));
  for (let count = 0; count < 3; count++) assert.equal(await forGood.plugin.header(), 'Bearer t1');
  assert.equal(forGood.runs, 1);
  using short = new Scripted(gives(`{"token":"t'$n'","expirationTimestamp":"1970-01-01T00:0'$n':00Z"}`));
  assert.equal(await short.plugin.header(), 'Bearer t1');
  short.nowMs = 59_000;
  assert.equal(await short.plugin.header(), 'Bearer t1');
  short.nowMs = 60_000;
  assert.equal(await short.plugin.header(), 'Bearer t2');
});

test('what the server refused is asked for again once, and not by everybody', async () => {
  using scripted = new Scripted(gives(`{"token":"t'$n'"}`));
  const first = await scripted.plugin.header();
  assert.deepEqual(await Promise.all([scripted.plugin.refused(first), scripted.plugin.refused(first)]), [true, true]);
  assert.equal(await scripted.plugin.refused(first), true);
  assert.equal(scripted.runs, 2);
  using paused = new Scripted(gives(`{"token":"t'$n'"}`), { pauseMs: 60_000 });
  assert.equal(await paused.plugin.refused(await paused.plugin.header()), false);
  assert.equal(paused.runs, 1);
});

test('another certificate is told, so that connections are made anew', async () => {
  const escaped = (text: string) => text.replaceAll('\n', '\\n');
  const [one, two] = [makeCertificate('one'), makeCertificate('two')];
  using scripted = new Scripted('cat "$DIRECTORY/answer$n"', { config: { env: [] } });
  const scripts = [one, one, two].map(({ certificate, key }, index) =>
    scripted.write(
      `answer${index + 1}`,
      `{"kind":"ExecCredential","apiVersion":"${V1}","status":{"clientCertificateData":"${escaped(certificate)}","clientKeyData":"${escaped(key)}"}}`,
    ),
  );
  process.env.DIRECTORY = scripted.directory;
  assert.equal(scripts.length, 3);
  const changes: number[] = [];
  for (let run = 0; run < 3; run++) {
    if (run > 0) await scripted.plugin.refused(undefined);
    assert.equal(await scripted.plugin.header(), undefined);
    changes.push(scripted.newCertificates);
  }
  delete process.env.DIRECTORY;
  assert.deepEqual(changes, [0, 0, 1]);
  assert.deepEqual((await scripted.plugin.credential()).certificate, two);
});

test('a plugin that fails is not started by every call', async () => {
  using scripted = new Scripted('exit 3', { pauseMs: 60_000 });
  for (let count = 0; count < 3; count++) await assert.rejects(scripted.plugin.credential());
  assert.equal(scripted.runs, 1);
});

test('a plugin that leaves a process behind has answered all the same', async () => {
  using scripted = new Scripted(`sleep 30 & ${gives('{"token":"t"}')}`);
  const startedAt = performance.now();
  assert.equal(await scripted.plugin.header(), 'Bearer t');
  assert.ok(performance.now() - startedAt < 20_000);
});

test('variables of the kubeconfig reach the plugin', async () => {
  using scripted = new Scripted(gives(`{"token":"'$GIVEN'"}`));
  assert.equal(await scripted.plugin.header(), 'Bearer given');
});

const BROKEN: [what: string, script: string, error: RegExp][] = [
  [
    'fails',
    'echo hidden; echo "please log in" >&2; exit 3',
    /^credential plugin \/bin\/sh: exit code 3: please log in$/,
  ],
  ['kills itself', 'kill -9 $$', /^credential plugin \/bin\/sh: killed by SIGKILL$/],
  ['says nothing', 'true', /what it wrote is no ExecCredential in JSON$/],
  ['writes something else', 'echo hidden', /what it wrote is no ExecCredential in JSON$/],
  ['gives another kind', `echo '{"kind":"Secret"}'`, /what it wrote is no ExecCredential in JSON$/],
  [
    'answers in another version',
    gives('{"token":"hidden"}', `${V1}beta1`),
    /it answers in another version than client\.authentication\.k8s\.io\/v1, which/,
  ],
  ['gives no status', gives('null'), /its answer has no status$/],
  ['gives nothing', gives('{}'), /it gave neither a token nor a certificate with its key$/],
  [
    'gives half a pair',
    gives('{"clientKeyData":"hidden"}'),
    /it gave only one of clientCertificateData and clientKeyData$/,
  ],
  [
    'gives no pair',
    gives('{"clientKeyData":"hidden","clientCertificateData":"hidden"}'),
    /clientKeyData: no private key in PEM/,
  ],
  [
    'gives a token that would be a header',
    gives('{"token":"hidden\\\\nx: y"}'),
    /its token has characters that no token has$/,
  ],
  ['gives a token that is a number', gives('{"token":5}'), /its status\.token is no text$/],
  [
    'gives no time',
    gives('{"token":"hidden","expirationTimestamp":"soon"}'),
    /its status\.expirationTimestamp is no time such as/,
  ],
  ['never stops talking', 'yes hidden', /more than 1048576 bytes of stdout$/],
  ['never ends', 'sleep 1000; true', /no answer within 500 ms$/],
];

for (const [what, script, message] of BROKEN) {
  test(`a plugin that ${what}`, async () => {
    using scripted = new Scripted(script, what === 'never ends' ? { timeoutMs: 500 } : {});
    await assert.rejects(scripted.plugin.credential(), (error: Error) => {
      assert.match(error.message, message);
      assert.ok(!error.message.includes('hidden'), error.message);
      return true;
    });
  });
}

test('a plugin that is not installed: what the kubeconfig says of that', async () => {
  using scripted = new Scripted('', { config: { command: '/nowhere/aws', installHint: 'Install aws.' } });
  await assert.rejects(scripted.plugin.credential(), {
    code: 'failed_precondition',
    message: 'credential plugin /nowhere/aws: there is no such program; Install aws.',
  });
});
