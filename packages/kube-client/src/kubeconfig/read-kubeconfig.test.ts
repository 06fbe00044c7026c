import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger, sleep } from '@podwright/base';
import { stringify } from 'yaml';
import { isApiStatus } from '../api-status-error.ts';
import { createKubeClient } from '../client/create-kube-client.ts';
import { NODES } from '../resources.ts';
import { answer, makeCertificate, TestServer, until } from '../test-server.fixture.ts';
import { readKubeconfig } from './read-kubeconfig.ts';

const NODE = { name: 'n' };

/** A temporary directory that contains a kubeconfig and the files it refers to. */
class Files {
  readonly directory = mkdtempSync(join(tmpdir(), 'kubeconfig-'));

  write(name: string, text: string | object): string {
    writeFileSync(join(this.directory, name), typeof text === 'string' ? text : stringify(text), { mode: 0o600 });
    return join(this.directory, name);
  }

  program(name: string, script: string): string {
    const path = this.write(name, `#!/bin/sh\n${script}`);
    execFileSync('chmod', ['+x', path]);
    return path;
  }

  /** Writes a kubeconfig with one context, and returns its path. */
  kubeconfig(cluster: object, user: object): string {
    return this.write('kubeconfig', {
      'current-context': 'x',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true });
  }
}

/** Starts a server that requests a client certificate, and responds to each GET with the credentials that it received. */
function startServer(handle?: TestServer['handle']) {
  const options = { requestCert: true, rejectUnauthorized: false };
  const show: TestServer['handle'] = ({ headers }, response) =>
    answer(response, 200, { metadata: { name: 'n', labels: { shown: headers.authorization } } });
  return TestServer.start('h2', handle ?? show, options);
}

const inBase64 = (text: string) => Buffer.from(text).toString('base64');

const credential = (status: object, apiVersion = 'client.authentication.k8s.io/v1') =>
  JSON.stringify({ kind: 'ExecCredential', apiVersion, status });

function plugin(command: string, rest: object = {}) {
  return { command, apiVersion: 'client.authentication.k8s.io/v1', interactiveMode: 'Never', ...rest };
}

test('a token, inline CA data and a server name are used', async () => {
  using files = new Files();
  await using server = await startServer();
  const ca = inBase64(server.certificate!.certificate);
  const cluster = { server: server.url, 'certificate-authority-data': ca, 'tls-server-name': 'kubernetes' };
  const client = createKubeClient(await readKubeconfig(files.kubeconfig(cluster, { token: 'secret' })));
  const { metadata } = await client.get(NODES, NODE);
  assert.equal(metadata.labels!.shown, 'Bearer secret');
  client.close();
});

test('a server name missing from the certificate is rejected', async () => {
  using files = new Files();
  await using server = await startServer();
  const ca = files.write('ca.crt', server.certificate!.certificate);
  const cluster = { server: server.url, 'certificate-authority': ca, 'tls-server-name': 'elsewhere' };
  const client = createKubeClient(await readKubeconfig(files.kubeconfig(cluster, {})));
  await assert.rejects(client.get(NODES, NODE), { code: 'unavailable', message: /elsewhere/ });
  client.close();
});

test('an untrusted server is rejected, unless verification is disabled', async () => {
  using files = new Files();
  await using server = await startServer();
  const refused = createKubeClient(await readKubeconfig(files.kubeconfig({ server: server.url }, {})));
  await assert.rejects(refused.get(NODES, NODE), {
    code: 'unavailable',
    message: /signed by an authority that is not trusted here/,
  });
  const cluster = { server: server.url, 'insecure-skip-tls-verify': true };
  const client = createKubeClient(await readKubeconfig(files.kubeconfig(cluster, {})));
  assert.equal((await client.get(NODES, NODE)).metadata.name, 'n');
  refused.close();
  client.close();
});

test('user name and password are sent', async () => {
  using files = new Files();
  await using server = await startServer();
  const cluster = { server: server.url, 'insecure-skip-tls-verify': true };
  const path = files.kubeconfig(cluster, { username: 'a', password: 'b' });
  const client = createKubeClient(await readKubeconfig(path));
  assert.equal((await client.get(NODES, NODE)).metadata.labels!.shown, `Basic ${inBase64('a:b')}`);
  client.close();
});

