/** Observes every call of a client. `started` returns a callback for its end, which takes the error of a failed call. */
export type CallObserver = { started(method: string): (error?: unknown) => void };
