import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, it } from 'node:test';
import { jsonMapProblem } from './go-json-errors.ts';
import { KindRules } from './kind-rules.fixture.ts';
import { secrets } from './secrets.ts';
import { serviceAccounts } from './service-accounts.ts';
import { keyPairProblem } from './tls-key-pair.ts';

const rules = await KindRules.of('core.v1.Secret', secrets);
const base64 = (text: string) => Buffer.from(text).toString('base64');
const typed = (type: string, data: Record<string, string> = {}) => ({
  type,
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)])),
});

describe('a Secret', () => {
  it('gets a type, and the data of its texts', () => {
    const created = rules.created({ data: { a: base64('1'), b: base64('1') }, stringData: { b: 'é', c: '' } });
    assert.deepEqual(created, {
      metadata: {},
      type: 'Opaque',
      data: { a: base64('1'), b: base64('é'), c: '' },
    });
    assert.equal(secrets.selectableFields!.type!(created), 'Opaque');
  });

  it('has the keys of its type', () => {
    const account = { metadata: { annotations: { 'kubernetes.io/service-account.name': 'a' } } };
    const cases: [object, string[]][] = [
      [typed('example.com/own'), []],
      [
        typed('kubernetes.io/service-account-token'),
        ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
      ],
      [{ ...typed('kubernetes.io/service-account-token'), ...account }, []],
      [typed('kubernetes.io/dockercfg'), ['data[.dockercfg]: Required value']],
      [typed('kubernetes.io/dockercfg', { '.dockercfg': '{}' }), []],
      [
        typed('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': '{' }),
        ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": unexpected end of JSON input'].map(
          (text) => text.slice(0, 80),
        ),
      ],
      [typed('kubernetes.io/basic-auth'), ['data[username]: Required value', 'data[password]: Required value']],
      [typed('kubernetes.io/basic-auth', { password: '' }), []],
      [typed('kubernetes.io/ssh-auth', { 'ssh-privatekey': '' }), ['data[ssh-privatekey]: Required value']],
      [typed('kubernetes.io/tls', { 'tls.crt': '' }), ['data[tls.key]: Required value']],
    ];
    for (const [secret, errors] of cases) rules.checkCreate(secret, errors);
  });

  it('has at most 1 MiB of data', () => {
    rules.checkCreate({ stringData: { a: 'x'.repeat(1024 * 1024) } }, []);
    rules.checkCreate({ stringData: { a: 'x'.repeat(1024 * 1024 + 1) } }, ['data: Too long']);
    rules.checkCreate({ stringData: { 'a b': '' } }, ['data[a b]: Invalid value: "a b"']);
  });

  it('retains its type, and its data if it is immutable', () => {
    const old = { type: 'a', immutable: true, stringData: { k: '1' } };
    rules.checkUpdate(old, old, []);
    rules.checkUpdate({ type: 'b', immutable: true, stringData: { k: '2' } }, old, [
      'type: Invalid value: "b": field is immutable',
      'data: Forbidden: field is immutable when `immutable` is set',
    ]);
  });
});

// certificates created with openssl; the private keys were discarded
const EXPLICIT_CURVE = [
  'MIICcTCCAhegAwIBAgIURfn3Ye0KK293cFauT9LdNUvQXd0wCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJbG9jYWxob3N0MB4XDTI2',
  'MTEzMDA2MTQxNloXDTI5MDUxODA2MTQxNlowFDESMBAGA1UEAwwJbG9jYWxob3N0MIIBSzCCAQMGByqGSM49AgEwgfcCAQEwLAYH',
  'KoZIzj0BAQIhAP////8AAAABAAAAAAAAAAAAAAAA////////////////MFsEIP////8AAAABAAAAAAAAAAAAAAAA////////////',
  '///8BCBaxjXYqjqT57PrvVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMVAMSdNgiG5wSTamZ44ROdJreBn36QBEEEaxfR8uEsQkf4vObl',
  'Y6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9QIhAP////8AAAAA//////////+85vqt',
  'pxeehPO5ysL8YyVRAgEBA0IABBEHug55EbXgnIvP/4Ok/iJapjCGmmOP4MAcF33wQnHdUgyI87nCISbYJ6KbMl8uknUm7IliGYM1',
  'xATNChZsw+ejUzBRMB0GA1UdDgQWBBQp1XnvR4V9UVa1UhHm1W4JBMU+BjAfBgNVHSMEGDAWgBQp1XnvR4V9UVa1UhHm1W4JBMU+',
  'BjAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQCMSWllIziBGzatOEbQK1f5LSQDFA6o2ELuiYy3lESy9AIgKgYG',
  'DhStGXQxqq7rVPRmg8ZEK+XNo7WHcJdh/bxSWP4=',
].join('');

