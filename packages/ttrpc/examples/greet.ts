import { create, createFileRegistry } from '@bufbuild/protobuf';
import type { GenService } from '@bufbuild/protobuf/codegenv2';
import {
  FileDescriptorProtoSchema,
  file_google_protobuf_wrappers,
  type StringValueSchema,
} from '@bufbuild/protobuf/wkt';
import { silentLogger } from '@podwright/base';
import { TtrpcConnection, TtrpcServer } from '@podwright/ttrpc';

// Services and their types are usually generated from a .proto file by protoc-gen-es; this one is written by hand.
type Text = typeof StringValueSchema;
type GreeterService = GenService<{ greet: { methodKind: 'unary'; input: Text; output: Text } }>;
const text = '.google.protobuf.StringValue';
const file = create(FileDescriptorProtoSchema, {
  name: 'greeter.proto',
  package: 'example',
  syntax: 'proto3',
  dependency: ['google/protobuf/wrappers.proto'],
  service: [{ name: 'Greeter', method: [{ name: 'Greet', inputType: text, outputType: text }] }],
});
const registry = createFileRegistry(file, () => file_google_protobuf_wrappers);
const Greeter = registry.getService('example.Greeter') as GreeterService;

const [socket = '/tmp/greeter.sock'] = process.argv.slice(2);
const server = new TtrpcServer({ logger: silentLogger });
server.add(Greeter, { greet: async ({ value }) => ({ value: `hello, ${value}` }) });
await server.listen(socket, 0o600);

const connection = await TtrpcConnection.connect(socket, AbortSignal.timeout(10_000));
const { value } = await connection.client(Greeter).greet({ value: 'containerd' });
console.log(value);
connection.close();
await server.close();
