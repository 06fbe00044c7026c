import { create, createFileRegistry } from '@bufbuild/protobuf';
import type { GenService } from '@bufbuild/protobuf/codegenv2';
import {
  FileDescriptorProtoSchema,
  file_google_protobuf_wrappers,
  type StringValueSchema,
} from '@bufbuild/protobuf/wkt';
import { silentLogger } from '@podwright/base';
import { connectService, handleService, serveServices } from '@podwright/grpc';

// Services and their types are usually generated from a .proto file by protoc-gen-es; this one is defined by hand.
type Text = typeof StringValueSchema;
type GreeterService = GenService<{
  greet: { methodKind: 'unary'; input: Text; output: Text };
  count: { methodKind: 'server_streaming'; input: Text; output: Text };
}>;
const text = { inputType: '.google.protobuf.StringValue', outputType: '.google.protobuf.StringValue' };
const file = create(FileDescriptorProtoSchema, {
  name: 'greeter.proto',
  package: 'example',
  syntax: 'proto3',
  dependency: ['google/protobuf/wrappers.proto'],
  service: [
    {
      name: 'Greeter',
      method: [
        { name: 'Greet', ...text },
        { name: 'Count', serverStreaming: true, ...text },
      ],
    },
  ],
});
const registry = createFileRegistry(file, () => file_google_protobuf_wrappers);
const Greeter = registry.getService('example.Greeter') as GreeterService;

const [socket = '/tmp/greeter.sock'] = process.argv.slice(2);
const greeter = handleService(Greeter, {
  greet: async ({ value }) => ({ value: `hello, ${value}` }),
  count: async function* ({ value }) {
    for (const letter of value) yield { value: letter };
  },
});
const server = await serveServices([greeter], { socket, logger: silentLogger });

const client = connectService(Greeter, socket, { maxReceiveBytes: 4 << 20 });
const { value } = await client.greet({ value: 'kubelet' });
console.log(value);
for await (const message of client.count({ value: 'abc' })) console.log(message.value);
client.close();
await server.close();
