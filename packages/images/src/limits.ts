/** The limits of this package, on what others hand it and on what it takes of the host. Nothing here is imported from a room. */

/** Bounds on what a registry or an archive may hand us. */
export const manifestLimits = {
  /** containerd and the registries have the same bound. */
  manifestBytes: 4 << 20,
  configBytes: 8 << 20,
  /** Indexes inside indexes. */
  indexDepth: 3,
  /** Entries of an index without a platform that are looked into. */
  unnamedPlatforms: 10,
  /** Entries of an index; those that are there for more than a few platforms have some hundred. */
  indexEntries: 10_000,
  annotations: 1000,
  /** Manifests, indexes and configs that are fetched in search of one image: indexes may lead to each other (GO-2026-6597). */
  documents: 32,
  /** overlayfs takes at most 500 lower directories. */
  layers: 500,
  /** What is kept of a config, as JSON. */
  keptConfigBytes: 1 << 20,
  /** Variables, arguments of a command, or labels. */
  configEntries: 10_000,
  /** Each is a directory and a mount of every container. */
  volumes: 1000,
  /** Images, or names of images, in one archive. */
  archiveImages: 1000,
};

/**
 * Most values of a document. Each takes two bytes of text and up to some hundred of memory once it is parsed, so that a limit on
 * the text alone does not bound that. An image that exposes every port has a quarter of a million.
 */
export const MAX_JSON_VALUES = 300_000;

// Archives that are loaded.

export const MAX_ARCHIVE_ENTRIES = 100_000;

/** Of all names and targets of links together, which are kept until the end. */
export const MAX_ARCHIVE_NAME_BYTES = 16 << 20;

export const MAX_ARCHIVE_LINK_DEPTH = 10;

// Layers that are unpacked, and the threads that do it.

/** More bytes than any layer has; what the disk has free is the bound that matters. */
export const MAX_LAYER_BYTES = 2 ** 40;

/** Entries of the largest images are below a million. */
export const MAX_LAYER_ENTRIES = 2_000_000;

/**
 * Bytes of a stream that go into no file: headers, padding, what follows the archive. Packed zeros cost a thousandth and less,
 * so the disk bounds none of it. Enough for as many entries as there may be.
 */
export const MAX_OVERHEAD_BYTES = 8 * 2 ** 30;

/** Headers of an entry, and what its extended attributes and long names take there: more than any real one has. */
export const MAX_ENTRY_OVERHEAD_BYTES = 16 << 10;

/** For entries that leave nothing in the tree: whiteouts of a full copy, files that the layer itself replaces. */
export const MAX_UNSEEN_LAYER_BYTES = 64 << 20;

/** Largest PAX header and GNU long name: names have 4 KiB at most, extended attributes 64 KiB each. */
export const MAX_EXTENSION_BYTES = 1 << 20;

/** Records that hold for all entries; honest archives have a comment. */
export const MAX_GLOBAL_RECORDS = 100;

/** Most parts of one sparse file, a bound on memory. */
export const MAX_SPARSE_PARTS = 1 << 17;

/** As many links as the kernel follows in one path, and then some (containerd's limit). */
export const MAX_LINKS = 255;

/**
 * Components of one name, with those of all links on the way: a name of 4 KiB has 2,000. Links of `./././` would have each
 * of a million small entries take half a million steps.
 */
export const MAX_STEPS = 10_000;

/**
 * What the links of a whole layer may cost, in components: a link takes as long as some hundred, as it is looked up and read
 * each time. Each name brings a few links' worth, and honest names need one or two. The rest is for layers of odd names.
 */
export const LINK_STEPS = 100;

export const LINK_STEPS_A_NAME = 4 * LINK_STEPS;

export const LINK_STEPS_A_LAYER = 100_000 * LINK_STEPS;

/** A worker takes 20 MB and more; the disk is busy with two. */
export const MAX_WORKERS = 2;

/** Layers of one image come closer together than this; after it the memory is given back. */
export const WORKER_IDLE_MS = 5000;

/** How long after a pull its image begins to be written to the disk. */
export const SYNC_DELAY_MS = 100;

/** A hostile layer of millions of directories must not take the whole process's memory. */
export const MAX_WORKER_HEAP_MIB = 512;

// What is asked of registries, and taken from them. The first four can be set (`ImageServiceOptions`).

/** A connection without a byte for so long is given up and tried again. */
export const STALL_TIMEOUT_MS = 60_000;

/** A manifest, a token or a registry's error takes at most so long to come. */
export const DOCUMENT_TIMEOUT_MS = 60_000;

/** Downloads of one pull that run at once: containerd's max_concurrent_downloads. */
export const PARALLEL_DOWNLOADS = 3;

/** How long what a failed pull has fetched is kept for the next attempt: a kubelet waits five minutes at most. */
export const FAILED_PULL_LIFETIME_MS = 900_000;

export const MAX_REDIRECTS = 10;
/** Bytes of all fields of an answer; Node.js takes 16 KiB where nothing else is said, Go's client 10 MiB. */
export const MAX_HEAD_BYTES = 1 << 20;

/** Answers before the answer (1xx, as Early Hints) cost time each; honest servers send one or two. */
export const MAX_INTERIM_ANSWERS = 10;

/**
 * How long one of a host's addresses is tried before the next: Node.js's quarter of a second is less than the way to
 * another continent and back may take, and then no address would ever answer.
 */
export const ADDRESS_TIMEOUT_MS = 2_000;

/** An idle connection is kept so long, as Go's clients do; without a bound each redirect could leave one for ever. */
export const IDLE_CONNECTION_MS = 90_000;

export const MAX_ERROR_BYTES = 64 * 1024;

/** A request, its challenge and the repetition; one more for a token that expired on the way. */
export const MAX_AUTHORIZATIONS = 3;

/** Longest wait that a server's Retry-After is granted; one that asks for more (a rate limit of hours) gets no further request. */
export const MAX_RETRY_AFTER_MS = 30_000;

export const MAX_TOKEN_BYTES = 256 * 1024;

// The disk.

/** What images leave of a disk's space and files, so that neither a bomb nor a big image stops all else on the host. */
export const RESERVE_SHARE = 0.05;

/** More is not kept of a big disk: it would be wasted, and journald keeps some gigabytes besides. */
export const MAX_RESERVE_BYTES = 2 * 2 ** 30;

export const MAX_UNCHECKED_BYTES = 64 * 2 ** 20;

/** Age at which a partial file that no pull has gone on with is removed. */
export const MAX_PARTIAL_AGE_MS = 24 * 3600_000;
