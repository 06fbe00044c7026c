import type { DescMethod, DescService, MessageInitShape, MessageShape } from '@bufbuild/protobuf';

/** The part of a generated service descriptor that types are taken from. */
export type TypedService = Pick<DescService, 'methods' | 'typeName'> & { method: Record<string, DescMethod> };

/** Options of a call. */
export type CallOptions = {
  /** Ends the waiting; ttrpc has no message that cancels a call. */
  signal?: AbortSignal;
  /** After this time the call fails with `deadline_exceeded` (default 30 s); 0 means never. */
  timeoutMs?: number;
};

/** Every method of a service, under its name in lower camel case. */
export type TtrpcClient<S extends TypedService> = {
  [M in keyof S['method']]: (
    request: MessageInitShape<S['method'][M]['input']>,
    options?: CallOptions,
  ) => Promise<MessageShape<S['method'][M]['output']>>;
};

/** The handlers of the methods of a service. The signal aborts when the caller's time is over or its connection is gone. */
export type TtrpcHandlers<S extends TypedService> = {
  [M in keyof S['method']]: (
    request: MessageShape<S['method'][M]['input']>,
    signal: AbortSignal,
  ) => Promise<MessageInitShape<S['method'][M]['output']>>;
};
