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

/** A credential plugin in its own directory, implemented as a shell script. `runs` returns how many times it has run. */
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

const prints = (status: string, apiVersion = V1) =>
  `echo '{"kind":"ExecCredential","apiVersion":"${apiVersion}","status":${status}}'`;

test('a token is used until it expires, or indefinitely', async () => {
  using forGood = new Scripted(prints(`{"token":"t'$n'"}`));
  for (let count = 0; count < 3; count++) assert.equal(await forGood.plugin.header(), 'Bearer t1');
  assert.equal(forGood.runs, 1);
  using short = new Scripted(prints(`{"token":"t'$n'","expirationTimestamp":"1970-01-01T00:0'$n':00Z"}`));
  assert.equal(await short.plugin.header(), 'Bearer t1');
  short.nowMs = 59_000;
  assert.equal(await short.plugin.header(), 'Bearer t1');
  short.nowMs = 60_000;
  assert.equal(await short.plugin.header(), 'Bearer t2');
});

test('rejected credentials are refreshed once, and not by every call', async () => {
  using scripted = new Scripted(prints(`{"token":"t'$n'"}`));
  const first = await scripted.plugin.header();
  assert.deepEqual(await Promise.all([scripted.plugin.refused(first), scripted.plugin.refused(first)]), [true, true]);
  assert.equal(await scripted.plugin.refused(first), true);
  assert.equal(scripted.runs, 2);
  using paused = new Scripted(prints(`{"token":"t'$n'"}`), { pauseMs: 60_000 });
  assert.equal(await paused.plugin.refused(await paused.plugin.header()), false);
  assert.equal(paused.runs, 1);
});

test('a new certificate is reported, so that connections are reopened', async () => {
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

test('a failed plugin is not rerun by every call', async () => {
  using scripted = new Scripted('exit 3', { pauseMs: 60_000 });
  for (let count = 0; count < 3; count++) await assert.rejects(scripted.plugin.credential());
  assert.equal(scripted.runs, 1);
});

test('the output of a plugin is used even if it leaves a process running', async () => {
  using scripted = new Scripted(`sleep 30 & ${prints('{"token":"t"}')}`);
  const startedAt = performance.now();
  assert.equal(await scripted.plugin.header(), 'Bearer t');
  assert.ok(performance.now() - startedAt < 20_000);
});

test('environment variables in the kubeconfig reach the plugin', async () => {
  using scripted = new Scripted(prints(`{"token":"'$GIVEN'"}`));
  assert.equal(await scripted.plugin.header(), 'Bearer given');
});

const BROKEN: [what: string, script: string, error: RegExp][] = [
  [
    'fails',
    'echo hidden; echo "please log in" >&2; exit 3',
    /^credential plugin \/bin\/sh: exit code 3: please log in$/,
  ],
  ['kills itself', 'kill -9 $$', /^credential plugin \/bin\/sh: killed by SIGKILL$/],
  ['writes nothing', 'true', /its output is not an ExecCredential in JSON$/],
  ['writes something else', 'echo hidden', /its output is not an ExecCredential in JSON$/],
  ['returns another kind', `echo '{"kind":"Secret"}'`, /its output is not an ExecCredential in JSON$/],
  [
    'returns another version',
    prints('{"token":"hidden"}', `${V1}beta1`),
    /its output is not in version client\.authentication\.k8s\.io\/v1, which/,
  ],
  ['returns no status', prints('null'), /its output has no status$/],
  ['returns nothing', prints('{}'), /it returned neither a token nor a certificate with its key$/],
  [
    'returns a key without a certificate',
    prints('{"clientKeyData":"hidden"}'),
    /it returned only one of clientCertificateData and clientKeyData$/,
  ],
  [
    'returns an invalid pair',
    prints('{"clientKeyData":"hidden","clientCertificateData":"hidden"}'),
    /clientKeyData: no private key in PEM/,
  ],
  [
    'returns a token with a header injection',
    prints('{"token":"hidden\\\\nx: y"}'),
    /its token has invalid characters$/,
  ],
  ['returns a token that is a number', prints('{"token":5}'), /its status\.token is not a string$/],
  [
    'returns an invalid time',
    prints('{"token":"hidden","expirationTimestamp":"soon"}'),
    /its status\.expirationTimestamp is not a time such as/,
  ],
  ['writes without end', 'yes hidden', /more than 1048576 bytes of stdout$/],
  ['never exits', 'sleep 1000; true', /no answer within 500 ms$/],
];

for (const [what, script, message] of BROKEN) {
  test(`a plugin that ${what}`, async () => {
    using scripted = new Scripted(script, what === 'never exits' ? { timeoutMs: 500 } : {});
    await assert.rejects(scripted.plugin.credential(), (error: Error) => {
      assert.match(error.message, message);
      assert.ok(!error.message.includes('hidden'), error.message);
      return true;
    });
  });
}

test('the error for a missing plugin includes the kubeconfig’s install hint', async () => {
  using scripted = new Scripted('', { config: { command: '/nowhere/aws', installHint: 'Install aws.' } });
  await assert.rejects(scripted.plugin.credential(), {
    code: 'failed_precondition',
    message: 'credential plugin /nowhere/aws: there is no such program; Install aws.',
  });
});
