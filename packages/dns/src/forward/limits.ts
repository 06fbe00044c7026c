/** Bounds of forwarding. */

/** Servers that are read from resolv.conf, as many as CoreDNS takes. */
export const MAX_RESOLVERS = 15;

/** Questions that wait for resolvers: `max_concurrent` of the configuration of CoreDNS that kubeadm installs. */
export const MAX_WAITING = 1000;

/** Of these, how many may be one client's, so that one pod cannot take the resolvers from all others. */
export const MAX_WAITING_PER_CLIENT = 250;

/** How long each attempt waits for an answer; together less than the five seconds after which glibc and musl ask again. */
export const ATTEMPT_TIMEOUTS_MS = [1000, 1500, 2000];

/** How long a resolver that did not answer is asked last. */
export const SHUN_MS = 10_000;

/** Answers to other questions or from guessed sockets after which a question is asked by TCP, which cannot be forged blindly. */
export const MAX_FOREIGN_ANSWERS = 8;

/** How old the read of resolv.conf may be when a name is forwarded. */
export const REREAD_MS = 5000;

/** How long a resolver that leads back to this server is not asked. */
export const LOOP_MS = 60_000;

/** How long answers are kept at most: `cache 30` of the configuration of CoreDNS that kubeadm installs. */
export const MAX_TTL_SECONDS = 30;
/** How long answers are kept at least, and failures (`minTTL` and `failttl` of CoreDNS's cache). */
export const MIN_TTL_SECONDS = 5;

/** Maximum number of answers in the cache. Larger answers than `MAX_CACHED_BYTES` are not kept, so the cache has at most 8 MiB. */
export const MAX_CACHED = 4096;
export const MAX_CACHED_BYTES = 2048;
