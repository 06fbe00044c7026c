import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isKubeletConfiguration, readConfigurationFile } from './configuration-file.ts';

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

function check(fields: string, expected: Record<string, unknown>): void {
  const given = readConfigurationFile(`${HEAD}${fields}`, '/etc/kubelet/config.yaml');
  assert.deepEqual(Object.fromEntries([...given].map(([name, { value }]) => [name, value])), expected);
}

function refuse(text: string, message: string): void {
  assert.throws(() => readConfigurationFile(text, 'c.yaml'), { code: 'invalid_argument', message: `read ${message}` });
}

test('fields have upstream’s types', () => {
  check('', {});
  check('port: 10260\nenableServer: false\nclusterDNS: [10.0.0.10]\n', {
    port: 10260,
    enableServer: false,
    clusterDNS: ['10.0.0.10'],
  });
  check('syncFrequency: 1m30s\nlogging: {flushFrequency: 5000000000, verbosity: 2}\n', {
    syncFrequency: 90_000,
    'logging.flushFrequency': 5000,
    'logging.verbosity': 2,
  });
  check('authentication: {x509: {clientCAFile: /ca}, anonymous: {enabled: false}}', {
    'authentication.x509.clientCAFile': '/ca',
    'authentication.anonymous.enabled': false,
  });
  check('evictionHard: {memory.available: 0%}\nfeatureGates: {NodeSwap: true}', {
    evictionHard: { 'memory.available': '0%' },
    featureGates: { NodeSwap: true },
  });
});

test('relative paths are resolved against the file’s directory', () => {
  check('staticPodPath: manifests\nresolvConf: ""\ntlsCertFile: /c', {
    staticPodPath: '/etc/kubelet/manifests',
    resolvConf: '',
    tlsCertFile: '/c',
  });
});

test('null unsets a field, or all fields of an object', () => {
  check('port: null\nmemorySwap: null', { port: null, 'memorySwap.swapBehavior': null });
});

test('JSON is accepted', () => {
  const text = JSON.stringify({ kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1', port: 1 });
  assert.equal(readConfigurationFile(text, 'c.json').get('port')?.value, 1);
  assert.equal(readConfigurationFile(text, 'c.json').get('port')?.place, 'c.json:1');
});

test('errors name the line', () => {
  refuse(`${HEAD}prot: 1\n`, 'c.yaml:3: prot: unknown field; did you mean "port"?');
  refuse(`${HEAD}Port: 1\n`, 'c.yaml:3: Port: unknown field; did you mean "port"?');
  refuse(`${HEAD}port: 1\nport: 2\n`, 'c.yaml:4: "port" is in line 3 already');
  refuse(`${HEAD}port: "1"\n`, 'c.yaml:3: port: must be an integer, got "1"');
  refuse(`${HEAD}port: 4294967296\n`, 'c.yaml:3: port: must be between -2147483648 and 2147483647, got 4294967296');
  refuse(`${HEAD}syncFrequency: 3\n`, 'c.yaml:3: syncFrequency: must be a duration such as 300ms, 10s or 2h45m, got 3');
  refuse(
    `${HEAD}shutdownGracePeriodByPodPriority:\n- {priority: 1, shutdownGracePeriodSeconds: -1}\n`,
    'c.yaml:4: shutdownGracePeriodByPodPriority[0].shutdownGracePeriodSeconds: must be between 0 and 1000000, got -1',
  );
  refuse(`${HEAD}address: here\n`, 'c.yaml:3: address: must be an IP address, got "here"');
  refuse(
    `${HEAD}authentication:\n  anonymus: {}\n`,
    'c.yaml:4: authentication.anonymus: unknown field; did you mean "anonymous"?',
  );
  refuse(`${HEAD}authentication: true\n`, 'c.yaml:3: authentication: must be an object');
  refuse(`${HEAD}authentication.webhook: {}\n`, 'c.yaml:3: [authentication.webhook]: unknown field');
  refuse(`${HEAD}rootDir: /x\n`, 'c.yaml:3: rootDir: unknown field');
  refuse('kind: KubeletConfiguration\n', 'c.yaml:1: apiVersion: must be kubelet.config.k8s.io/v1beta1');
  refuse('kind: CredentialProviderConfig\n', 'c.yaml:1: kind: must be KubeletConfiguration');
  refuse('', 'c.yaml: it is empty');
  refuse(`${HEAD}---\n${HEAD}`, 'c.yaml: it holds more than one document');
});

test('a KubeletConfiguration is distinguished from TOML by its first line of content', () => {
  for (const text of ['kind: x', '# a\n\napiVersion: v1', '{"kind": 1}', '---\na: 1', '"kind": x', 'port:\n  1'])
    assert.equal(isKubeletConfiguration(text), true, text);
  for (const text of ['', '# only this', '[kubelet]\nmax_pods = 1', 'root = "/x: y"', 'a.b = 1', '"kind" = "x"'])
    assert.equal(isKubeletConfiguration(text), false, text);
});

/** A seeded random number generator (mulberry32), so that every run uses the same numbers. */
function seededRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below) | 0;
  };
}

