/** Limits on this package's input and its use of host resources. This file must not import from any of the package's directories. */

/** Limits on content from registries and archives. */
export const manifestLimits = {
  /** Maximum size of a manifest or index; same as in containerd and registries. */
  manifestBytes: 4 << 20,
  configBytes: 8 << 20,
  /** Maximum nesting depth of image indexes. */
  indexDepth: 3,
  /**
   * Maximum number of index entries to try if they do not specify a platform. Determining the platform of each requires fetching its
   * config.
   */
  unnamedPlatforms: 10,
  /** Maximum number of entries in an index; indexes for many platforms have a few hundred. */
  indexEntries: 10_000,
  annotations: 1000,
  /**
   * Maximum number of manifests, indexes and configs fetched while resolving an image, because indexes may refer to each other
   * (GO-2026-6597).
   */
  documents: 32,
  /** Maximum number of layers: overlayfs supports at most 500 lower directories. */
  layers: 500,
  /** Maximum size of the stored part of a config, as JSON. */
  storedConfigBytes: 1 << 20,
  /** Maximum number of entries in each list of a config: environment variables, command arguments, labels. */
  configEntries: 10_000,
  /** Maximum number of volumes, each of which costs every container a directory and a mount. */
  volumes: 1000,
  /** Maximum number of images in an archive, and of names per image. */
  archiveImages: 1000,
};

/**
 * Maximum number of JSON values in a document. A value may take two bytes of text but a few hundred bytes of memory once parsed, so a limit
 * on the text alone does not bound memory usage. An image that exposes every port has a quarter of a million values.
 */
export const MAX_JSON_VALUES = 300_000;

// Limits for loading archives.

export const MAX_ARCHIVE_ENTRIES = 100_000;

/** Maximum total size of all names and link targets, which are held in memory until the whole archive has been read. */
export const MAX_ARCHIVE_NAME_BYTES = 16 << 20;

export const MAX_ARCHIVE_LINK_DEPTH = 10;

// Limits for unpacking layers and for the worker threads that do it.

/** Maximum size of an unpacked layer; larger than any real one. The effective limit is free disk space. */
export const MAX_LAYER_BYTES = 2 ** 40;

/** Maximum number of entries in a layer. The largest known images have fewer than a million. */
export const MAX_LAYER_ENTRIES = 2_000_000;

/**
 * Maximum number of bytes in a layer stream that are not file content: headers, padding, and data after the end of the archive. Free disk
 * space does not limit these: they are not written to disk, and zeros compress more than a thousandfold. Enough for MAX_LAYER_ENTRIES.
 */
export const MAX_OVERHEAD_BYTES = 8 * 2 ** 30;

/** Maximum size of an entry's headers, including extended attributes and long names; more than any real entry needs. */
export const MAX_ENTRY_OVERHEAD_BYTES = 16 << 10;

/**
 * Added to the upper bound on a layer's stream size for entries that leave no trace in the directory tree: whiteouts in a full copy, and
 * files that the layer itself replaces.
 */
export const MAX_UNSEEN_LAYER_BYTES = 64 << 20;

/** Maximum size of a PAX header or GNU long name: names have at most 4 KiB, extended attributes at most 64 KiB each. */
export const MAX_EXTENSION_BYTES = 1 << 20;

/** Maximum number of global PAX records, which apply to all following entries; real archives contain only a comment. */
export const MAX_GLOBAL_RECORDS = 100;

/** Maximum number of data segments in a sparse file. Bounds memory usage. */
export const MAX_SPARSE_PARTS = 1 << 17;

/** Maximum number of symbolic links followed in a path; same as in containerd, and more than the kernel's 40. */
export const MAX_LINKS = 255;

/**
 * Maximum number of path components resolved for a name, including those of all symbolic links on the way. A 4 KiB name has up to 2,000.
 * Without this limit, links to `./././…` could make each of a million small entries take half a million steps.
 */
