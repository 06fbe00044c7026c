/** Images: timers and bounds that are not options, with their sources. */

/** Registries sometimes answer with pages of HTML, which are too long for a status. */
export const MAX_PULL_ERROR_LENGTH = 800;
/** A config file larger than this is not read. */
export const MAX_DOCKER_CONFIG_BYTES = 1 << 20;
/** A pull that failed is tried again after a delay; this long after it the status says so. */
export const PULL_BACKOFF_SHOWN_AFTER_MS = 1000;
/** Secrets that are remembered of one image beyond those that it was pulled with (upstream's writeRecordWhileMatchingLimit). */
export const MAX_PULL_SECRETS_PER_IMAGE = 100;
/** A record of a pulled image has a few hundred bytes a Secret. */
export const MAX_PULL_RECORD_BYTES = 1 << 20;
export const MAX_CREDENTIAL_PROVIDER_CONFIG_BYTES = 1 << 20;
/** Upstream's time for a credential provider. */
export const CREDENTIAL_PLUGIN_TIMEOUT_MS = 60_000;
/** Tokens of registries have a few KiB; an answer has one or a few. */
export const MAX_CREDENTIAL_PLUGIN_BYTES = 1 << 20;
export const MAX_CREDENTIAL_ENTRIES = 1000;
export const MAX_CREDENTIAL_LENGTH = 64 << 10;
/** Answers of credential providers that are kept, the oldest go first. */
export const MAX_CACHED_CREDENTIALS = 1000;
