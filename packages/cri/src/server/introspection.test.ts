import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fromBinary } from '@bufbuild/protobuf';
import { BinaryReader, BinaryWriter, base64Encode } from '@bufbuild/protobuf/wire';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { Client, credentials } from '@grpc/grpc-js';
import { silentLogger } from '@podwright/base';
import { createCriServer } from './create-server.ts';

async function open(t: TestContext): Promise<Client> {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-introspection-'));
  const socket = join(directory, 'cri.sock');
  const server = await createCriServer({ socket, handlers: { runtime: {}, image: {} }, logger: silentLogger });
  const client = new Client(`unix:${socket}`, credentials.createInsecure());
  t.after(async () => {
    client.close();
    await server.close(0);
    await rm(directory, { recursive: true });
  });
  return client;
}

const asIs = (bytes: Buffer): Buffer => bytes;

/** A message with one string field. */
const text = (field: number, value: string) =>
  Buffer.from(
    new BinaryWriter()
      .uint32((field << 3) | 2)
      .string(value)
      .finish(),
  );

/** The submessages or strings in a field of a message. */
function fieldsOf(message: Uint8Array, wanted: number): Uint8Array[] {
  const reader = new BinaryReader(message);
  const found: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === wanted) found.push(reader.bytes());
    else reader.skip(wireType);
  }
  return found;
}

/** Asks the reflection service (grpc.reflection.v1) one question. */
async function reflect(client: Client, question: Buffer): Promise<Buffer> {
  const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
  const stream = client.makeBidiStreamRequest(path, asIs, asIs);
  stream.write(question);
  stream.end();
  for await (const answer of stream) return answer as Buffer;
  throw new Error('no answer');
}

const LIST_SERVICES = 7;
const FILE_CONTAINING_SYMBOL = 4;
const LIST_SERVICES_RESPONSE = 6;
const FILE_DESCRIPTOR_RESPONSE = 4;

test('reflection names the services in both versions', async (t) => {
  const answer = await reflect(await open(t), text(LIST_SERVICES, '*'));
  const services = fieldsOf(fieldsOf(answer, LIST_SERVICES_RESPONSE)[0]!, 1);
  assert.deepEqual(services.map((service) => Buffer.from(fieldsOf(service, 1)[0]!).toString()).sort(), [
    'runtime.v1.ImageService',
    'runtime.v1.RuntimeService',
    'runtime.v1alpha2.ImageService',
    'runtime.v1alpha2.RuntimeService',
  ]);
});

for (const version of ['v1', 'v1alpha2']) {
  test(`reflection describes the whole of ${version} in its own package`, async (t) => {
    const question = text(FILE_CONTAINING_SYMBOL, `runtime.${version}.RuntimeService`);
    const answer = await reflect(await open(t), question);
    const files = fieldsOf(fieldsOf(answer, FILE_DESCRIPTOR_RESPONSE)[0]!, 1).map((bytes) =>
      fromBinary(FileDescriptorProtoSchema, bytes),
    );
    const names = new Set(files.map(({ name }) => name));
    assert.ok(names.has(`runtime/${version}/services.proto`));
    for (const file of files) {
      assert.equal(file.package, `runtime.${version}`);
      for (const dependency of file.dependency) assert.ok(names.has(dependency), `${dependency} is missing`);
      for (const field of file.messageType.flatMap((message) => message.field)) {
        assert.ok(field.typeName === '' || field.typeName.startsWith(`.runtime.${version}.`), field.typeName);
      }
    }
  });
}

test('the health service says that the server and its services serve', async (t) => {
  const client = await open(t);
  const check = (service: string) =>
    new Promise((resolve, reject) => {
      const path = '/grpc.health.v1.Health/Check';
      client.makeUnaryRequest(path, asIs, asIs, text(1, service), (error, answer) =>
        error ? reject(error) : resolve(base64Encode(answer!)),
      );
    });
  const serving = base64Encode(Buffer.from([0x08, 1]));
  assert.equal(await check(''), serving);
  assert.equal(await check('runtime.v1.RuntimeService'), serving);
  await assert.rejects(check('nobody'), { code: 5 });
});
