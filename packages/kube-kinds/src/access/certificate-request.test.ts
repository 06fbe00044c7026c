import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  changed,
  created,
  createErrors,
  decoded,
  subresourceUpdate,
  updateErrors,
} from '../strategy-checks.fixture.ts';
import { CERTIFICATE_SIGNING_REQUEST as REQUEST } from './certificate-request.ts';

// certificate requests for the subject CN=a, and a certificate, all created with openssl; the private keys were discarded
const EC = [
  'MIHGMG4CAQAwDDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABFszqiZholgBi7MMK2pl7Ro1LJ56zgzbfK3Z',
  'VmxO2Z/My6YrnDfoRPp2zYBNXvHZbkwP0SkU8gglgYU7Xb8YgHWgADAKBggqhkjOPQQDAgNIADBFAiAtFIsEvQBVJYZ7jT/4s8N6',
  'll76JVfOMQ0bGAbs+0RERgIhAKzBL0YwBw7eg+NhPvWuUDzmApIdY5KWwIPrHtr7G38f',
].join('');
const ED25519 = [
  'MIGLMD8CAQAwDDEKMAgGA1UEAwwBYTAqMAUGAytlcAMhAGgIwSZKWyfAYJ+bMBNuEGnu8EAuuJgyY5mZxOsJjn+yoAAwBQYDK2Vw',
  'A0EALF0FjrAdaPlhExUpxnSbuwmFUoYPlrLyce/ja5A8KoD2Zz5zwFc+Y1wWJ6XR/FFND+aebPx9nu+SqHJUGkjcDQ==',
].join('');
const RSA = [
  'MIIBSzCBtQIBADAMMQowCAYDVQQDDAFhMIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDQQbKDUCiwUeCTDkLnzyKTiSNPbLRp',
  'YjrzDMxGIpIQS5D/YKQkeWumiEDhz0Q/1OpbK+FVNE0CaxPmdo0afObdgt1M4oyPIl7Z8zryeTXl4nrb15aXVu0l6QG5spnuUtbz',
  'PG9pZgxJBw0NfdE1X7xYj5MiV7bx2Oy+IPOFHIJYBQIDAQABoAAwDQYJKoZIhvcNAQELBQADgYEAsNynvKsDDaobP35HP0OW85sA',
  'ZCSIedXhJC4pH3eDjleC3v47U7mEjCZq2D1rk+yRk9sGAce4vaHGP/96XpcyJQlH6E939BlIitmP8VFjqPBuFFD+I6bh6+d3mQIx',
  'KQ7WViAUCcNdgGSXUnVz7HqfzUpLRr1Vk1RGr/AIVB55mrc=',
].join('');
const EXPLICIT_CURVE = [
  'MIIBvDCCAWICAQAwDDEKMAgGA1UEAwwBeDCCAUswggEDBgcqhkjOPQIBMIH3AgEBMCwGByqGSM49AQECIQD/////AAAAAQAAAAAAAA',
  'AAAAAAAP///////////////zBbBCD/////AAAAAQAAAAAAAAAAAAAAAP///////////////AQgWsY12Ko6k+ez671VdpiGvGUdBrDM',
  'U7D2O848PifSYEsDFQDEnTYIhucEk2pmeOETnSa3gZ9+kARBBGsX0fLhLEJH+Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT+NC4v4af5',
  'uO5+tKfA+eFivOM1drMV7Oy7ZAaDe/UfUCIQD/////AAAAAP//////////vOb6racXnoTzucrC/GMlUQIBAQNCAAQRB7oOeRG14JyL',
  'z/+DpP4iWqYwhppjj+DAHBd98EJx3VIMiPO5wiEm2CeimzJfLpJ1JuyJYhmDNcQEzQoWbMPnoAAwCgYIKoZIzj0EAwIDSAAwRQIhAJ',
  'Hroau7vkMMPv6zcfRvMPBwqVXAhc3p6AWm/3je3qFwAiBAi3a+BVQRzerIqGGDm39WSq6E54/TI6RXnyrdTbZQdw==',
].join('');
const CERTIFICATE = [
  'MIIBcDCCARWgAwIBAgIUDtVqPJXz8jeePUefcPbAIXJ59bswCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBYTAgFw0yNjExMjkyMjEz',
  'NThaGA8yMTI2MTEwNTIyMTM1OFowDDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABFszqiZholgBi7MMK2pl',
  '7Ro1LJ56zgzbfK3ZVmxO2Z/My6YrnDfoRPp2zYBNXvHZbkwP0SkU8gglgYU7Xb8YgHWjUzBRMB0GA1UdDgQWBBS5p7baoEcqR1NT',
  'RxUkQlsciDeztDAfBgNVHSMEGDAWgBS5p7baoEcqR1NTRxUkQlsciDeztDAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kA',
  'MEYCIQDtjvDh4bni5jelXQYSBJCEPDGhlfLRELaU0WwqJ0TsQwIhALYa4K3/2HosxRcMcdg0APRobV+lFBYixMAzATi1m92Z',
].join('');