test('a client certificate and key in one file are replaced while in use, and the client reconnects', async () => {
  using files = new Files();
  await using server = await startServer();
  const subjects: string[] = [];
  server.server.on('secureConnection', (socket) => subjects.push(socket.getPeerCertificate().subject?.CN));
  const first = makeCertificate('first');
  const pem = files.write('node.pem', first.certificate + first.key);
  const cluster = { server: server.url, 'insecure-skip-tls-verify': true };
  const path = files.kubeconfig(cluster, { 'client-certificate': 'node.pem', 'client-key': pem });
  const client = createKubeClient(await readKubeconfig(path, { rereadMs: 20 }));
  await client.get(NODES, NODE);
  const second = makeCertificate('second');
  writeFileSync(pem, 'half-written');
  writeFileSync(pem, second.certificate + second.key);
  await until(async () => {
    await client.get(NODES, NODE);
    return subjects.length === 2;
  });
  assert.deepEqual(subjects, ['first', 'second']);
  client.close();
});

test('certificates and tokens in a rewritten kubeconfig are used, even after an invalid version', async () => {
  using files = new Files();
  const shown: unknown[] = [];
  await using server = await startServer(({ headers }, response) => {
    shown.push(headers.authorization);
    answer(response, 200, { metadata: { name: 'n' } });
  });
  const subjects: string[] = [];
  server.server.on('secureConnection', (socket) => subjects.push(String(socket.getPeerCertificate().subject?.CN)));
  const write = (name: string, authority: string) => {
    const { certificate, key } = makeCertificate(name);
    const data = { 'client-certificate-data': inBase64(certificate), 'client-key-data': inBase64(key) };
    const cluster = {
      server: server.url,
      'certificate-authority-data': inBase64(authority),
      'tls-server-name': 'kubernetes',
    };
    return files.kubeconfig(cluster, { ...data, token: `of-${name}` });
  };
  const own = server.certificate!.certificate;
  const client = createKubeClient(await readKubeconfig(write('first', own), { rereadMs: 20 }));
  const untilShown = (expected: string) =>
    until(async () => {
      await client.get(NODES, NODE);
      return `${subjects.at(-1)} ${shown.at(-1)}` === expected;
    });
  await untilShown('first Bearer of-first');
  files.write('kubeconfig', 'users: [');
  await sleep(60);
  await untilShown('first Bearer of-first');
  write('second', own);
  await untilShown('second Bearer of-second');
  write('third', makeCertificate('another authority').certificate);
  await until(() =>
    client.get(NODES, NODE).then(
      () => false,
      (error) => /authority/.test(error.message),
    ),
  );
  write('fourth', own);
  await until(() =>
    client.get(NODES, NODE).then(
      () => true,
      () => false,
    ),
  );
  await untilShown('fourth Bearer of-fourth');
  client.close();
});

test('changes that require a restart are logged by field, without values', async () => {
  using files = new Files();
  const logged: unknown[] = [];
  const log = {
    ...silentLogger,
    warn: (fields: object) => void logged.push((fields as { changed?: unknown }).changed),
  };
  const path = files.kubeconfig({ server: 'https://a' }, { tokenFile: files.write('one', 'x') });
  using _ = (await readKubeconfig(path, { log, rereadMs: 10 })).follow(() => undefined);
  files.kubeconfig({ server: 'https://b' }, { exec: plugin('true') });
  await until(() => logged.length > 0);
  await sleep(50);
  assert.deepEqual(logged, [['server', 'tokenFile', 'exec']]);
});

test('a kubeconfig that has become invalid is reported once', async () => {
  using files = new Files();
  let warnings = 0;
  const log = { ...silentLogger, warn: () => void warnings++ };
  const path = files.kubeconfig({ server: 'https://a' }, { token: 'x' });
  using _ = (await readKubeconfig(path, { log, rereadMs: 5 })).follow(() => undefined);
  files.write('kubeconfig', 'users: [');
  await until(() => warnings > 0);
  await sleep(50);
  assert.equal(warnings, 1);
});

test('a token file is read again when the server rejects the token', async () => {
  using files = new Files();
  let wanted = 'one';
  await using server = await startServer(({ headers }, response) =>
    headers.authorization === `Bearer ${wanted}`
      ? answer(response, 200, { metadata: { name: 'n' } })
      : answer(response, 401, { kind: 'Status', code: 401, reason: 'Unauthorized', message: 'Unauthorized' }),
  );
  const token = files.write('token', 'one\n');
  const cluster = { server: server.url, 'insecure-skip-tls-verify': true };
  const client = createKubeClient(await readKubeconfig(files.kubeconfig(cluster, { tokenFile: 'token', token: 'x' })));
  await client.get(NODES, NODE);
  wanted = 'two';
  await assert.rejects(client.get(NODES, NODE), (error) => isApiStatus(error, 401));
  writeFileSync(token, 'two');
  await client.get(NODES, NODE);
  rmSync(token);
  await client.get(NODES, NODE);
  client.close();
});

