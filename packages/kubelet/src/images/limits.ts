/** Fixed timeouts and limits of images. */

/** Longer messages are truncated: some registries answer with HTML pages, which are too long for a status. */
export const MAX_PULL_ERROR_LENGTH = 800;
/** A config file larger than this is not read. */
export const MAX_DOCKER_CONFIG_BYTES = 1 << 20;
/** Time after a failed pull at which the status changes to ImagePullBackOff. */
export const PULL_BACKOFF_SHOWN_AFTER_MS = 1000;
/** Maximum of recorded Secrets of an image, apart from those that it was pulled with (upstream's writeRecordWhileMatchingLimit). */
export const MAX_PULL_SECRETS_PER_IMAGE = 100;
/** A record of a pulled image has a few hundred bytes for each Secret. */
export const MAX_PULL_RECORD_BYTES = 1 << 20;
export const MAX_CREDENTIAL_PROVIDER_CONFIG_BYTES = 1 << 20;
/** Upstream's timeout of a credential provider. */
export const CREDENTIAL_PLUGIN_TIMEOUT_MS = 60_000;
/** Limits of an answer: it has one or a few tokens of some KiB. */
export const MAX_CREDENTIAL_PLUGIN_BYTES = 1 << 20;
export const MAX_CREDENTIAL_ENTRIES = 1000;
export const MAX_CREDENTIAL_LENGTH = 64 << 10;
/** Cached answers of credential providers; the oldest are evicted first. */
export const MAX_CACHED_CREDENTIALS = 1000;