const PIECES = [
  ':',
  '\n',
  '  ',
  '- ',
  '{',
  '}',
  '[',
  ']',
  '"',
  "'",
  '&a ',
  '*a',
  '<<: *a\n',
  '!!int ',
  '|\n',
  '\u0000',
];
const VALUES = [
  'null',
  '1e999',
  '0x7fffffffffffffff',
  '__proto__: 1\n',
  'constructor: {a: 1}\n',
  'port: 1\n',
  '9h9h',
  '-1',
];

test('each of 3000 mutated files is accepted, or rejected with a line', () => {
  const random = seededRandom(20261122);
  const whole = `${HEAD}port: 1\nauthentication:\n  webhook: {enabled: true, cacheTTL: 1m}\nevictionHard:\n  memory.available: 5%\n`;
  let refused = 0;
  for (let round = 0; round < 3000; round++) {
    let text = whole;
    for (let changes = 1 + random(3); changes > 0; changes--) {
      const at = random(text.length + 1);
      const pieces = random(2) === 0 ? PIECES : VALUES;
      text = text.slice(0, at) + pieces[random(pieces.length)] + text.slice(at + (random(3) === 0 ? random(20) : 0));
    }
    try {
      readConfigurationFile(text, 'c.yaml');
    } catch (error) {
      refused++;
      assert.equal((error as { code?: string }).code, 'invalid_argument', `${error}\n${text}`);
      assert.match((error as Error).message, /^read c\.yaml:/, `round ${round}`);
    }
  }
  assert.ok(refused > 1000 && refused < 3000, `${refused} refused`);
  assert.equal(Object.hasOwn(Object.prototype, 'a'), false);
});

test('hostile files are accepted or rejected within a second, with a short error', () => {
  const bombs = Array.from({ length: 30 }, (_, at) => `a${at}: &a${at} [${`*a${at - 1},`.repeat(10)}]\n`);
  for (const text of [
    `${HEAD}a: ${'['.repeat(100_000)}`,
    `${HEAD}${'{a: '.repeat(50_000)}`,
    `${HEAD}a0: &a0 [x]\n${bombs.slice(1).join('')}`,
    `${HEAD}${'x: &a *a\n'.repeat(50_000)}`,
    `${HEAD}clusterDomain: ${'y'.repeat(1_000_000)}`,
    `${HEAD}${'z'.repeat(1_000_000)}: 1`,
    `${HEAD}clusterDNS: [${'1,'.repeat(300_000)}]`,
    `${HEAD}${Array.from({ length: 50_000 }, (_, at) => `k${at}: 1\n`).join('')}`,
    `${HEAD}syncFrequency: ${'1h'.repeat(200_000)}`,
    `${HEAD}featureGates: {${'A: true, '.repeat(50_000)}}`,
    `{"${'\\u001b['.repeat(1000)}": 1}`,
  ]) {
    const startedAtMs = performance.now();
    try {
      readConfigurationFile(text, 'c.yaml');
    } catch (error) {
      const { message, code } = error as { message: string; code?: string };
      assert.equal(code, 'invalid_argument', message.slice(0, 500));
      assert.ok(message.length < 5000, `${message.length} characters: ${message.slice(0, 300)}`);
      assert.ok(!message.includes('\u001b'));
    }
    assert.ok(performance.now() - startedAtMs < 5000, text.slice(90, 120));
  }
});
