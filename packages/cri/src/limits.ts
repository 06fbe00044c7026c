/** How long a client waits for a container runtime that has not started yet, in milliseconds. */
export const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;

/** Deadline of an ordinary call, same as the default of the kubelet's `runtimeRequestTimeout`. */
export const DEFAULT_CALL_TIMEOUT_MS = 120_000;

/** Delay after a failed connection attempt, in milliseconds. It doubles from `initial` up to `max`. */
export const CONNECT_RETRY_MS = { initial: 50, max: 1000 };

/** Minimum interval between log lines about the same error. */
export const REPEATED_ERROR_AFTER_MS = 60_000;

/** How long to collect spans before sending a batch, in milliseconds. */
export const SPANS_GATHERED_MS = 1000;

/**
 * Maximum number of spans in a batch. The queue holds at most `SPAN_QUEUE`; spans that do not fit are dropped. Both are the defaults of
 * OpenTelemetry's batch processor.
 */
export const SPAN_BATCH = 512;
export const SPAN_QUEUE = 2048;

/** Timeout of a request to a span collector. After a failed request, the next one is sent after `SPAN_RETRY_MS`. */
export const SPAN_SEND_TIMEOUT_MS = 10_000;
export const SPAN_RETRY_MS = 5000;
/** Maximum size of the header section in a span collector's response. The default is 16 KiB in Node.js and 10 MiB in Go's HTTP client. */
export const MAX_ANSWER_HEAD_BYTES = 1 << 20;

/** Maximum number of trace IDs in one request to `podwright.v1.Traces`. */
export const MAX_REQUESTED_TRACES = 1000;
