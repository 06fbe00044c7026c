import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { ServiceDefinitionOptions, TypedService } from '../service-definition.ts';

/** The context of a call. */
export type CallContext = {
  /**
   * Aborts when the client no longer waits for the response: the client disconnected (reason `cancelled`), its deadline passed
   * (`deadline_exceeded`), or the server closes (`unavailable`). The signal never aborts after the handler has answered.
   */
  readonly signal: AbortSignal;
  /** The service name that the client called, such as `runtime.v1alpha2.RuntimeService`. */
  readonly service: string;
  /** The method name, such as `RunPodSandbox`. */
  readonly method: string;
};

type Request<M extends { input: DescMessage }> = MessageShape<M['input']>;
type Response<M extends { output: DescMessage }> = MessageInitShape<M['output']>;

/**
 * One function per method: unary methods return a promise of the response's fields, server streams an async iterable of them. A thrown
 * `PodwrightError` is sent to the client with its code and message; other errors become `UNKNOWN`.
 */
export type ServiceHandlers<S extends TypedService> = {
  readonly [K in keyof S['method']]: S['method'][K] extends { methodKind: 'unary' }
    ? (request: Request<S['method'][K]>, context: CallContext) => Promise<Response<S['method'][K]>>
    : (request: Request<S['method'][K]>, context: CallContext) => AsyncIterable<Response<S['method'][K]>>;
};

/**
 * A service with its handlers. Methods without a handler return `UNIMPLEMENTED`. `definition` replaces the service's package, or limits its
 * methods.
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