const pem = (type: string, body = 'AAAA') => `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`;
const CERTIFICATE = pem(
  'CERTIFICATE',
  [
    'MIIBcDCCARWgAwIBAgIUDtVqPJXz8jeePUefcPbAIXJ59bswCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBYTAgFw0yNjExMjkyMjEz',
    'NThaGA8yMTI2MTEwNTIyMTM1OFowDDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABFszqiZholgBi7MMK2pl',
    '7Ro1LJ56zgzbfK3ZVmxO2Z/My6YrnDfoRPp2zYBNXvHZbkwP0SkU8gglgYU7Xb8YgHWjUzBRMB0GA1UdDgQWBBS5p7baoEcqR1NT',
    'RxUkQlsciDeztDAfBgNVHSMEGDAWgBS5p7baoEcqR1NTRxUkQlsciDeztDAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kA',
    'MEYCIQDtjvDh4bni5jelXQYSBJCEPDGhlfLRELaU0WwqJ0TsQwIhALYa4K3/2HosxRcMcdg0APRobV+lFBYixMAzATi1m92Z',
  ].join(''),
);

describe('a TLS secret', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

  it('has a warning if the certificate and the key do not match', () => {
    const problem = (certificate: string, text: string) =>
      keyPairProblem(Buffer.from(certificate), Buffer.from(text)) ?? 'none';
    assert.equal(problem('', ''), 'tls: failed to find any PEM data in certificate input');
    assert.match(problem(key, ''), /PEM inputs may have been switched$/);
    assert.match(problem(pem('A') + pem('B'), ''), /"CERTIFICATE" PEM block .* types: \[A B\]$/);
    assert.equal(problem(pem('CERTIFICATE'), ''), 'tls: failed to find any PEM data in key input');
    assert.match(problem(pem('CERTIFICATE'), pem('CERTIFICATE')), /^tls: found a certificate rather than a key/);
    assert.match(problem(pem('CERTIFICATE'), pem('A')), /ending in "PRIVATE KEY" in key input .* types: \[A\]$/);
    assert.equal(problem(pem('CERTIFICATE'), key), 'x509: malformed certificate');
    const pkcs8 = (pair: { privateKey: KeyObject }) =>
      pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const rsa = pkcs8(generateKeyPairSync('rsa', { modulusLength: 1024 }));
    const ed25519 = pkcs8(generateKeyPairSync('ed25519'));
    for (const known of [key, rsa, ed25519])
      assert.match(problem(CERTIFICATE, known), /private key (?:type )?does not match public key/);
    const dsa = pkcs8(generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 }));
    assert.equal(problem(CERTIFICATE, dsa), 'tls: failed to parse private key');
    const encrypted = pem('RSA PRIVATE KEY', 'Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AA\n\nAAAA');
    assert.equal(problem(CERTIFICATE, encrypted), 'tls: failed to parse private key');
    for (const headers of ['', 'a: b\n\n'])
      assert.equal(problem(pem('CERTIFICATE', headers + EXPLICIT_CURVE), key), 'x509: malformed certificate');
    rules.checkWarnings(typed('kubernetes.io/tls', { 'tls.crt': '', 'tls.key': '' }), [
      'tls: failed to find any PEM data in certificate input',
    ]);
    rules.checkWarnings(typed('Opaque', { 'tls.crt': '' }), []);
  });
});

describe('the JSON of a registry secret', () => {
  it('is an object', () => {
    assert.equal(jsonMapProblem('{"a":{}}'), undefined);
    assert.equal(jsonMapProblem('null'), undefined);
    assert.equal(jsonMapProblem(''), 'unexpected end of JSON input');
    assert.equal(jsonMapProblem('x'), "invalid character 'x' looking for beginning of value");
    assert.equal(jsonMapProblem('[]'), 'json: cannot unmarshal array into Go value of type map[string]interface {}');
    assert.match(jsonMapProblem('1')!, /cannot unmarshal number/);
  });
});

describe('a ServiceAccount', () => {
  it('refers to secrets by name, and warns about a deprecated annotation once', async () => {
    const accounts = await KindRules.of('core.v1.ServiceAccount', serviceAccounts);
    const annotated = { metadata: { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } } };
    const created = accounts.created({ secrets: [{ name: 'a', namespace: 'b', uid: 'c' }, {}] });
    assert.deepEqual(created.secrets, [{ name: 'a' }, {}]);
    const warning = 'metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+';
    accounts.checkWarnings(annotated, [warning]);
    accounts.checkWarnings(annotated, [], annotated);
    accounts.checkWarnings(annotated, [warning], {});
  });
});
