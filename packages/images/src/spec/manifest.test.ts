import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseImageConfig, parseManifest } from './manifest.ts';
import { mediaTypes } from './media-types.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const layer = { mediaType: `${mediaTypes.ociLayer}+gzip`, digest, size: 7 };
const config = { mediaType: mediaTypes.ociConfig, digest, size: 3 };
const manifest = { schemaVersion: 2, mediaType: mediaTypes.ociManifest, config, layers: [layer] };

const bytes = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

function checkRefused(value: unknown, message: RegExp, mediaType = ''): void {
  assert.throws(() => parseManifest(bytes(value), mediaType, 'manifest x'), message);
}

test('manifests are distinguished from indexes, both OCI and Docker', () => {
  assert.equal(parseManifest(bytes(manifest), '', 'x').kind, 'manifest');
  const untyped = { schemaVersion: 2, config, layers: [layer] };
  assert.equal(parseManifest(bytes(untyped), mediaTypes.dockerManifest, 'x').mediaType, mediaTypes.dockerManifest);
  const index = parseManifest(bytes({ schemaVersion: 2, manifests: [config] }), mediaTypes.dockerList, 'x');
  assert.deepEqual([index.kind, index.mediaType], ['index', mediaTypes.dockerList]);
  const empty = parseManifest(bytes({ schemaVersion: 2, config, layers: null }), '', 'x');
  assert.ok(empty.kind === 'manifest' && empty.layers.length === 0);
});

test('invalid manifests are refused with the reason', () => {
  checkRefused('{', /manifest x: not JSON/);
  checkRefused('[]', /manifest x: .*expected object/);
  checkRefused({ schemaVersion: 2 }, /neither/);
  checkRefused({ ...manifest, manifests: [] }, /both an index and a manifest/);
  checkRefused({ schemaVersion: 1, fsLayers: [] }, /schema 1/);
  checkRefused({ ...manifest, layers: [{ ...layer, size: -1 }] }, /layers\.0\.size/);
  checkRefused({ ...manifest, layers: [{ ...layer, size: 1e300 }] }, /layers\.0\.size/);
  checkRefused({ ...manifest, layers: [{ ...layer, digest: '../../etc' }] }, /layers\.0\.digest/);
  checkRefused({ ...manifest, layers: Array(10_000).fill(layer) }, /10000 layers, more than the 500/);
  checkRefused(
    { ...manifest, layers: [{ ...layer, mediaType: 'application/vnd.cncf.helm' }] },
    /not a container image/,
  );
  checkRefused({ ...manifest, mediaType: mediaTypes.ociIndex }, /it is a manifest, not/);
  checkRefused({ manifests: [] }, /it is an index, not/, mediaTypes.ociManifest);
});

test('everything in a config except its root file system is optional', () => {
  const parsed = parseImageConfig(bytes({ rootfs: { type: 'layers' }, config: null }), 0, 'config x');
  assert.deepEqual([parsed.os, parsed.architecture, parsed.config], ['linux', '', {}]);
  const full = { architecture: 'amd64', os: 'linux', rootfs: { type: 'layers', diff_ids: [digest] } };
  const settings = { Env: null, Cmd: ['sh'], Volumes: { '/data': {} }, User: '1000', Healthcheck: { Test: [] } };
  const image = parseImageConfig(bytes({ ...full, config: settings }), 1, 'config x');
  assert.deepEqual([image.config.Env, image.config.Cmd, image.config.Volumes], [undefined, ['sh'], { '/data': {} }]);
});

test('null in a config is an empty value, as in Go', () => {
  const rootfs = { type: null, diff_ids: [digest] };
  const settings = { Labels: { a: null, b: 'c' }, Env: ['A=1', null], Volumes: { '/data': null }, StopSignal: null };
  const named = { architecture: null, os: null, variant: null, created: null };
  const image = parseImageConfig(bytes({ ...named, rootfs, config: settings }), 1, 'config x');
  assert.deepEqual(image.config.Labels, { a: '', b: 'c' });
  assert.deepEqual(image.config.Env, ['A=1', '']);
  assert.deepEqual(image.config.Volumes, { '/data': {} });
  assert.deepEqual([image.architecture, image.os, image.variant, image.created], ['', 'linux', undefined, undefined]);
  const platform = { os: 'linux', architecture: 'amd64', variant: null };
  const descriptor = { mediaType: null, digest, size: 1, annotations: { a: null }, platform };
  const index = parseManifest(bytes({ schemaVersion: null, mediaType: null, manifests: [descriptor] }), '', 'x');
  assert.deepEqual(index.kind === 'index' && index.manifests[0]?.annotations, { a: '' });
  assert.throws(() => parseImageConfig(bytes({ config: { Cmd: [1] }, rootfs: {} }), 0, 'config x'), /config\.Cmd/);
});

test('a config that does not match its manifest is refused', () => {
  assert.throws(
    () => parseImageConfig(bytes({ rootfs: { diff_ids: [digest] } }), 2, 'config x'),
    /1 diff id for 2 layers/,
  );
  assert.throws(
    () => parseImageConfig(bytes({ rootfs: { diff_ids: ['x'] } }), 1, 'config x'),
    /"x" is not a sha256 digest/,
  );
  assert.throws(() => parseImageConfig(bytes({}), 1, 'config x'), /rootfs: .*this is an artifact, not an image/);
  assert.throws(() => parseImageConfig(bytes({ config: { Cmd: 'sh' } }), 0, 'config x'), /config\.Cmd/);
});
