/** The largest message that either side accepts: 16 MiB, as the kubelet and the established runtimes have it. */
export const MAX_MESSAGE_BYTES = 16 << 20;

/** How long a client waits for a runtime that is not up yet. */
export const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;

/** Bound of an ordinary call: the default of the kubelet's `runtimeRequestTimeout`. */
export const DEFAULT_CALL_TIMEOUT_MS = 120_000;

/** Pause after a failed attempt to connect: doubled from the first to the last. */
export const CONNECT_RETRY_MS = { initial: 50, max: 1000 };

/** A server that does not say that it speaks HTTP/2 for so long is left: the next call tries anew. 20 s, as gRPC's `MIN_CONNECT_TIMEOUT`. */
export const HTTP2_CONNECT_TIMEOUT_MS = 20_000;

/** Acknowledgements of pings and settings that wait for a peer that does not read; nghttp2's bound. */
export const MAX_UNREAD_ANSWERS = 1000;

/** An error that stays the same is logged again after this long. */
export const REPEATED_ERROR_AFTER_MS = 60_000;

/** A client's own clock of a deadline runs ahead of ours by the call's way here: its reset often comes first. */
export const CLIENT_CLOCK_AHEAD_MS = 200;

/** A client that has not even said that it speaks HTTP/2 after this long is cut off. */
export const PREFACE_TIMEOUT_MS = 10_000;

/** Calls at once on one connection; what they hold is bounded by the size of messages, not in all. */
export const MAX_CALLS = 1000;

/** Calls that a client may cut at once, and how many more with each second; nghttp2's bounds. */
export const MAX_RESETS = 1000;
export const RESETS_PER_SECOND = 33;

/** How long the calls under way may go on when a server is closed. */
export const DEFAULT_CLOSE_GRACE_MS = 5000;

/** Connections without a call are closed after this long; clients open a new one when they need it. */
export const MAX_CONNECTION_IDLE_MS = 30 * 60_000;

/** Stacks of unforeseen failures that are kept with their positions in the sources. */
export const MAX_KNOWN_STACKS = 16;

/** Spans for a collector are gathered for so long before they are sent, as OpenTelemetry's batches are. */
export const SPANS_GATHERED_MS = 1000;

/** Spans that are sent at once, and how many wait at most, as in OpenTelemetry's batch processor; what comes then is dropped. */
export const SPAN_BATCH = 512;
export const SPAN_QUEUE = 2048;

/** How long a collector may take, and the pause after it took none. */
export const SPAN_SEND_TIMEOUT_MS = 10_000;
export const SPAN_RETRY_MS = 5000;
/** Bytes of all fields of its answer; Node.js takes 16 KiB where nothing else is said, Go's client 10 MiB. */
export const MAX_ANSWER_HEAD_BYTES = 1 << 20;

/** Trace ids in one question. */
export const MAX_ASKED_TRACES = 1000;