const pem = (type: string, body: string) => `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`;
const base64 = (text: string) => Buffer.from(text).toString('base64');
const encoded = (body: string) => base64(pem('CERTIFICATE REQUEST', body));
const CHAIN = base64(pem('CERTIFICATE', CERTIFICATE));

const BASE = {
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'Any_name' },
  spec: { request: encoded(EC), signerName: 'example.com/signer', usages: ['client auth'] },
};
const withSpec = (spec: object) => changed(BASE, { spec } as never);
const withStatus = (status: object) => ({ ...BASE, status });

test('a new request has the caller’s identity and no decision', () => {
  const spec = { ...BASE.spec, username: 'eve', uid: 'x', groups: ['system:masters'], extra: { a: ['b'] } };
  const status = { conditions: [{ type: 'Approved', status: 'True' }] };
  const request = created(REQUEST, { ...BASE, spec, status });
  assert.deepEqual(request.spec, {
    ...BASE.spec,
    username: 'ann',
    uid: 'u1',
    groups: ['dev'],
    extra: { scopes: ['a'] },
  });
  assert.deepEqual(request.status, {});
  assert.deepEqual(REQUEST.nameProblems?.('Any_name', false), []);
});

test('a request’s signature is verified', () => {
  const problem = (request: string) => {
    const errors = createErrors(REQUEST, withSpec({ request }));
    return errors.length === 0 ? undefined : errors.join().replace(/^spec.request: Invalid value: ".*?": /, '');
  };
  for (const valid of [EC, ED25519, RSA]) assert.equal(problem(encoded(valid)), undefined);
  const tampered = (body: string) => {
    const bytes = Buffer.from(body, 'base64');
    bytes[bytes.length - 5]! ^= 1;
    return encoded(bytes.toString('base64'));
  };
  assert.equal(problem(tampered(EC)), 'x509: ECDSA verification failure');
  assert.equal(problem(tampered(ED25519)), 'x509: Ed25519 verification failure');
  assert.equal(problem(tampered(RSA)), 'crypto/rsa: verification error');
  assert.equal(problem(encoded(EXPLICIT_CURVE)), 'x509: unsupported elliptic curve');
  assert.equal(problem(CHAIN), 'PEM block type must be CERTIFICATE REQUEST');
  assert.equal(problem(''), 'PEM block type must be CERTIFICATE REQUEST');
  const bytes = Buffer.from(EC, 'base64');
  for (let length = 0; length < bytes.length; length += 7)
    assert.match(problem(encoded(bytes.subarray(0, length).toString('base64')))!, /^asn1: /);
  assert.equal(
    problem(encoded(Buffer.concat([bytes, Buffer.of(0)]).toString('base64'))),
    'asn1: syntax error: trailing data',
  );
});

test('invalid requests have upstream’s errors', () => {
  const check = (spec: object, ...errors: string[]) => assert.deepEqual(createErrors(REQUEST, withSpec(spec)), errors);
  check({});
  check({ usages: [] }, 'spec.usages: Required value');
  check({ usages: ['client auth', 'client auth'] }, 'spec.usages[1]: Duplicate value: "client auth"');
  assert.match(
    createErrors(REQUEST, withSpec({ usages: ['x'] })).join(),
    /^spec.usages\[0\]: Unsupported value: "x": supported values: "any", /,
  );
  check(
    { expirationSeconds: 599 },
    'spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)',
  );
  check({ signerName: '' }, 'spec.signerName: Required value');
  const form = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
  check({ signerName: 'a' }, `spec.signerName: Invalid value: "a": ${form}`);
  check({ signerName: 'a.b/c/d' }, `spec.signerName: Invalid value: "a.b/c/d": ${form}`);
  check(
    { signerName: 'a/b' },
    'spec.signerName: Invalid value: "a": should be a domain with at least two segments separated by dots',
  );
  check(
    { signerName: 'kubernetes.io/legacy-unknown' },
    'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
  );
});

test('an update of the main resource changes neither the spec nor the status', () => {
  const old = withStatus({ certificate: CHAIN });
  const object = changed(withSpec({ usages: ['any'] }), {
    status: { conditions: [{ type: 'Approved', status: 'True' }] },
  });
  const prepared = REQUEST.prepareForUpdate?.(decoded(REQUEST, object), decoded(REQUEST, old));
  assert.deepEqual([prepared?.spec, prepared?.status], [BASE.spec, old.status]);
  assert.deepEqual(updateErrors(REQUEST, object, old), []);
});

