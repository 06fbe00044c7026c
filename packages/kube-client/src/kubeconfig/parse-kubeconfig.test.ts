import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { parseKubeconfig } from './parse-kubeconfig.ts';

type Parts = { cluster?: object; user?: object; context?: object; root?: object };

function kubeconfig({ cluster, user, context, root }: Parts = {}): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'home',
    clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443', ...cluster } }],
    users: [{ name: 'u', user: { ...user } }],
    contexts: [{ name: 'home', context: { cluster: 'c', user: 'u', ...context } }],
    ...root,
  });
}

const EXEC = { command: 'get-token', apiVersion: 'client.authentication.k8s.io/v1', interactiveMode: 'Never' };

test('the fields of a kubeconfig are parsed', () => {
  const text = kubeconfig({
    cluster: {
      'certificate-authority': 'pki/ca.crt',
      'tls-server-name': 'kubernetes',
      extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'x' } }],
    },
    user: {
      'client-certificate': '/pki/node.crt',
      'client-key-data': Buffer.from('key').toString('base64'),
      tokenFile: 'token',
      exec: { ...EXEC, command: './bin/get-token', env: [{ name: 'A', value: 'b' }], args: ['--now'] },
    },
    context: { namespace: 'shop' },
  });
  const { context, namespace, cluster, user } = parseKubeconfig(text, '/etc/node/kubeconfig');
  assert.deepEqual([context, namespace, cluster.server], ['home', 'shop', 'https://10.0.0.1:6443']);
  assert.deepEqual(cluster.ca, {
    field: '/etc/node/kubeconfig: clusters["c"].cluster.certificate-authority: ',
    path: '/etc/node/pki/ca.crt',
  });
  assert.deepEqual([cluster.serverName, cluster.execConfig], ['kubernetes', { audience: 'x' }]);
  assert.deepEqual(user.key, {
    field: '/etc/node/kubeconfig: users["u"].user.client-key-data: ',
    data: Buffer.from('key'),
  });
  assert.deepEqual(user.tokenFile, {
    field: '/etc/node/kubeconfig: users["u"].user.tokenFile: ',
    path: '/etc/node/token',
  });
  assert.deepEqual(user.exec, {
    ...EXEC,
    command: '/etc/node/bin/get-token',
    args: ['--now'],
    env: [{ name: 'A', value: 'b' }],
    installHint: undefined,
    provideClusterInfo: false,
  });
});

test('a program in PATH remains a bare name, and interactiveMode is optional in v1beta1', () => {
  const exec = { command: 'aws', apiVersion: 'client.authentication.k8s.io/v1beta1' };
  const { user } = parseKubeconfig(kubeconfig({ user: { exec } }), '/k');
  assert.deepEqual([user.exec!.command, user.exec!.interactiveMode], ['aws', 'IfAvailable']);
});

