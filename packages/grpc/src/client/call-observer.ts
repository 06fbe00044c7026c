/** Observes every call made by a client. `started` returns a callback to be invoked when the call ends, with the error if it failed. */
export type CallObserver = { started(method: string): (error?: unknown) => void };
