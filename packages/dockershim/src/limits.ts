/** Most bytes of an answer of the Engine that is read as a whole: an inspection, a list of thousands of containers. */
export const MAX_ANSWER_BYTES = 64 << 20;

/** Most bytes of an error's text. */
export const MAX_ERROR_BYTES = 64 << 10;

/** How long an ordinary call of the Engine may take, in milliseconds; the kubelet's own deadline is two minutes. */
export const CALL_TIMEOUT_MS = 120_000;

/** Sockets to the Engine that are kept open for further calls. */
export const IDLE_SOCKETS = 16;
