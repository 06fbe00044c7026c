import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { ApiError } from '@podwright/api-machinery';
import type { HttpRequest } from './http-exchange.ts';
import { acceptsGzip, checkAccept, negotiateObject, negotiateStatus, negotiateWatch } from './negotiation.ts';

const exchange = (headers: Record<string, string>, query = '') => ({
  request: Object.assign(Readable.from([]), { headers, rawHeaders: [], httpVersionMajor: 1 }) as HttpRequest,
  query: new URLSearchParams(query),
});
const accepting = (accept: string, query = '') => exchange({ accept }, query);

const JSON_TYPE = 'application/json';
const YAML = 'application/yaml';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const TABLE = `${JSON_TYPE};as=Table;v=v1;g=meta.k8s.io`;

test('chooses the media type by quality, then specificity, then order', () => {
  const check = (accept: string, mediaType: string) =>
    assert.equal(negotiateObject(accepting(accept)).mediaType, mediaType, accept);
  check('', JSON_TYPE);
  check('*/*', JSON_TYPE);
  check('*', JSON_TYPE);
  check('application/*', JSON_TYPE);
  check(YAML, YAML);
  check(`${PROTOBUF},${JSON_TYPE}`, PROTOBUF);
  check(`${PROTOBUF};q=0.5,${JSON_TYPE};q=0.9`, JSON_TYPE);
  check(`text/html, ${YAML};q=0.2, */*;q=0.1`, YAML);
  check(`*/*, ${YAML}`, YAML);
  check(`nonsense,a/b/c,${YAML}`, YAML);
});

test('responds with 406 if no media type is acceptable', () => {
  const types = `${JSON_TYPE}, ${YAML}, ${PROTOBUF}`;
  for (const accept of ['text/html', 'application/cbor', `${PROTOBUF};as=Table;v=v1;g=meta.k8s.io`, 'nonsense'])
    assert.throws(
      () => negotiateObject(accepting(accept)),
      (error) => {
        const { code, reason, message } = (error as ApiError).status;
        assert.deepEqual([code, reason], [406, 'NotAcceptable']);
        return message === `only the following media types are accepted: ${types}`;
      },
      accept,
    );
  const streams = `${JSON_TYPE};stream=watch, ${PROTOBUF};stream=watch`;
  assert.throws(() => negotiateWatch(accepting(YAML)), {
    message: `only the following media types are accepted: ${streams}`,
  });
});

test('rejects an Accept header without a known media type or full wildcard before handling the request', () => {
  for (const accept of ['', '*/*', `text/html, ${YAML};q=0.1`, `${JSON_TYPE};as=Wrong`])
    assert.doesNotThrow(() => checkAccept(accepting(accept), { isList: false }), accept);
  const message = `406: Not Acceptable\n\nAvailable representations: ${JSON_TYPE}, ${YAML}, ${PROTOBUF}`;
  for (const accept of ['text/html', 'application/*'])
    assert.throws(() => checkAccept(accepting(accept), { isList: false }), { message });
  const streams = `, ${JSON_TYPE};stream=watch, ${PROTOBUF};stream=watch`;
  assert.throws(() => checkAccept(accepting('text/html'), { isList: true }), { message: message + streams });
});

test('converts to the kind preferred by the client among those available', () => {
  const conversion = (accept: string) => negotiateObject(accepting(accept)).convertTo;
  assert.deepEqual(conversion(`${TABLE},${JSON_TYPE}`), { kind: 'Table', version: 'v1' });
  assert.deepEqual(conversion(`${JSON_TYPE};as=Table;v=v1beta1;g=meta.k8s.io`), { kind: 'Table', version: 'v1beta1' });
  assert.equal(conversion(`${JSON_TYPE};as=Table;v=v2;g=meta.k8s.io,${JSON_TYPE}`), undefined);
  assert.equal(conversion(`${JSON_TYPE};as=Other;v=v1;g=meta.k8s.io,${JSON_TYPE}`), undefined);
  assert.equal(conversion(`${JSON_TYPE};as=__proto__;v=v1;g=meta.k8s.io,${JSON_TYPE}`), undefined);
  const partial = negotiateObject(accepting(`${PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`));
  assert.deepEqual([partial.mediaType, partial.convertTo?.kind], [PROTOBUF, 'PartialObjectMetadataList']);
});

test('accepts the watch parameter, and never converts errors', () => {
  assert.equal(negotiateWatch(accepting(`${PROTOBUF};stream=watch`)).mediaType, PROTOBUF);
  assert.equal(negotiateWatch(accepting(`${YAML};stream=watch,${JSON_TYPE}`)).mediaType, JSON_TYPE);
  assert.deepEqual(negotiateStatus(accepting(`${TABLE},${YAML}`))?.mediaType, YAML);
  assert.equal(negotiateStatus(accepting(TABLE)), undefined);
});

test('indents JSON for people', () => {
  const isPretty = (headers: Record<string, string>, query?: string) =>
    negotiateObject(exchange(headers, query)).isPretty;
  assert.equal(isPretty({}), false);
  assert.equal(isPretty({ 'user-agent': 'curl/8.0' }), true);
  assert.equal(isPretty({ 'user-agent': 'curl/8.0' }, 'pretty=false'), false);
  assert.equal(isPretty({}, 'pretty=1'), true);
  assert.equal(isPretty({ accept: `${JSON_TYPE};pretty=1` }), true);
});

test('bounds long Accept headers, and detects gzip among the encodings', () => {
  const accept = `${'a/b;q=0.1,'.repeat(100_000)}${JSON_TYPE}`;
  assert.throws(() => negotiateObject(accepting(accept)), /only the following media types/);
  assert.equal(acceptsGzip(exchange({ 'accept-encoding': 'br, gzip' })), true);
  assert.equal(acceptsGzip(exchange({ 'accept-encoding': 'gzipped' })), false);
});