test('a plugin receives the cluster and returns a token, and runs once for all calls', async () => {
  using files = new Files();
  await using server = await startServer(({ headers }, response) =>
    headers.authorization === 'Bearer token-1'
      ? answer(response, 200, { metadata: { name: 'n' } })
      : answer(response, 401, 'no'),
  );
  const runs = join(files.directory, 'runs');
  const script = [
    `echo "$KUBERNETES_EXEC_INFO" >> ${runs}`,
    `n=$(wc -l < ${runs})`,
    `printf '${credential({ token: "token-'$n'" })}'`,
  ].join('\n');
  files.program('get-token', script);
  const extension = { name: 'client.authentication.k8s.io/exec', extension: { audience: 'x' } };
  const cluster = { server: server.url, 'insecure-skip-tls-verify': true, extensions: [extension] };
  const exec = plugin('./get-token', { provideClusterInfo: true });
  const client = createKubeClient(await readKubeconfig(files.kubeconfig(cluster, { exec })));
  await Promise.all([client.get(NODES, NODE), client.get(NODES, NODE)]);
  const logged = readFileSync(runs, 'utf8').trim().split('\n');
  assert.deepEqual(
    logged.map((line) => JSON.parse(line)),
    [
      {
        kind: 'ExecCredential',
        apiVersion: 'client.authentication.k8s.io/v1',
        spec: {
          interactive: false,
          cluster: { server: server.url, 'insecure-skip-tls-verify': true, config: { audience: 'x' } },
        },
      },
    ],
  );
  client.close();
});

const BROKEN: [what: string, write: (files: Files) => [cluster: object, user: object], error: RegExp][] = [
  [
    'an authority that does not exist',
    () => [{ 'certificate-authority': 'ca' }, {}],
    /kubeconfig: clusters\["c"\]\.cluster\.certificate-authority: open .*\/ca: no such file or directory$/,
  ],
  [
    'an authority that is a directory',
    () => [{ 'certificate-authority': '.' }, {}],
    /certificate-authority: read: it is a directory|certificate-authority: .*directory$/,
  ],
  [
    'an invalid authority',
    () => [{ 'certificate-authority-data': inBase64('x') }, {}],
    /certificate-authority-data: it has no PEM certificate$/,
  ],
  [
    'a truncated authority',
    (files) => [
      { 'certificate-authority': files.write('ca', makeCertificate().certificate.replace('MII', 'MIII')) },
      {},
    ],
    /certificate-authority: certificate 1 of 1: /,
  ],
  [
    'a key that does not exist',
    (files) => [{}, { 'client-certificate': files.write('c', makeCertificate().certificate), 'client-key': 'k' }],
    /users\["u"\]\.user\.client-key: open .*\/k: no such file/,
  ],
  [
    'an invalid key',
    (files) => [
      {},
      { 'client-certificate': files.write('c', makeCertificate().certificate), 'client-key-data': inBase64('k') },
    ],
    /client-key-data: no private key in PEM: /,
  ],
  [
    'the key of another certificate',
    (files) => [
      {},
      {
        'client-certificate': files.write('c', makeCertificate().certificate),
        'client-key-data': inBase64(makeCertificate().key),
      },
    ],
    /client-key-data: it is the key of another certificate$/,
  ],
  [
    'a token file that does not exist',
    () => [{}, { tokenFile: 't' }],
    /kubeconfig: users\["u"\]\.user\.tokenFile: open .*\/t: no such file or directory$/,
  ],
  [
    'a token file that is empty',
    (files) => [{}, { tokenFile: files.write('t', '\n') }],
    /kubeconfig: users\["u"\]\.user\.tokenFile: .*\/t has no token, or more than one$/,
  ],
  [
    'a token file that is endless',
    () => [{}, { tokenFile: '/dev/zero' }],
    /kubeconfig: users\["u"\]\.user\.tokenFile: \/dev\/zero has more than 1048576 bytes$/,
  ],
];

for (const [what, write, message] of BROKEN) {
  test(`a kubeconfig with ${what} is rejected when it is read`, async () => {
    using files = new Files();
    const [cluster, user] = write(files);
    const path = files.kubeconfig({ server: 'https://127.0.0.1:1', ...cluster }, user);
    await assert.rejects(readKubeconfig(path), { code: 'invalid_argument', message });
  });
}

test('a nonexistent kubeconfig is an error', async () => {
  await assert.rejects(readKubeconfig('/nowhere/kubeconfig'), {
    code: 'invalid_argument',
    message: 'kubeconfig: open /nowhere/kubeconfig: no such file or directory',
  });
});
