import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { grpcServiceDefinition } from '@podwright/grpc';
import { servedIn } from './api-version.ts';
import { ImageService, RuntimeService, type VersionResponse, VersionResponseSchema } from './messages.ts';

test('v1 has the 41 calls of Kubernetes 1.36, v1alpha2 its 27 and the sandbox stats calls', () => {
  const count = (version: 'v1' | 'v1alpha2') =>
    [RuntimeService, ImageService].map(
      (service) => Object.keys(grpcServiceDefinition(service, servedIn(service, version))).length,
    );
  assert.deepEqual(count('v1'), [35, 6]);
  assert.deepEqual(count('v1alpha2'), [24, 5]);
});

test('a service under another package name uses the same messages', () => {
  const { version, getContainerEvents } = grpcServiceDefinition(RuntimeService, { packageName: 'runtime.v1alpha2' });
  assert.equal(version?.path, '/runtime.v1alpha2.RuntimeService/Version');
  assert.equal(version.responseStream, false);
  assert.equal(getContainerEvents?.responseStream, true);
  const message = create(VersionResponseSchema, { runtimeName: 'podwright' });
  const back = version.responseDeserialize(version.responseSerialize(message)) as VersionResponse;
  assert.equal(back.runtimeName, 'podwright');
});

test('unknown fields of a newer client or runtime are preserved', () => {
  const { version } = grpcServiceDefinition(RuntimeService);
  const newer = Buffer.from([0x0a, 1, 0x61, 0xf2, 0x3f, 1, 0x62]); // version: "a", and field 1022: "b"
  const message = version?.responseDeserialize(newer) as VersionResponse;
  assert.equal(message.version, 'a');
  assert.deepEqual(version?.responseSerialize(message), newer);
});
