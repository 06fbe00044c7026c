import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { ServiceDefinitionOptions, TypedService } from '../service-definition.ts';

/** The context of a call. */
export type CallContext = {
  /**
   * Aborts when the client is no longer waiting for the response: it disconnected (reason `cancelled`), its deadline passed
   * (`deadline_exceeded`), or the server is closing (`unavailable`). The signal never aborts after the handler has answered.
   */
  readonly signal: AbortSignal;
  /** The service name that the client called, such as `runtime.v1alpha2.RuntimeService`. */
  readonly service: string;
  /** The method name, such as `RunPodSandbox`. */
  readonly method: string;
  /** Returns the value of a request header (gRPC metadata) by its lower-case name. Absent for in-process calls. */
  header?(name: string): string | undefined;
};

type Request<M extends { input: DescMessage }> = MessageShape<M['input']>;
type Response<M extends { output: DescMessage }> = MessageInitShape<M['output']>;

/**
 * One function per method: a unary method returns a promise for the fields of the response, a server stream an async iterable of them. A
 * thrown `PodwrightError` is sent to the client with its code and message; any other error becomes `UNKNOWN`.
 */
export type ServiceHandlers<S extends TypedService> = {
  readonly [K in keyof S['method']]: S['method'][K] extends { methodKind: 'unary' }
    ? (request: Request<S['method'][K]>, context: CallContext) => Promise<Response<S['method'][K]>>
    : (request: Request<S['method'][K]>, context: CallContext) => AsyncIterable<Response<S['method'][K]>>;
};

/**
 * A service with its handlers. Methods without a handler return `UNIMPLEMENTED`. `definition` overrides the service's package or restricts
 * its methods.
 */
export type HandledService = {
  service: TypedService;
  handlers: Partial<ServiceHandlers<TypedService>>;
  definition?: ServiceDefinitionOptions;
};

/** Pairs a service with its handlers, whose types must match the service. */
export function handleService<S extends TypedService>(
  service: S,
  handlers: Partial<ServiceHandlers<S>>,
): HandledService {
  return { service, handlers: handlers as HandledService['handlers'] };
}
