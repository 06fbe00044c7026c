/**
 * The limits that this package sets on its input and on its use of the host's resources. This file must not import any directory
 * of the package.
 */

/** Bounds on the contents of registries and archives. */
export const manifestLimits = {
  /** The same limit as in containerd and registries. */
  manifestBytes: 4 << 20,
  configBytes: 8 << 20,
  /** Nesting depth of indexes. */
  indexDepth: 3,
  /** How many index entries without a platform to try: the config of each must be fetched to learn its platform. */
  unnamedPlatforms: 10,
  /** Entries of an index; indexes for many platforms have a few hundred. */
  indexEntries: 10_000,
  annotations: 1000,
  /** Manifests, indexes and configs to fetch while resolving one image, as indexes may refer to each other (GO-2026-6597). */
  documents: 32,
  /** overlayfs supports at most 500 lower directories. */
  layers: 500,
  /** The part of a config that is stored, as JSON. */
  storedConfigBytes: 1 << 20,
  /** Entries of each list of a config: environment variables, arguments of a command, labels. */
  configEntries: 10_000,
  /** Each volume costs every container a directory and a mount. */
  volumes: 1000,
  /** Images in one archive, and names of one image. */
  archiveImages: 1000,
};

/**
 * JSON values of one document. A value may take two bytes of text but a few hundred bytes of memory once it is parsed, so a limit
 * on the text alone does not bound the memory. An image that exposes every port has a quarter of a million values.
 */
export const MAX_JSON_VALUES = 300_000;

// Loading archives.

export const MAX_ARCHIVE_ENTRIES = 100_000;

/** Total size of all names and link targets, which are held in memory until the archive is read. */
export const MAX_ARCHIVE_NAME_BYTES = 16 << 20;

export const MAX_ARCHIVE_LINK_DEPTH = 10;

// Unpacking layers, and its worker threads.

/** More bytes than any layer has; the effective bound is free disk space. */
export const MAX_LAYER_BYTES = 2 ** 40;

/** The largest known images have less than a million entries. */
export const MAX_LAYER_ENTRIES = 2_000_000;

/**
 * Bytes of a stream that are not written to files: headers, padding, data after the archive. Zeros compress to less than a
 * thousandth, so free disk space does not bound them. Enough for MAX_LAYER_ENTRIES.
 */
export const MAX_OVERHEAD_BYTES = 8 * 2 ** 30;

/** Headers of one entry, with its extended attributes and long names; more than any real entry needs. */
export const MAX_ENTRY_OVERHEAD_BYTES = 16 << 10;

/** Extra allowance for entries that leave nothing in the tree: whiteouts in a full copy, files that the layer itself replaces. */
export const MAX_UNSEEN_LAYER_BYTES = 64 << 20;

/** Largest PAX header or GNU long name: names have at most 4 KiB, extended attributes 64 KiB each. */
export const MAX_EXTENSION_BYTES = 1 << 20;

/** PAX records that apply to all following entries; real archives have only a comment. */
export const MAX_GLOBAL_RECORDS = 100;

/** Data segments of one sparse file; bounds memory. */
export const MAX_SPARSE_PARTS = 1 << 17;

/** Symbolic links followed in one path: containerd's limit, more than the kernel's 40. */
export const MAX_LINKS = 255;

/**
 * Components to resolve for one name, including those of all links on the way; a name of 4 KiB has up to 2,000. Without this
 * bound, links to `./././…` could make each of a million small entries take half a million steps.
 */
export const MAX_STEPS = 10_000;

/**
 * Bounds the cost of following links in a whole layer, in units of one component. A link costs LINK_STEPS, as it is looked up and
 * read each time. Each name adds an allowance of a few links (real names need one or two), and each layer a fixed allowance for
 * unusual names.
 */
export const LINK_STEPS = 100;

export const LINK_STEPS_A_NAME = 4 * LINK_STEPS;

export const LINK_STEPS_A_LAYER = 100_000 * LINK_STEPS;

/** A worker takes at least 20 MB; two keep the disk busy. */
export const MAX_WORKERS = 2;

/** An idle worker exits after this time, which frees its memory. Layers of one image follow each other faster. */
export const WORKER_IDLE_MS = 5000;

/** Delay after a pull before its image is synced to the disk. */
export const SYNC_DELAY_MS = 100;

/** Bounds the heap, so that a hostile layer with millions of directories cannot use up the memory of the whole process. */
export const MAX_WORKER_HEAP_MIB = 512;

// Requests to registries and their responses. The first four are defaults of `ImageServiceOptions`.

/** A download that receives no byte for this long is aborted and retried. */
export const STALL_TIMEOUT_MS = 60_000;

/** Longest time to receive a manifest, a token or an error response. */
export const DOCUMENT_TIMEOUT_MS = 60_000;

/** Concurrent downloads per pull: the default of containerd's max_concurrent_downloads. */
export const PARALLEL_DOWNLOADS = 3;

/** How long the content fetched by a failed pull is retained for a retry: a kubelet retries after at most five minutes. */
export const FAILED_PULL_LIFETIME_MS = 900_000;

export const MAX_REDIRECTS = 10;
/** Bytes of all header fields of a response; the default is 16 KiB in Node.js and 10 MiB in Go's client. */
export const MAX_HEAD_BYTES = 1 << 20;

/** Interim responses (1xx, such as Early Hints) to one request; real servers send one or two. */
export const MAX_INTERIM_RESPONSES = 10;

/**
 * How long to try one of a host's addresses before the next. Node.js's default of 250 ms may be less than a round trip to another
 * continent; no address would then ever answer.
 */
export const ADDRESS_TIMEOUT_MS = 2_000;

/** How long an idle connection stays open, as in Go's client. Without a bound, each redirect could leave a connection open forever. */
export const IDLE_CONNECTION_MS = 90_000;

export const MAX_ERROR_BYTES = 64 * 1024;

/** Attempts of a request that is answered with 401: one without, one with a token, and one more if the token expired meanwhile. */
export const MAX_AUTHORIZATIONS = 3;

/** Longest Retry-After that is honoured; if a server requests more, such as hours for a rate limit, the request is not retried. */
export const MAX_RETRY_AFTER_MS = 30_000;

export const MAX_TOKEN_BYTES = 256 * 1024;

// The disk.

/** Share of a disk's space and inodes that images leave free, so that no image, hostile or just big, breaks other programs. */
export const RESERVE_SHARE = 0.05;

/** Upper bound of that reserve. On big disks a larger one would be wasteful; journald, too, leaves only a few gigabytes free. */
export const MAX_RESERVE_BYTES = 2 * 2 ** 30;

/** Bytes written between two checks of free disk space. */
export const MAX_UNCHECKED_BYTES = 64 * 2 ** 20;

/** Age at which a partial file that no pull has resumed is removed. */
export const MAX_PARTIAL_AGE_MS = 24 * 3600_000;
