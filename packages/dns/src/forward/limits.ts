/** Limits for forwarding. */

/** Maximum number of servers read from resolv.conf, as in CoreDNS. */
export const MAX_RESOLVERS = 15;

/** Maximum number of questions waiting for resolvers: `max_concurrent` in kubeadm's CoreDNS configuration. */
export const MAX_WAITING = 1000;

/** Maximum number of waiting questions per client, so that a single pod cannot starve all others. */
export const MAX_WAITING_PER_CLIENT = 250;

/**
 * Timeouts of the successive attempts to query resolvers, in milliseconds. Their sum is less than the five seconds after which glibc and
 * musl retry.
 */
export const ATTEMPT_TIMEOUTS_MS = [1000, 1500, 2000];

/** How long a resolver that did not respond is tried only after all others, in milliseconds. */
export const SHUN_MS = 10_000;

/**
 * Number of mismatched responses (to other questions, or sent by an attacker who guessed the port) after which a question is retried over
 * TCP, which cannot be spoofed blindly.
 */
export const MAX_FOREIGN_ANSWERS = 8;

/** Maximum age of the resolver list when a name is forwarded; after that, resolv.conf is read again. */
export const REREAD_MS = 5000;

/** How long a resolver that forwards queries back to this server is not used, in milliseconds. */
export const LOOP_MS = 60_000;

/** Maximum time to cache an answer: `cache 30` in kubeadm's CoreDNS configuration. */
export const MAX_TTL_SECONDS = 30;
/** Minimum time to cache an answer (`minTTL` of CoreDNS's cache). Failures are cached for the same time (`failttl`). */
export const MIN_TTL_SECONDS = 5;

/** Maximum number of cached answers. Answers larger than `MAX_CACHED_BYTES` are not cached, which limits the cache to 8 MiB. */
export const MAX_CACHED = 4096;
export const MAX_CACHED_BYTES = 2048;