test('JSON, a missing kind and unknown fields are accepted', () => {
  const text = JSON.stringify({
    preferences: { colors: true },
    'current-context': 'x',
    clusters: [{ name: 'c', cluster: { server: 'http://localhost:8080', new: 1 } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  });
  assert.equal(parseKubeconfig(text, '/k').namespace, 'default');
});

test('a context other than the current one can be selected', () => {
  const contexts = [{ name: 'other', context: { cluster: 'c', user: 'u', namespace: 'n' } }];
  assert.equal(parseKubeconfig(kubeconfig({ root: { contexts } }), '/k', 'other').namespace, 'n');
});

const BROKEN: [what: string, text: string, error: RegExp][] = [
  ['nothing', '', /^\/k: nothing where fields belong$/],
  ['a list', '[]', /^\/k: a list where fields belong$/],
  ['invalid YAML', 'clusters: [', /^\/k: no YAML: .+ at line 1, column \d+$/],
  ['another kind', 'kind: Pod', /^\/k: kind: "Pod" is no kubeconfig/],
  ['another version', 'apiVersion: v2', /^\/k: apiVersion: "v2" is not known/],
  [
    'no current context',
    kubeconfig({ root: { 'current-context': '' } }),
    /^\/k: current-context: no context is chosen; set it to one of: home$/,
  ],
  [
    'a current context that does not exist',
    kubeconfig({ root: { 'current-context': 'hone' } }),
    /^\/k: current-context: there is no "hone", only: home; did you mean "home"\?$/,
  ],
  [
    'a current context that is a number',
    kubeconfig({ root: { 'current-context': 3 } }),
    /^\/k: current-context: the number 3 where text belongs; put it in quotes$/,
  ],
  [
    'contexts that are not a list',
    kubeconfig({ root: { contexts: {} } }),
    /^\/k: contexts: fields where a list belongs$/,
  ],
  [
    'a context that is text',
    kubeconfig({ root: { contexts: ['x'] } }),
    /^\/k: contexts\[0\]: text where fields belong$/,
  ],
  ['a context without a name', kubeconfig({ root: { contexts: [{}] } }), /^\/k: contexts\[0\]\.name: it is missing$/],
  [
    'two contexts with one name',
    kubeconfig({ root: { contexts: [{ name: 'home' }, { name: 'home' }] } }),
    /^\/k: contexts\["home"\]\.name: the name occurs twice/,
  ],
  [
    'a context without a cluster',
    kubeconfig({ context: { cluster: undefined } }),
    /^\/k: contexts\["home"\]\.context\.cluster: it is missing$/,
  ],
  [
    'a context without anything',
    kubeconfig({ root: { contexts: [{ name: 'home' }] } }),
    /^\/k: contexts\["home"\]\.context\.cluster: it is missing$/,
  ],
  [
    'a cluster that does not exist',
    kubeconfig({ context: { cluster: 'd' } }),
    /^\/k: contexts\["home"\]\.context\.cluster: there is no "d", only: c/,
  ],
  [
    'a user that does not exist',
    kubeconfig({ context: { user: 'v' } }),
    /^\/k: contexts\["home"\]\.context\.user: there is no "v", only: u/,
  ],
  [
    'a cluster without its fields',
    kubeconfig({ root: { clusters: [{ name: 'c' }] } }),
    /^\/k: clusters\["c"\]\.cluster: it is missing$/,
  ],
  [
    'a user without its fields',
    kubeconfig({ root: { users: [{ name: 'u' }] } }),
    /^\/k: users\["u"\]\.user: it is missing$/,
  ],
  ['no server', kubeconfig({ cluster: { server: '' } }), /^\/k: clusters\["c"\]\.cluster\.server: it is missing$/],
  [
    'a server without a scheme',
    kubeconfig({ cluster: { server: '10.0.0.1:6443' } }),
    /^\/k: clusters\["c"\]\.cluster\.server: "10\.0\.0\.1:6443": not a URL such as https:\/\/HOST:6443$/,
  ],
  [
    'a server with credentials',
    kubeconfig({ cluster: { server: 'https://a:hidden@h' } }),
    /^\/k: clusters\["c"\]\.cluster\.server: https:\/\/h: its URL may have a path, but no credentials/,
  ],
  [
    'a proxy',
    kubeconfig({ cluster: { 'proxy-url': 'http://p' } }),
    /^\/k: clusters\["c"\]\.cluster\.proxy-url: proxies are not supported/,
  ],
  [
    'two authorities',
    kubeconfig({ cluster: { 'certificate-authority': 'a', 'certificate-authority-data': 'YQ==' } }),
    /certificate-authority: certificate-authority-data is given, too: remove one of the two$/,
  ],
  [
    'an authority that is not base64',
    kubeconfig({ cluster: { 'certificate-authority-data': '-----BEGIN' } }),
    /certificate-authority-data: it is not base64; /,
  ],
  [
    'an authority that is not used',
    kubeconfig({ cluster: { 'certificate-authority': 'a', 'insecure-skip-tls-verify': true } }),
    /insecure-skip-tls-verify: an authority is given, too/,
  ],
  [
    'a flag in quotes',
    kubeconfig({ cluster: { 'insecure-skip-tls-verify': 'true' } }),
    /insecure-skip-tls-verify: text where true or false belongs$/,
  ],
  [
    'a name that is a list',
    kubeconfig({ cluster: { 'tls-server-name': [] } }),
    /tls-server-name: a list where text belongs; put it in quotes$/,
  ],
  [
    'a certificate without a key',
    kubeconfig({ user: { 'client-certificate': 'a' } }),
    /users\["u"\]\.user\.client-key: client-certificate has no key/,
  ],
  [
    'two certificates',
    kubeconfig({ user: { 'client-certificate': 'a', 'client-certificate-data': 'YQ==' } }),
    /client-certificate: client-certificate-data is given, too/,
  ],
  ['a key that is not base64', kubeconfig({ user: { 'client-key-data': 'a b' } }), /client-key-data: it is not base64/],
  [
    'a token that is a number',
    kubeconfig({ user: { token: 123456 } }),
    /users\["u"\]\.user\.token: number where text belongs/,
  ],
  [
    'a token of two lines',
    kubeconfig({ user: { token: 'a\nb' } }),
    /users\["u"\]\.user\.token: it has more than one line$/,
  ],
  [
    'a token and a password',
    kubeconfig({ user: { token: 'a', password: 'b' } }),
    /users\["u"\]\.user\.token: username or password is given, too/,
  ],
  ['impersonation', kubeconfig({ user: { as: 'admin' } }), /users\["u"\]\.user\.as: impersonation is not supported/],
  [
    'an auth provider',
    kubeconfig({ user: { 'auth-provider': { name: 'gcp' } } }),
    /auth-provider: Kubernetes has removed auth providers; use an exec plugin$/,
  ],
  [
    'a plugin without a command',
    kubeconfig({ user: { exec: { ...EXEC, command: '' } } }),
    /users\["u"\]\.user\.exec\.command: it is missing$/,
  ],
  [
    'a plugin without a version',
    kubeconfig({ user: { exec: { ...EXEC, apiVersion: undefined } } }),
    /exec\.apiVersion: it is missing$/,
  ],
  [
    'a plugin of a removed version',
    kubeconfig({ user: { exec: { ...EXEC, apiVersion: 'client.authentication.k8s.io/v1alpha1' } } }),
    /exec\.apiVersion: "client\.authentication\.k8s\.io\/v1alpha1" is not known, only /,
  ],
  [
    'a plugin without interactiveMode',
    kubeconfig({ user: { exec: { ...EXEC, interactiveMode: undefined } } }),
    /exec\.interactiveMode: it is missing; it is one of Never, IfAvailable, Always$/,
  ],
  [
    'a plugin with an unknown interactiveMode',
    kubeconfig({ user: { exec: { ...EXEC, interactiveMode: 'never' } } }),
    /exec\.interactiveMode: "never"; it is one of/,
  ],
  [
    'a plugin that requires a user',
    kubeconfig({ user: { exec: { ...EXEC, interactiveMode: 'Always' } } }),
    /exec\.interactiveMode: "Always": a node has no user/,
  ],
  [
    'a plugin with a variable without a name',
    kubeconfig({ user: { exec: { ...EXEC, env: [{ value: 'x' }] } } }),
    /exec\.env\[0\]\.name: it is missing$/,
  ],
  [
    'a plugin with a number as argument',
    kubeconfig({ user: { exec: { ...EXEC, args: [1] } } }),
    /exec\.args: the number 1 in a list of texts; put it in quotes$/,
  ],
];

for (const [what, text, error] of BROKEN) {
  test(`a kubeconfig with ${what} is rejected`, () => {
    assert.throws(() => parseKubeconfig(text, '/k'), {
      name: 'PodwrightError',
      code: 'invalid_argument',
      message: error,
    });
  });
}

const TEXT = [5, true, ['x'], { x: 1 }];
const FLAG = [5, 'true', ['x'], { x: 1 }];
const LIST = [5, 'x', { x: 1 }];
const PART = [5, 'x', ['x']];
const WRONG: Record<string, Record<string, unknown[]>> = {
  root: { apiVersion: TEXT, kind: TEXT, 'current-context': TEXT, clusters: LIST, users: LIST, contexts: LIST },
  context: { cluster: TEXT, user: TEXT, namespace: TEXT },
  cluster: {
    server: [...TEXT, 'ftp://h', 'h', 'https://'],
    'certificate-authority': TEXT,
    'certificate-authority-data': [...TEXT, 'no base64!'],
    'insecure-skip-tls-verify': FLAG,
    'tls-server-name': TEXT,
    'proxy-url': [...TEXT, 'http://p'],
    extensions: LIST,
  },
  user: {
    'client-certificate': TEXT,
    'client-certificate-data': [...TEXT, 'no base64!'],
    'client-key': TEXT,
    'client-key-data': [...TEXT, 'no base64!'],
    token: TEXT,
    tokenFile: TEXT,
    username: TEXT,
    password: TEXT,
    exec: PART,
    as: TEXT,
    'as-groups': [['x']],
    'auth-provider': [{ name: 'gcp' }],
  },
  exec: {
    command: TEXT,
    args: LIST,
    env: LIST,
    apiVersion: TEXT,
    installHint: TEXT,
    provideClusterInfo: FLAG,
    interactiveMode: TEXT,
  },
};

for (const [part, fields] of Object.entries(WRONG))
  test(`a kubeconfig that is broken in any field of its ${part} is rejected with the file, the part and the field`, () => {
    for (const [field, values] of Object.entries(fields))
      for (const value of values) {
        const given = { [field]: value };
        const text = kubeconfig(part === 'exec' ? { user: { exec: { ...EXEC, ...given } } } : { [part]: given });
        assert.throws(
          () => parseKubeconfig(text, '/k'),
          (error: Error) => new RegExp(`^/k: (\\S+\\.)?${field}(\\[\\d\\])?: ?.`).test(error.message),
          `${field}: ${JSON.stringify(value)}`,
        );
      }
  });

test('errors for invalid YAML do not quote the file', () => {
  const text = `users: [{name: u, user: {token: hidden-token}}\nkey: : hidden\n`;
  assert.throws(
    () => parseKubeconfig(text, '/k'),
    (error: Error) => !error.message.includes('hidden'),
  );
});
