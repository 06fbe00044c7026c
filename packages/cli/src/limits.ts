/** A runtime that is there answers at once; nothing waits for one that is not. */
export const RUNTIME_CONNECT_TIMEOUT_MS = 2000;

/** How long a node may take until its API answers. */
export const NODE_START_TIMEOUT_MS = 30_000;

/** How long it may take to end. */
export const NODE_STOP_TIMEOUT_MS = 60_000;

/** How long a client may take for its request, or leave its answer unread, or its connection unused. */
export const SCRAPER_TIMEOUT_MS = 10_000;

/** Scrapes within this time get the same answer: making one holds the thread that everything runs on for up to 3 ms. */
export const METRICS_KEPT_MS = 100;

/** How much longer than its grace period a pod may take to go: killing, unmounting, networks. */
export const REMOVAL_SPARE_MS = 60_000;

/** Timers of Node.js end here: 24.8 days. */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** A longer line of a log is shown as several where lines are told apart: a container need not end it. */
export const MAX_LOG_LINE_BYTES = 64 << 10;
