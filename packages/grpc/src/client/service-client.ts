import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { grpcServiceDefinition, type ServiceDefinitionOptions, type TypedService } from '../service-definition.ts';
import type { CallOptions, Connection } from './connection.ts';

type Input<M extends { input: DescMessage }> = MessageInitShape<M['input']>;
type Output<M extends { output: DescMessage }> = MessageShape<M['output']>;

/**
 * A service as an object of functions. A unary method returns a promise for the response. A server stream starts when its function is
 * called and ends when the caller breaks out of the iteration or aborts the signal, so the caller must do one or the other. Errors are
 * `PodwrightError`s with the server's code and message, or the signal's abort reason.
 */
export type ServiceClient<S extends TypedService> = {
  readonly [K in keyof S['method']]: S['method'][K] extends { methodKind: 'unary' }
    ? (request: Input<S['method'][K]>, options?: CallOptions) => Promise<Output<S['method'][K]>>
    : S['method'][K] extends { methodKind: 'server_streaming' }
      ? (request: Input<S['method'][K]>, options?: CallOptions) => AsyncIterable<Output<S['method'][K]>>
      : never;
};

/** Binds all methods of the service to the connection. `packageName` replaces the service's own package name. */
export function createServiceClient<S extends TypedService>(
  service: S,
  connection: Connection,
  options: Pick<ServiceDefinitionOptions, 'packageName'> = {},
): ServiceClient<S> {
  const methods = Object.entries(grpcServiceDefinition(service, options)).map(([name, method]) => [
    name,
    method.responseStream
      ? (request: object, options?: CallOptions) => connection.serverStream({ name, method, request, options })
      : (request: object, options?: CallOptions) => connection.unary({ name, method, request, options }),
  ]);
  return Object.fromEntries(methods) as ServiceClient<S>;
}