export const MAX_STEPS = 10_000;

/**
 * Limits the cost of following symbolic links in a whole layer, in path components. A link costs LINK_STEPS, because it is looked up and
 * read each time. Each name adds an allowance of a few links (real names need one or two), and each layer adds a fixed allowance for
 * unusual names.
 */
export const LINK_STEPS = 100;

export const LINK_STEPS_A_NAME = 4 * LINK_STEPS;

export const LINK_STEPS_A_LAYER = 100_000 * LINK_STEPS;

/** Maximum number of worker threads. Each takes at least 20 MB; two suffice to keep the disk busy. */
export const MAX_WORKERS = 2;

/** Time after which an idle worker exits to free its memory. The layers of an image follow each other faster than this. */
export const WORKER_IDLE_MS = 5000;

/** Delay after a pull before its image is synced to disk. */
export const SYNC_DELAY_MS = 100;

/** Maximum heap size of a worker, so that a hostile layer with millions of directories cannot exhaust the memory of the whole process. */
export const MAX_WORKER_HEAP_MIB = 512;
/**
 * Limits a worker's young generation to three semi-spaces of 4 MiB. The daemon's own `--max-semi-space-size` does not apply to workers,
 * because the daemon resets it before starting threads.
 */
export const MAX_WORKER_YOUNG_MIB = 12;

// Limits for requests to registries and their responses. The first four are defaults of `ImageServiceOptions`.

/** A download that receives no bytes for this long is aborted and retried. */
export const STALL_TIMEOUT_MS = 60_000;

/** Maximum time to receive a manifest, a token or an error response. */
export const DOCUMENT_TIMEOUT_MS = 60_000;

/** Number of concurrent downloads per pull; same as containerd's default for max_concurrent_downloads. */
export const PARALLEL_DOWNLOADS = 3;

/** How long content fetched by a failed pull is retained for a retry; a kubelet retries within five minutes. */
export const FAILED_PULL_LIFETIME_MS = 900_000;

export const MAX_REDIRECTS = 10;
/** Maximum total size of a response's header fields. The default is 16 KiB in Node.js and 10 MiB in Go's client. */
export const MAX_HEAD_BYTES = 1 << 20;

/** Maximum number of interim responses (1xx, such as Early Hints) to a request; real servers send one or two. */
export const MAX_INTERIM_RESPONSES = 10;

/**
 * How long to try each of a host's addresses before the next one. Node.js's default of 250 ms might be shorter than an intercontinental
 * round trip, in which case every address would time out.
 */
export const ADDRESS_TIMEOUT_MS = 2_000;

/** How long an idle connection stays open; same as in Go's client. Without a limit, each redirect could leave a connection open forever. */
export const IDLE_CONNECTION_MS = 90_000;

export const MAX_ERROR_BYTES = 64 * 1024;

/**
 * Maximum number of attempts for a request that gets a 401: one without a token, one with a token, and one more in case the token has just
 * expired.
 */
export const MAX_AUTHORIZATIONS = 3;

/** Longest Retry-After that is honored. If a server asks for more, such as hours for a rate limit, the request is not retried. */
export const MAX_RETRY_AFTER_MS = 30_000;

export const MAX_TOKEN_BYTES = 256 * 1024;

// Limits for disk usage.

/** Fraction of a disk's space and inodes that images leave free, so that no image, hostile or just big, breaks other programs. */
export const RESERVE_SHARE = 0.05;

/**
 * Maximum size of the reserve of free disk space. A larger one would be wasteful on big disks; journald also leaves only a few gigabytes
 * free.
 */
export const MAX_RESERVE_BYTES = 2 * 2 ** 30;

/** Maximum number of bytes written between two checks of free disk space. */
export const MAX_UNCHECKED_BYTES = 64 * 2 ** 20;

/** Age after which a partial file that no pull has resumed is removed. */
export const MAX_PARTIAL_AGE_MS = 24 * 3600_000;
