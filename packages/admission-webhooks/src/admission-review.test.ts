import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Schema } from '@podwright/kube-schema';
import { rejectionAnswer, verdictOf } from './admission-review.ts';
import { CallError } from './call-error.ts';

const schema = await Schema.load();
const uid = '8d2c9c9e-0f0a-4bb0-9a3c-1f6f4c0f0a11';
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

type Given = { body?: unknown; response?: object; status?: number; version?: string; isMutating?: boolean };

function verdict({ body, response, status = 200, version = 'v1', isMutating = true }: Given) {
  const review = {
    apiVersion: `admission.k8s.io/${version}`,
    kind: 'AdmissionReview',
    response: { uid, allowed: true, ...response },
  };
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? review);
  return verdictOf({ status, body: Buffer.from(text) }, { version, uid, body: {} }, { isMutating, schema });
}

function fails(given: Given, message: RegExp | string): void {
  assert.throws(
    () => verdict(given),
    (error) => {
      assert.ok(error instanceof CallError, String(error));
      if (typeof message === 'string') assert.equal(error.message, message);
      else assert.match(error.message, message);
      return true;
    },
  );
}

test('a verdict contains the patch, warnings and audit annotations of the response', () => {
  const patch = [{ op: 'add', path: '/a', value: 1 }];
  const response = { patch: base64(patch), patchType: 'JSONPatch', warnings: ['w'], auditAnnotations: { a: 'b' } };
  const found = verdict({ response });
  assert.deepEqual(found, { allowed: true, patch, warnings: ['w'], auditAnnotations: { a: 'b' }, result: undefined });
  assert.deepEqual(verdict({ response: { patch: base64(null), patchType: 'JSONPatch' } }).patch, []);
  const status = { code: 403, message: 'no', unknown: 1 };
  assert.equal(verdict({ response: { allowed: false, status } }).result?.message, 'no');
});

test('the UID and the patch type are not checked in v1beta1', () => {
  const patch = [{ op: 'remove', path: '/a' }];
  const response = { uid: 'other', patch: base64(patch) };
  assert.deepEqual(verdict({ version: 'v1beta1', response }).patch, patch);
  assert.deepEqual(verdict({ version: 'v1beta1', response, isMutating: false }).patch, []);
  assert.equal(verdict({ version: 'v1beta1', body: { response: { allowed: true } } }).allowed, true);
});

test('an invalid response is an error that includes the reason', () => {
  const invalid = 'received invalid webhook response: ';
  const apiVersion = 'admission.k8s.io/v1';
  fails({ response: { uid: 'x' } }, `${invalid}expected response.uid="${uid}", got "x"`);
  fails({ body: { apiVersion, kind: 'AdmissionReview' } }, `${invalid}webhook response was absent`);
  fails(
    { body: { response: { uid, allowed: true } } },
    `${invalid}expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=`,
  );
  const older = { apiVersion: 'admission.k8s.io/v1beta1', kind: 'AdmissionReview', response: {} };
  fails({ body: older }, /converting \(v1beta1.AdmissionReview\) to \(v1.AdmissionReview\): unknown conversion$/);
  fails({ body: { apiVersion: 'v1', kind: 'Pod' } }, /no kind "Pod" is registered for version "v1"$/);
  fails({ body: 'garbage' }, /json parse error/);
  fails({ body: '' }, /0-length response with status code: 200/);
  fails({ body: `${'['.repeat(100_000)}` }, /json parse error/);
  fails({ body: '[]' }, /cannot unmarshal array/);
  fails({ response: { allowed: 1 } }, /cannot unmarshal number .*\.allowed of type bool$/);
  fails({ response: { warnings: [1] } }, /\.warnings of type \[\]string$/);
  fails({ response: { status: 'x' } }, /cannot unmarshal string/);
  fails({ response: { patch: base64([]) } }, `${invalid}webhook returned response.patch but not response.patchType`);
  fails(
    { response: { patchType: 'JSONPatch' } },
    `${invalid}webhook returned response.patchType but not response.patch`,
  );
  fails({ response: { patch: '*', patchType: 'JSONPatch' } }, /illegal base64 data at input byte 0$/);
  fails({ response: { patch: base64({}), patchType: 'JSONPatch' } }, /cannot unmarshal object into .*jsonpatch.Patch$/);
  fails({ response: { patch: base64([{}]), patchType: 'Merge' } }, 'unsupported patch type "Merge"');
  fails(
    { isMutating: false, response: { patch: base64([]), patchType: 'JSONPatch' } },
    `${invalid}validating webhook may not return response.patch`,
  );
});

test('an HTTP status other than success is an error with upstream’s message', () => {
  fails({ status: 404, body: 'x' }, 'failed to call webhook: the server could not find the requested resource');
  fails({ status: 500, body: 'x' }, /an error on the server \("x"\) has prevented the request from succeeding$/);
  fails({ status: 302, body: '' }, /the server responded with the status code 302 but/);
  fails({ status: 403, body: { kind: 'Status', message: 'm' } }, 'failed to call webhook: m');
});

test('a denial has the webhook’s status code, or 400 or 500 if that is not an error code', () => {
  const answer = (result: object) => rejectionAnswer('w', result as Record<string, unknown>).status;
  assert.equal(answer({}).message, 'admission webhook "w" denied the request without explanation');
  assert.equal(answer({ message: 'm', code: 200 }).code, 400);
  assert.equal(answer({ reason: 'R', code: 9999 }).code, 500);
  assert.equal(answer({ reason: 'R' }).message, 'admission webhook "w" denied the request: R');
  assert.deepEqual(answer({ details: { name: 'x' }, code: 409 }).details, { name: 'x' });
});
