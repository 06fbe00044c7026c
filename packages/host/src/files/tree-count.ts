import type { Stats } from 'node:fs';

/** Unit of `st_blocks` (stat(2)). */
const BLOCK_BYTES = 512;
/** Maximum number of directories whose inode numbers are remembered, at about 40 bytes each. */
const MAX_REMEMBERED = 1_000_000;

/**
 * What changed in a directory tree while it was measured. `directories`: files or directories might have been moved, created or removed.
 * `files`: files were only written, shortened or otherwise changed. Anything moved from a part of the tree that was counted later to a part
 * that was counted earlier might be missing from the measurement.
 */
export type TreeChanges = 'none' | 'files' | 'directories';

/**
 * The size of a directory tree: the disk space and inodes that it uses, the number of names in it (each hard link counts), and the total
 * length of its files (uncompressed and including holes). `isPartial` means that the tree contains more than was counted.
 */
export type TreeMeasure = {
  usage: { sizeBytes: number; inodes: number };
  names: number;
  contentBytes: number;
  isPartial: boolean;
  changes: TreeChanges;
  /** Wall-clock time of the last change in the counted part of the tree: the latest ctime. */
  changedAtMs: number;
};

/** Returns the most significant of several changes: `directories`, then `files`, then `none`. */
export function mostChanges(all: readonly TreeChanges[]): TreeChanges {
  return all.find((one) => one === 'directories') ?? all.find((one) => one === 'files') ?? 'none';
}

type Tally = { sizeBytes: number; inodes: number; names: number; contentBytes: number };

/**
 * The files counted in one listing of a directory. `files` is the total of the files with a single link in this listing; `most` is the
 * largest such total among the earlier listings.
 */
export type Pass = {
  number: number;
  directories: number;
  /** Number of entries that were listed but could not be opened or found afterwards. */
  vanished: number;
  vanishedFiles: number;
  files: Tally;
  most: Tally;
};

export function firstPass(): Pass {
  return { number: 1, directories: 0, vanished: 0, vanishedFiles: 0, files: noFiles(), most: noFiles() };
}

/**
 * Returns the counts with which to begin the next listing of the directory. All files are counted from scratch, because a renamed file
 * looks like a new one.
 */
export function nextPass(pass: Pass): Pass {
  return { ...firstPass(), number: pass.number + 1, most: largest(pass) };
}

/** Accumulates the size of a directory tree on one file system. */
export class TreeCount {
  isPartial = false;
  /** Wall-clock time; files changed since then count as changed during the measurement. */
  readonly #changedSinceMs: number;
  #changes: TreeChanges = 'none';
  #changedAtMs = 0;
  readonly #device: number;
  readonly #total = noFiles();
  readonly #linked = new Set<number>();
  readonly #directories = new Set<number>();

  constructor(top: Stats, changedSinceMs: number) {
    this.#device = top.dev;
    this.#changedSinceMs = changedSinceMs;
  }

  /** Records that the tree has changed if this directory's ctime is recent: it changes whenever an entry is added or removed. */
  noteDirectory({ ctimeMs }: Pick<Stats, 'ctimeMs'>): void {
    if (ctimeMs >= this.#changedSinceMs) this.#changes = 'directories';
    if (ctimeMs > this.#changedAtMs) this.#changedAtMs = ctimeMs;
  }

  /** Whether `addDirectory` can still recognize every directory that was added before. */
  get remembersDirectories(): boolean {
    return this.#directories.size < MAX_REMEMBERED;
  }

  /** Adds a directory. Returns false without adding it if it is on another file system or was already added, perhaps under another name. */
  addDirectory(stat: Stats): boolean {
    if (stat.dev !== this.#device || this.#directories.has(stat.ino)) return false;
    if (this.remembersDirectories) this.#directories.add(stat.ino);
    add(this.#total, stat);
    this.#total.names++;
    return true;
  }

  /**
   * Whether a second walk must list a directory that was added by the first. Returns true once for each directory, unless its link count
   * shows that it has no subdirectories. `listed` holds the directories for which this has already returned true.
   */
  mustListAgain({ dev, ino, nlink }: Stats, listed: Set<number>): boolean {
    if (dev !== this.#device || nlink === 2 || listed.has(ino)) return false;
    listed.add(ino);
    return true;
  }

  /** Adds a file of any type. A file with several hard links is counted only once. */
  addFile(stat: Stats, pass: Pass): void {
    if (stat.dev !== this.#device) return;
    if (stat.ctimeMs >= this.#changedSinceMs && this.#changes === 'none') this.#changes = 'files';
    if (stat.ctimeMs > this.#changedAtMs) this.#changedAtMs = stat.ctimeMs;
    pass.files.names++;
    if (stat.nlink <= 1) add(pass.files, stat);
    else if (!this.#linked.has(stat.ino)) {
      this.#linked.add(stat.ino);
      add(this.#total, stat);
    }
  }

  /** Adds the directory's files to the total, as counted by the directory's largest listing. */
  take(pass: Pass): void {
    sum(this.#total, largest(pass));
  }

  /** Returns the size so far, including the files counted in `passes`, the unfinished listings of directories. */
  measure(passes: Pass[]): TreeMeasure {
    const all = { ...this.#total };
    for (const pass of passes) sum(all, largest(pass));
    const { sizeBytes, inodes, ...content } = all;
    const changed = { changes: this.#changes, changedAtMs: this.#changedAtMs };
    return { usage: { sizeBytes, inodes }, ...content, isPartial: this.isPartial, ...changed };
  }
}

function noFiles(): Tally {
  return { sizeBytes: 0, inodes: 0, names: 0, contentBytes: 0 };
}

function add(tally: Tally, stat: Stats): void {
  tally.sizeBytes += stat.blocks * BLOCK_BYTES;
  tally.inodes++;
  if (stat.isFile()) tally.contentBytes += stat.size;
}

function sum(total: Tally, { sizeBytes, inodes, names, contentBytes }: Tally): void {
  total.sizeBytes += sizeBytes;
  total.inodes += inodes;
  total.names += names;
  total.contentBytes += contentBytes;
}

function largest({ files, most }: Pass): Tally {
  return files.sizeBytes > most.sizeBytes || files.inodes > most.inodes ? files : most;
}
