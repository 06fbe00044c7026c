import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { create, fromBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { type FileDescriptorProto, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { Client, credentials } from '@grpc/grpc-js';
import { silentLogger } from '@podwright/base';
import { grpcServiceDefinition } from '@podwright/grpc';
import {
  ServerReflection,
  ServerReflectionRequestSchema,
  type ServerReflectionResponse,
} from '../../../grpc/src/gen/grpc/reflection/v1/reflection_pb.js';
import { createCriServer } from './create-server.ts';

type Question = MessageInitShape<typeof ServerReflectionRequestSchema>['messageRequest'];

/** Returns a function that sends requests to a server's reflection service, each on its own stream. */
async function open(t: TestContext, packageName = 'grpc.reflection.v1') {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-reflection-'));
  const socket = join(directory, 'cri.sock');
  const server = await createCriServer({ socket, handlers: { runtime: {}, image: {} }, logger: silentLogger });
  const client = new Client(`unix:${socket}`, credentials.createInsecure());
  t.after(async () => {
    client.close();
    await server.close(0);
    await rm(directory, { recursive: true });
  });
  const method = grpcServiceDefinition(ServerReflection, { packageName }).serverReflectionInfo!;
  return async (messageRequest: Question): Promise<ServerReflectionResponse['messageResponse']> => {
    const stream = client.makeBidiStreamRequest(method.path, method.requestSerialize, method.responseDeserialize);
    stream.write(create(ServerReflectionRequestSchema, { messageRequest }));
    const [answer] = await once(stream, 'data');
    stream.end();
    await once(stream, 'end');
    return (answer as ServerReflectionResponse).messageResponse;
  };
}

function filesIn(answer: ServerReflectionResponse['messageResponse']): Map<string, FileDescriptorProto> {
  if (answer.case !== 'fileDescriptorResponse') throw new Error(`unexpected ${answer.case}`);
  const files = answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
  return new Map(files.map((file) => [file.name, file]));
}

for (const packageName of ['grpc.reflection.v1', 'grpc.reflection.v1alpha']) {
  test(`${packageName} lists the services in both versions, and health`, async (t) => {
    const ask = await open(t, packageName);
    const answer = await ask({ case: 'listServices', value: '*' });
    assert.ok(answer.case === 'listServicesResponse');
    assert.deepEqual(answer.value.service.map(({ name }) => name).sort(), [
      'grpc.health.v1.Health',
      'runtime.v1.ImageService',
      'runtime.v1.RuntimeService',
      'runtime.v1alpha2.ImageService',
      'runtime.v1alpha2.RuntimeService',
    ]);
  });
}

for (const [version, methods] of [
  ['v1', [35, 6]],
  ['v1alpha2', [24, 5]],
] as const) {
  test(`all of ${version} is described in its own package`, async (t) => {
    const ask = await open(t);
    const files = filesIn(await ask({ case: 'fileContainingSymbol', value: `runtime.${version}.ImageService` }));
    const services = files.get(`runtime/${version}/services.proto`)?.service ?? [];
    assert.deepEqual(
      services.map(({ method }) => method.length),
      methods,
    );
    for (const file of files.values()) {
      assert.equal(file.package, `runtime.${version}`);
      for (const dependency of file.dependency) assert.ok(files.has(dependency), `${dependency} is missing`);
      for (const field of file.messageType.flatMap((message) => message.field)) {
        assert.ok(field.typeName === '' || field.typeName.startsWith(`.runtime.${version}.`), field.typeName);
      }
    }
  });
}

test('files are found by name and by their symbols', async (t) => {
  const ask = await open(t);
  const path = 'runtime/v1/security.proto';
  assert.deepEqual([...filesIn(await ask({ case: 'fileByFilename', value: path })).keys()], [path]);
  for (const symbol of ['SecurityProfile', 'SecurityProfile.ProfileType', 'NamespaceMode']) {
    const files = filesIn(await ask({ case: 'fileContainingSymbol', value: `runtime.v1.${symbol}` }));
    assert.ok(files.has(path), symbol);
  }
  const method = 'runtime.v1.RuntimeService.Version';
  const files = filesIn(await ask({ case: 'fileContainingSymbol', value: method }));
  assert.ok(files.has('runtime/v1/services.proto'));
});

test('unknown files and symbols are reported as not found', async (t) => {
  const ask = await open(t);
  const notFound = async (question: Question) => {
    const answer = await ask(question);
    assert.ok(answer.case === 'errorResponse');
    assert.equal(answer.value.errorCode, 5);
  };
  await notFound({ case: 'fileByFilename', value: 'nowhere.proto' });
  await notFound({ case: 'fileContainingSymbol', value: 'runtime.v1alpha2.RuntimeService.RuntimeConfig' });
  await notFound({ case: 'allExtensionNumbersOfType', value: 'runtime.v1.Mount' });
});
