import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@podwright/api-machinery';
import { encodeObject, Schema } from '@podwright/kube-schema';
import { deleteOptions } from './delete-options.ts';
import { managerOf } from './field-manager.ts';
import { listParameters } from './list-options.ts';
import { checkPathSegment } from './path-segment.ts';
import { patchOptions, writeOptions } from './write-options.ts';

const schema = await Schema.load();
const query = (text: string) => new URLSearchParams(text);

function refuses(read: () => unknown, code: number, message: string): void {
  assert.throws(read, (error) => {
    assert.ok(error instanceof ApiError, String(error));
    assert.deepEqual([error.status.code, error.message], [code, message]);
    return true;
  });
}

test('parses write options, and rejects invalid ones with upstream’s messages', () => {
  const create = (text: string) => writeOptions('CreateOptions', query(text));
  assert.deepEqual(create(''), { dryRun: false, fieldManager: '', fieldValidation: 'Warn' });
  assert.deepEqual(create('dryRun=All&fieldManager=me&fieldValidation=Strict'), {
    dryRun: true,
    fieldManager: 'me',
    fieldValidation: 'Strict',
  });
  const prefix = 'CreateOptions.meta.k8s.io "" is invalid: ';
  refuses(() => create('dryRun=x'), 422, `${prefix}dryRun: Unsupported value: ["x"]: supported values: "All"`);
  refuses(
    () => create('fieldValidation=warn'),
    422,
    `${prefix}fieldValidation: Unsupported value: "warn": supported values: "", "Ignore", "Strict", "Warn"`,
  );
  refuses(
    () => create(`fieldManager=${'a'.repeat(129)}`),
    422,
    `${prefix}fieldManager: Too long: may not be more than 128 bytes`,
  );
  refuses(
    () => create('fieldManager=a%0Ab'),
    422,
    `${prefix}fieldManager: Invalid value: "a\\nb": invalid character U+000A (at position 1)`,
  );
});

test('parses patch options', () => {
  const apply = 'application/apply-patch+yaml';
  assert.equal(patchOptions(query('fieldManager=me&force=true'), apply).force, true);
  assert.equal(patchOptions(query('fieldManager=me&force=false'), apply).force, false);
  refuses(
    () => patchOptions(query(''), apply),
    422,
    'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
  );
  refuses(
    () => patchOptions(query('force=1'), 'application/merge-patch+json'),
    422,
    'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
  );
});

test('derives the field manager from the User-Agent if the query has none', () => {
  assert.equal(managerOf('me', 'kubectl/v1.36'), 'me');
  assert.equal(managerOf('', 'kubectl/v1.36 (linux/amd64)'), 'kubectl');
  assert.equal(managerOf('', 'a\tb/c'), 'ab');
  assert.equal(managerOf('', 'é'.repeat(100)), 'é'.repeat(64));
  assert.equal(managerOf('', ''), '');
});

/** Parses a query: as the parameters of a watch if it starts with `watch=1`, otherwise as those of a list. */
const parameters = (text: string) => listParameters(query(text), { isWatch: text.startsWith('watch=1') });

test('parses list and watch parameters like Go', () => {
  const list = parameters('labelSelector=a%3Db&limit=5&continue=x&timeoutSeconds=7&allowWatchBookmarks=');
  assert.deepEqual(
    [list.labelSelector, list.limit, list.continue, list.timeoutSeconds, list.allowWatchBookmarks],
    ['a=b', 5, 'x', 7, true],
  );
  assert.equal(parameters('allowWatchBookmarks=False').allowWatchBookmarks, false);
  const watch = parameters('watch=1');
  assert.deepEqual([watch.sendInitialEvents, watch.resourceVersionMatch], [true, 'NotOlderThan']);
  assert.equal(parameters('watch=1&resourceVersion=5').sendInitialEvents, undefined);
  assert.equal(parameters('limit=9223372036854775807').limit, Number(2n ** 63n - 1n));
  refuses(
    () => parameters('limit=9223372036854775808'),
    400,
    'strconv.ParseInt: parsing "9223372036854775808": value out of range',
  );
  refuses(() => parameters('limit=x'), 400, 'strconv.ParseInt: parsing "x": invalid syntax');
  refuses(
    () => parameters('limit=99999999999999999999'),
    400,
    'strconv.ParseInt: parsing "99999999999999999999": value out of range',
  );
});

