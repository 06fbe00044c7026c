import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { statusNumber } from '@podwright/base';
import {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from '../gen/grpc/reflection/v1/reflection_pb.js';
import { withPrefix } from '../message-reader.ts';
import { grpcServiceDefinition } from '../service-definition.ts';
import type { GrpcCall } from './grpc-call.ts';
import type { AnswerCall } from './grpc-server.ts';
import { ServedFiles, type ServedService } from './served-files.ts';

/** `files` builds the served files lazily: most servers never receive a reflection request, and the files of the CRI take 0.3 MiB. */
type Known = { files: () => ServedFiles; names: string[] };
type Answer = MessageInitShape<typeof ServerReflectionResponseSchema>;

/** Package names of the reflection service, as used by newer and older tools. */
const PACKAGES = ['grpc.reflection.v1', 'grpc.reflection.v1alpha'];

/** Returns the methods of the reflection service, which describes `services` to tools such as grpcurl. */
export function reflectionMethods(services: readonly ServedService[]): [path: string, AnswerCall][] {
  let built: ServedFiles | undefined;
  const files = () => {
    built ??= new ServedFiles(services);
    return built;
  };
  const names = services.map(({ fullName }) => fullName);
  const serve = (call: GrpcCall) => void converse(call, { files, names });
  return PACKAGES.map((packageName) => {
    return [grpcServiceDefinition(ServerReflection, { packageName }).serverReflectionInfo!.path, serve];
  });
}

async function converse(call: GrpcCall, known: Known): Promise<void> {
  try {
    call.open();
    for await (const bytes of call.requests()) {
      const originalRequest = fromBinary(ServerReflectionRequestSchema, bytes);
      const response = create(ServerReflectionResponseSchema, { ...answer(originalRequest, known), originalRequest });
      await call.send(withPrefix(toBinary(ServerReflectionResponseSchema, response)));
    }
    call.end();
  } catch (error) {
    call.fail(error);
  }
}

function answer({ messageRequest: question }: ServerReflectionRequest, { files, names }: Known): Answer {
  switch (question.case) {
    case 'listServices': {
      const service = names.map((name) => ({ name }));
      return { messageResponse: { case: 'listServicesResponse', value: { service } } };
    }
    case 'fileByFilename':
      return fileAnswer(files().withImports(question.value), `file ${question.value}`);
    case 'fileContainingSymbol':
      return fileAnswer(files().withImports(files().fileOf(question.value) ?? ''), question.value);
    case 'allExtensionNumbersOfType':
    case 'fileContainingExtension':
      return failure(statusNumber('not_found'), 'there are no extensions');
    default:
      return failure(statusNumber('invalid_argument'), 'an unknown kind of request');
  }
}

function fileAnswer(fileDescriptorProto: Uint8Array[] | undefined, what: string): Answer {
  if (fileDescriptorProto === undefined) return failure(statusNumber('not_found'), `no ${what} here`);
  return { messageResponse: { case: 'fileDescriptorResponse', value: { fileDescriptorProto } } };
}

function failure(errorCode: number, errorMessage: string): Answer {
  return { messageResponse: { case: 'errorResponse', value: { errorCode, errorMessage } } };
}