const APPROVED = {
  type: 'Approved',
  status: 'True',
  reason: 'r',
  lastTransitionTime: '2020-01-01T00:00:00Z',
  lastUpdateTime: '2020-01-01T00:00:00Z',
};
const DENIED = { ...APPROVED, type: 'Denied' };

test('only the approval subresource adds decisions, which are mutually exclusive and permanent', () => {
  const update = (name: string, conditions: object[], old: object[]) =>
    subresourceUpdate(REQUEST, name, { object: withStatus({ conditions }), old: withStatus({ conditions: old }) });
  assert.deepEqual(update('approval', [APPROVED], []).errors, []);
  assert.deepEqual(update('status', [APPROVED], []).errors, [
    'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
  ]);
  assert.deepEqual(update('approval', [], [APPROVED]).errors, [
    'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
  ]);
  assert.deepEqual(update('approval', [APPROVED, DENIED], [APPROVED]).errors, [
    'status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
  ]);
  assert.deepEqual(update('approval', [APPROVED, DENIED], [APPROVED, DENIED]).errors, []);
  const others = Array.from({ length: 150 }, (_, index) => ({ ...APPROVED, type: `other${index}` }));
  const [error] = update('approval', [APPROVED, ...others, DENIED], [APPROVED, ...others]).errors;
  assert.match(error!, /mutually exclusive$/, 'however many conditions are between them');
  const retained = update('status', [{ ...APPROVED, reason: 'other' }], [APPROVED]);
  assert.deepEqual([retained.errors, retained.object.status], [[], { conditions: [APPROVED] }]);
  assert.deepEqual(update('approval', [{ ...APPROVED, status: 'False' }], []).errors, [
    'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
  ]);
  assert.deepEqual(update('status', [{ type: '', status: '' }], []).errors, [
    'status.conditions[0].type: Required value',
    'status.conditions[0].status: Required value',
  ]);
  const twice = [
    { type: 'X', status: 'True' },
    { type: 'X', status: 'False' },
  ];
  assert.deepEqual(update('status', twice, []).errors, ['status.conditions[1].type: Duplicate value: "X"']);
});

test('each subresource resets the other’s fields', () => {
  const { status, approval } = REQUEST.subresources!;
  assert.deepEqual(status?.resetFields, [['spec'], ['status', 'conditions']]);
  assert.deepEqual(approval?.resetFields, [['spec'], ['status', 'certificate']]);
  assert.deepEqual(REQUEST.resetFields, [['spec'], ['status']]);
});

test('conditions get timestamps, and preserve the time of their last change', () => {
  const object = withStatus({
    conditions: [
      { type: 'Approved', status: 'True', reason: 'new' },
      { type: 'X', status: 'True' },
    ],
  });
  const { status } = subresourceUpdate(REQUEST, 'approval', {
    object,
    old: withStatus({ conditions: [APPROVED] }),
  }).object;
  const [approved, other] = (status as { conditions: Record<string, string>[] }).conditions;
  assert.equal(approved?.lastTransitionTime, APPROVED.lastTransitionTime);
  assert.ok(approved!.lastUpdateTime! > '2026' && other!.lastTransitionTime! > '2026');
});

test('a certificate can be set only once, via the status', () => {
  const errors = (name: string, certificate: string, old: string | undefined) =>
    subresourceUpdate(REQUEST, name, { object: withStatus({ certificate }), old: withStatus({ certificate: old }) })
      .errors;
  assert.deepEqual(errors('status', CHAIN, undefined), []);
  assert.deepEqual(errors('approval', CHAIN, undefined), []);
  const other = base64(pem('CERTIFICATE', CERTIFICATE) + pem('CERTIFICATE', CERTIFICATE));
  assert.deepEqual(errors('status', other, CHAIN), [
    'status.certificate: Forbidden: updates may not modify existing certificate content',
  ]);
  const wrong = (text: string, problem: string) =>
    assert.deepEqual(errors('status', base64(text), undefined), [
      `status.certificate: Invalid value: "<certificate data>": ${problem}`,
    ]);
  wrong('x', 'must contain at least one CERTIFICATE PEM block');
  wrong(pem('PRIVATE KEY', CERTIFICATE), 'only CERTIFICATE PEM blocks are allowed, found "PRIVATE KEY"');
  wrong(pem('CERTIFICATE', 'AAAA'), 'x509: malformed certificate');
  wrong(pem('CERTIFICATE', `a: b\n\n${CERTIFICATE}`), 'no PEM block headers are permitted');
  const direct = updateErrors(REQUEST, withStatus({ certificate: CHAIN }), BASE);
  assert.deepEqual(direct, []);
});

test('many PEM block headers take little time', () => {
  const request = base64('-----BEGIN CERTIFICATE REQUEST-----\n'.repeat(30_000));
  const start = performance.now();
  assert.equal(createErrors(REQUEST, withSpec({ request })).length, 1);
  assert.ok(performance.now() - start < 2000);
});