test('rejects contradictory list and watch parameters', () => {
  const prefix = 'ListOptions.meta.k8s.io "" is invalid: ';
  const check = (text: string, message: string) => refuses(() => parameters(text), 422, prefix + message);
  const match = 'resourceVersionMatch: Forbidden: resourceVersionMatch';
  check('resourceVersionMatch=Exact', `${match} is forbidden unless resourceVersion is provided`);
  check('resourceVersionMatch=Exact&resourceVersion=0', `${match} "exact" is forbidden for resourceVersion "0"`);
  check('resourceVersionMatch=Exact&resourceVersion=1&continue=x', `${match} is forbidden when continue is provided`);
  check(
    'resourceVersionMatch=x&resourceVersion=1',
    'resourceVersionMatch: Unsupported value: "x": supported values: "Exact", "NotOlderThan", ""',
  );
  check('sendInitialEvents=true', 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list');
  check(
    'watch=1&sendInitialEvents=true',
    'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
  );
  check(
    'watch=1&resourceVersion=1&resourceVersionMatch=NotOlderThan',
    `${match} is forbidden for watch unless sendInitialEvents is provided`,
  );
});

test('parses delete options from the body, or from the query if there is no body', () => {
  const read = (body: string | Uint8Array, text = '', contentType = '') =>
    deleteOptions(Buffer.from(body as string), { contentType, query: query(text), schema });
  assert.deepEqual(
    { ...read('', 'gracePeriodSeconds=3&propagationPolicy=Orphan&dryRun=All') },
    { gracePeriodSeconds: 3, propagationPolicy: 'Orphan', orphanDependents: undefined, dryRun: true },
  );
  const body = { kind: 'DeleteOptions', apiVersion: 'apps/v1', gracePeriodSeconds: 0, preconditions: { uid: 'u' } };
  const sent = read(JSON.stringify(body), 'propagationPolicy=Orphan');
  assert.deepEqual([sent.gracePeriodSeconds, sent.preconditions, sent.propagationPolicy], [0, { uid: 'u' }, undefined]);
  const protobuf = encodeObject(schema, { ...body, apiVersion: 'v1' });
  assert.deepEqual(read(protobuf, '', 'application/vnd.kubernetes.protobuf').preconditions, { uid: 'u' });
  assert.equal(read('propagationPolicy: Foreground', '', 'application/yaml').propagationPolicy, 'Foreground');
  refuses(
    () => read('{"propagationPolicy":"x"}'),
    422,
    'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "x": supported values: "Foreground", "Background", "Orphan", "nil"',
  );
  refuses(
    () => read('{"propagationPolicy":"Orphan","orphanDependents":true}'),
    422,
    'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
  );
  refuses(() => read('{"kind":"Pod"}'), 400, 'decoded object cannot be converted to DeleteOptions');
  refuses(() => read('{'), 400, 'unexpected end of JSON input');
  assert.throws(
    () => read('{}', '', 'text/plain'),
    (error) => (error as ApiError).status.code === 415,
  );
  assert.throws(() => read('{"gracePeriodSeconds":"x"}'), /json: cannot unmarshal string/);
});

test('rejects names that cannot be path segments', () => {
  checkPathSegment('a.b:c', 'Name');
  refuses(() => checkPathSegment('..', 'Name'), 400, `Name parameter invalid: "..": may not be '..'`);
  refuses(
    () => checkPathSegment('a/b%c', 'Name'),
    400,
    `Name parameter invalid: "a/b%c": may not contain '/';may not contain '%'`,
  );
});
