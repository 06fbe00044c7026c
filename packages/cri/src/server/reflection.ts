import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Server, type ServerDuplexStream, status } from '@grpc/grpc-js';
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from '../gen/grpc/reflection/v1/reflection_pb.js';
import { grpcServiceDefinition } from '../service-definition.ts';
import { ServedFiles, type ServedService } from './served-files.ts';

type Answer = MessageInitShape<typeof ServerReflectionResponseSchema>;
type ReflectionStream = ServerDuplexStream<ServerReflectionRequest, Answer>;

/** The names under which tools of different ages ask. */
const PACKAGES = ['grpc.reflection.v1', 'grpc.reflection.v1alpha'];

/** Adds the reflection service, which tells tools such as grpcurl what `services` can be asked. */
export function addReflection(server: Server, services: readonly ServedService[]): void {
  const files = new ServedFiles(services);
  const names = services.map(({ fullName }) => fullName);
  const serverReflectionInfo = (stream: ReflectionStream) => {
    stream.on('data', (request: ServerReflectionRequest) => {
      if (!stream.write({ ...answer(request, { files, names }), originalRequest: request })) stream.pause();
    });
    stream.on('drain', () => stream.resume());
    stream.on('end', () => stream.end());
  };
  for (const packageName of PACKAGES) {
    server.addService(grpcServiceDefinition(ServerReflection, { packageName }), { serverReflectionInfo });
  }
}

function answer(
  { messageRequest: question }: ServerReflectionRequest,
  { files, names }: { files: ServedFiles; names: string[] },
): Answer {
  switch (question.case) {
    case 'listServices': {
      const service = names.map((name) => ({ name }));
      return { messageResponse: { case: 'listServicesResponse', value: { service } } };
    }
    case 'fileByFilename':
      return fileAnswer(files.withImports(question.value), `file ${question.value}`);
    case 'fileContainingSymbol':
      return fileAnswer(files.withImports(files.fileOf(question.value) ?? ''), question.value);
    case 'allExtensionNumbersOfType':
    case 'fileContainingExtension':
      return failure(status.NOT_FOUND, 'there are no extensions here');
    default:
      return failure(status.INVALID_ARGUMENT, 'a question of an unknown kind');
  }
}

function fileAnswer(fileDescriptorProto: Uint8Array[] | undefined, what: string): Answer {
  if (fileDescriptorProto === undefined) return failure(status.NOT_FOUND, `no ${what} here`);
  return { messageResponse: { case: 'fileDescriptorResponse', value: { fileDescriptorProto } } };
}

function failure(errorCode: number, errorMessage: string): Answer {
  return { messageResponse: { case: 'errorResponse', value: { errorCode, errorMessage } } };
}
