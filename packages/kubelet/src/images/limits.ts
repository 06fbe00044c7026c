/** Fixed image-related timeouts and limits. */

/** Maximum length of a pull error; longer ones are truncated. Some registries return whole HTML pages, which are too long for a status. */
export const MAX_PULL_ERROR_LENGTH = 800;
/** Maximum size of a Docker config file. */
export const MAX_DOCKER_CONFIG_BYTES = 1 << 20;
/** Delay between a failed pull and the status change to ImagePullBackOff. */
export const PULL_BACKOFF_SHOWN_AFTER_MS = 1000;
/** Maximum number of Secrets recorded per image, not counting those it was pulled with (upstream's writeRecordWhileMatchingLimit). */
export const MAX_PULL_SECRETS_PER_IMAGE = 100;
/** Maximum size of a pull record. Each Secret takes up a few hundred bytes. */
export const MAX_PULL_RECORD_BYTES = 1 << 20;
export const MAX_CREDENTIAL_PROVIDER_CONFIG_BYTES = 1 << 20;
/** Timeout for a call to a credential provider plugin, as in upstream. */
export const CREDENTIAL_PLUGIN_TIMEOUT_MS = 60_000;
/** Maximum size of a plugin's response, which usually contains a few tokens of several KiB each. */
export const MAX_CREDENTIAL_PLUGIN_BYTES = 1 << 20;
export const MAX_CREDENTIAL_ENTRIES = 1000;
export const MAX_CREDENTIAL_LENGTH = 64 << 10;
/** Maximum number of cached credential provider responses; the oldest are evicted first. */
export const MAX_CACHED_CREDENTIALS = 1000;
