import {
  create,
  type DescMessage,
  type DescMethod,
  type DescService,
  fromBinary,
  type Message,
  toBinary,
} from '@bufbuild/protobuf';

/** The part of a generated service descriptor from which the types of handlers and clients are derived. */
export type TypedService = Pick<DescService, 'methods' | 'name' | 'file'> & { method: Record<string, DescMethod> };

/** Overrides a service's package name on the wire, and selects the methods that this version of the package has. */
export type ServiceDefinitionOptions = {
  /** Overrides the package name in the descriptor, such as `runtime.v1alpha2` instead of `runtime.v1`. */
  packageName?: string;
  /** Local names of the methods to include; all methods if omitted. */
  methods?: ReadonlySet<string>;
};

/** A method's wire definition, with the same shape as in grpc-js. Serializers accept a message or its fields. */
export type GrpcMethod = {
  path: string;
  requestStream: boolean;
  responseStream: boolean;
  originalName: string;
  requestSerialize: (message: Message) => Buffer;
  requestDeserialize: (bytes: Buffer) => Message;
  responseSerialize: (message: Message) => Buffer;
  responseDeserialize: (bytes: Buffer) => Message;
};

/** The methods of a service, keyed by their local (camelCase) names. */
export type GrpcServiceDefinition = Readonly<Record<string, GrpcMethod>>;

/**
 * Converts the descriptor of a protobuf service to a definition for servers and clients. The package name does not affect the messages, so
 * two versions of a service with the same wire format can share them.
 */
export function grpcServiceDefinition(
  service: Pick<DescService, 'methods' | 'name' | 'file'>,
  options: ServiceDefinitionOptions = {},
): GrpcServiceDefinition {
  const fullName = `${options.packageName ?? service.file.proto.package}.${service.name}`;
  return Object.fromEntries(
    service.methods
      .filter((method) => options.methods?.has(method.localName) ?? true)
      .map((method) => [method.localName, methodDefinition(method, fullName)]),
  );
}

function methodDefinition(method: DescMethod, serviceName: string): GrpcMethod {
  return {
    path: `/${serviceName}/${method.name}`,
    requestStream: method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming',
    responseStream: method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming',
    originalName: method.localName,
    requestSerialize: serializer(method.input),
    requestDeserialize: deserializer(method.input),
    responseSerialize: serializer(method.output),
    responseDeserialize: deserializer(method.output),
  };
}

function serializer(schema: DescMessage): (message: Message) => Buffer {
  return (message) => {
    const bytes = toBinary(schema, create(schema, message));
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
}

function deserializer(schema: DescMessage): (bytes: Buffer) => Message {
  return (bytes) => fromBinary(schema, bytes);
}
