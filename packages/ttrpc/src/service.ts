import type { DescMethod, DescService, MessageInitShape, MessageShape } from '@bufbuild/protobuf';

/** The part of a generated service descriptor that types are derived from. */
export type TypedService = Pick<DescService, 'methods' | 'typeName'> & { method: Record<string, DescMethod> };

/** Options for a ttrpc call. */
export type CallOptions = {
  /** Aborting this signal stops waiting for the response. The server is not notified, because ttrpc has no cancel message. */
  signal?: AbortSignal;
  /** Timeout after which the call fails with `deadline_exceeded`. Default: 30 s; 0 means no timeout. */
  timeoutMs?: number;
};

/** A service's methods, by lowerCamelCase name. */
export type TtrpcClient<S extends TypedService> = {
  [M in keyof S['method']]: (
    request: MessageInitShape<S['method'][M]['input']>,
    options?: CallOptions,
  ) => Promise<MessageShape<S['method'][M]['output']>>;
};

/** The handlers of a service's methods. The signal aborts at the caller's deadline, or when the caller's connection is closed. */
export type TtrpcHandlers<S extends TypedService> = {
  [M in keyof S['method']]: (
    request: MessageShape<S['method'][M]['input']>,
    signal: AbortSignal,
  ) => Promise<MessageInitShape<S['method'][M]['output']>>;
};
