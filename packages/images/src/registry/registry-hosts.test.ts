import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { errorCode } from '@podwright/base';
import { defaultHost } from './registry-host.ts';
import { loadRegistryHosts } from './registry-hosts.ts';

async function directory(t: TestContext, files: Record<string, string>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'registry-hosts-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}

const summary = async (configDir: string, domain: string): Promise<string[]> =>
  (await loadRegistryHosts(configDir, domain)).map(
    ({ baseUrl, capabilities, namespace }) => `${baseUrl} ${capabilities}${namespace === '' ? '' : ` ns=${namespace}`}`,
  );

function checkDefault(domain: string, baseUrl: string, { plain = false, skipVerify = false } = {}): void {
  const host = defaultHost(domain);
  assert.deepEqual([host.baseUrl, host.fallsBackToHttp, host.tls.skipVerify], [baseUrl, plain, skipVerify], domain);
}

test('without configuration, a registry is used over HTTPS, and a loopback one also over HTTP', () => {
  checkDefault('docker.io', 'https://registry-1.docker.io/v2');
  checkDefault('quay.io:8443', 'https://quay.io:8443/v2');
  checkDefault('localhost', 'https://localhost/v2', { skipVerify: true });
  checkDefault('localhost:443', 'https://localhost:443/v2', { skipVerify: true });
  checkDefault('localhost:80', 'http://localhost:80/v2');
  checkDefault('localhost:5000', 'https://localhost:5000/v2', { plain: true, skipVerify: true });
  checkDefault('127.0.0.2:5000', 'https://127.0.0.2:5000/v2', { plain: true, skipVerify: true });
  checkDefault('[::1]:5000', 'https://[::1]:5000/v2', { plain: true, skipVerify: true });
  checkDefault('localhost.example:5000', 'https://localhost.example:5000/v2');
});

test('mirrors are tried in file order, then the server', async (t) => {
  const root = await directory(t, {
    'docker.io/hosts.toml': `
server = "https://registry-1.docker.io"
[host."https://mirror.example:5000"]
  capabilities = ["pull"]
[host."http://cache.example/proxy"]
[host."https://whole.example/path/"]
  override_path = true
[host."bare.example"]
`,
  });
  assert.deepEqual(await summary(root, 'docker.io'), [
    'https://mirror.example:5000/v2 pull ns=docker.io',
    'http://cache.example/proxy/v2 pull,resolve,push ns=docker.io',
    'https://whole.example/path pull,resolve,push ns=docker.io',
    'https://bare.example/v2 pull,resolve,push ns=docker.io',
    'https://registry-1.docker.io/v2 pull,resolve,push',
  ]);
});

test('the directory for the host and port takes precedence over _default', async (t) => {
  const root = await directory(t, {
    '_default/hosts.toml': '[host."https://all.example"]',
    'a.example_5000_/hosts.toml': 'server = "https://one.example"',
    'b.example:5000/hosts.toml': 'server = "https://two.example/v2"',
  });
  assert.deepEqual(await summary(root, 'a.example:5000'), [
    'https://one.example/v2 pull,resolve,push ns=a.example:5000',
  ]);
  assert.deepEqual(await summary(root, 'b.example:5000'), [
    'https://two.example/v2 pull,resolve,push ns=b.example:5000',
  ]);
  assert.deepEqual(await summary(root, 'c.example'), [
    'https://all.example/v2 pull,resolve,push ns=c.example',
    'https://c.example/v2 pull,resolve,push',
  ]);
  assert.deepEqual(await summary(join(root, 'missing'), 'c.example'), ['https://c.example/v2 pull,resolve,push']);
});

test('certificates, headers and skip_verify are read per host', async (t) => {
  const root = await directory(t, {
    'a.example/hosts.toml': `
ca = "ca.pem"
[host."https://m.example"]
  ca = ["ca.pem", "CA2"]
  client = [["cert.pem", "key.pem"], "both.pem"]
  skip_verify = true
  [host."https://m.example".header]
    x-one = "1"
    x-many = ["2", "3"]
`.replace('CA2', 'sub/ca2.pem'),
    'a.example/ca.pem': 'CA',
    'a.example/sub/ca2.pem': 'CA2',
    'a.example/cert.pem': 'CERT',
    'a.example/key.pem': 'KEY',
    'a.example/both.pem': 'BOTH',
  });
  const [mirror, itself] = await loadRegistryHosts(root, 'a.example');
  assert.deepEqual(mirror?.tls, {
    ca: ['CA', 'CA2'],
    clientCertificates: [
      { certificate: 'CERT', key: 'KEY' },
      { certificate: 'BOTH', key: 'BOTH' },
    ],
    skipVerify: true,
  });
  assert.deepEqual(mirror?.headers, { 'x-one': ['1'], 'x-many': ['2', '3'] });
  assert.deepEqual(itself?.tls, { ca: ['CA'], clientCertificates: [], skipVerify: false });
});

test('a directory with no hosts.toml, or an empty one, is read like Docker’s certs.d', async (t) => {
  const files = { 'x.crt': 'CA', 'me.cert': 'CERT', 'me.key': 'KEY', 'one.cert': 'BOTH' };
  const inDirectory = (name: string) =>
    Object.fromEntries(Object.entries(files).map(([file, text]) => [`${name}/${file}`, text]));
  const root = await directory(t, {
    ...inDirectory('a.example'),
    ...inDirectory('b.example'),
    'b.example/hosts.toml': '',
  });
  for (const domain of ['a.example', 'b.example']) {
    const [host] = await loadRegistryHosts(root, domain);
    assert.deepEqual(host?.tls, {
      ca: ['CA'],
      clientCertificates: [
        { certificate: 'CERT', key: 'KEY' },
        { certificate: 'BOTH', key: 'BOTH' },
      ],
      skipVerify: false,
    });
  }
});

test('an HTTP mirror with TLS settings is tried over HTTPS first, unless it has the default port', async (t) => {
  const root = await directory(t, {
    'a.example/hosts.toml': `
[host."http://m.example:5000"]
  skip_verify = true
[host."http://plain.example:5000"]
[host."http://m.example"]
  skip_verify = true
`,
  });
  const hosts = await loadRegistryHosts(root, 'a.example');
  assert.deepEqual(
    hosts.slice(0, 3).map(({ baseUrl, fallsBackToHttp }) => [baseUrl, fallsBackToHttp]),
    [
      ['https://m.example:5000/v2', true],
      ['http://plain.example:5000/v2', false],
      ['http://m.example/v2', false],
    ],
  );
});

test('capabilities are case-insensitive, and a dial timeout is a Go duration', async (t) => {
  const root = await directory(t, {
    'a.example/hosts.toml': 'dial_timeout = "1m1.5s"\ncapabilities = ["Pull", "RESOLVE"]',
  });
  const [host] = await loadRegistryHosts(root, 'a.example');
  assert.deepEqual([host?.dialTimeoutMs, host?.capabilities], [61_500, ['pull', 'resolve']]);
});

test('errors in a hosts.toml name the file', async (t) => {
  const wrong = async (text: string, message: RegExp) => {
    const root = await directory(t, { 'a.example/hosts.toml': text });
    await assert.rejects(
      loadRegistryHosts(root, 'a.example'),
      (error: unknown) => errorCode(error) === 'failed_precondition' && message.test((error as Error).message),
    );
  };
  await wrong('server = ', /a\.example\/hosts\.toml: /);
  await wrong('[host."https://m"]\ncapabilities = ["fly"]', /host\.https:\/\/m\.capabilities\.0/);
  await wrong('dial_timeout = "soon"', /dial_timeout "soon" is not a duration such as "5s"/);
  await wrong('client = [["a", "b", "c"]]', /client/);
  await wrong('[host."ftp://m"]', /"ftp:\/\/m" is not a registry's URL/);
  await wrong('ca = "missing.pem"', /read a certificate of registry a\.example: .*no such file or directory/);
});
