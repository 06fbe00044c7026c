import type { DescMethod, DescService, MessageInitShape, MessageShape } from '@bufbuild/protobuf';

/** The part of a generated service descriptor that types are taken from. */
export type TypedService = Pick<DescService, 'methods' | 'typeName'> & { method: Record<string, DescMethod> };

/** What a call may be given beside its message. */
export type CallOptions = {
  /** Ends the waiting; ttrpc has no way to tell the other side. */
  signal?: AbortSignal;
  /** After so long the call fails with `deadline_exceeded`, 30 s where nothing is said; 0 means never. */
  timeoutMs?: number;
};

/** Every method of a service, under its name in lower camel case. */
export type TtrpcClient<S extends TypedService> = {
  [M in keyof S['method']]: (
    request: MessageInitShape<S['method'][M]['input']>,
    options?: CallOptions,
  ) => Promise<MessageShape<S['method'][M]['output']>>;
};

/** What serves the methods of a service. The signal aborts when the caller's time is over or its connection is gone. */
export type TtrpcHandlers<S extends TypedService> = {
  [M in keyof S['method']]: (
    request: MessageShape<S['method'][M]['input']>,
    signal: AbortSignal,
  ) => Promise<MessageInitShape<S['method'][M]['output']>>;
};
