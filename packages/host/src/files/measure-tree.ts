import { lstatSync, type Stats } from 'node:fs';
import { EventLoopBudget } from '@podwright/base';
import { CLOCK_TICK_MS, type DirectoryVisit, openDirectory } from './directory-visit.ts';
import { firstPass, TreeCount, type TreeMeasure } from './tree-count.ts';

/**
 * Maximum number of open directories waiting to be visited. When it is reached, the listing of a directory is paused until its children
 * have been visited.
 */
const MAX_WAITING = 256;
/**
 * Maximum number of directories whose listing is paused; each holds two file descriptors. Only a directory tree that branches at every
 * level needs more.
 */
const MAX_PAUSED = 1200;
/** Maximum number of times that a directory is listed if its entries are moved while they are counted. */
const MAX_PASSES = 3;

export type MeasureTreeOptions = {
  signal: AbortSignal;
  /** Maximum duration of the walk. A walk that takes longer ends with what has been counted so far, marked as partial. */
  timeoutMs?: number;
  /**
   * Changes made since this time (wall clock) count as changes during the walk. Default: 100 ms before the walk, because the kernel's
   * timestamps are not exact.
   */
  changedSinceMs?: number;
  /** Called whenever the walk yields to the event loop, every few milliseconds. The walk continues once the promise resolves. */
  onYield?: (countSoFar: () => TreeMeasure) => Promise<void>;
};

/**
 * Measures a directory tree the way `du` does: counts allocated blocks, counts hard links once, and skips other file systems. It yields to
 * the event loop regularly, however deep the tree is and however many entries a directory has, because a container may create millions. The
 * owner of the tree might try to hide files from the measurement. Each directory is therefore opened as soon as it is listed, relative to
 * its parent's file descriptor, so that neither its depth nor a later rename hides it. A directory is listed again if entries vanish
 * between listing and counting, or if it has more subdirectories than were listed. If directories change during the walk, a second walk
 * lists only directories with subdirectories, and counts subdirectories that were moved to a directory after it had been listed. The result
 * is marked as partial if this does not find everything, if the tree branches at each of more than a thousand levels, or if the walk times
 * out. Some things might still be missed without the result being marked as partial: a file that is moved from one directory to another, a
 * directory that is moved at the right moments of both walks, and data written to an already counted file after another file was shortened.
 * `changes` reports whether this was possible. Throws if `directory` does not exist or `signal` aborts.
 */
export async function measureTree(directory: string, options: MeasureTreeOptions): Promise<TreeMeasure> {
  using walk = new Walk(directory, options);
  await walk.run();
  return walk.measure();
}

class Walk {
  readonly #count: TreeCount;
  readonly #options: MeasureTreeOptions;
  readonly #deadlineMs: number;
  readonly #budget = new EventLoopBudget();
  /** The stack of directories to visit, the next one last. A directory whose listing is paused lies below its subdirectories. */
  readonly #stack: DirectoryVisit[] = [];
  #paused = 0;
  readonly #top: Buffer;
  /** Wall-clock time. A directory that has changed since then might have lost a subdirectory before the walk opened it. */
  readonly #changedSinceMs: number;
  /** Whether a subdirectory might have been moved to a directory that the walk had already listed. */
  #mayMiss = false;
  /** Inode numbers of the directories that the second walk has listed again; `undefined` during the first walk. */
  #listedAgain: Set<number> | undefined;

  constructor(directory: string, options: MeasureTreeOptions) {
    this.#top = Buffer.from(directory);
    this.#options = options;
    this.#deadlineMs = performance.now() + (options.timeoutMs ?? Number.POSITIVE_INFINITY);
    this.#changedSinceMs = options.changedSinceMs ?? Date.now() - CLOCK_TICK_MS;
    const stat = lstatSync(directory);
    this.#count = new TreeCount(stat, this.#changedSinceMs);
    if (!stat.isDirectory()) this.#countTop(stat);
    else if (this.#open(this.#top, this.#stack) === 'vanished') this.#count.isPartial = true;
  }

  [Symbol.dispose](): void {
    for (const visit of this.#stack) visit.close();
  }

  #countTop(file: Stats): void {
    const pass = firstPass();
    this.#count.addFile(file, pass);
    this.#count.take(pass);
  }

  measure(): TreeMeasure {
    return this.#count.measure(this.#stack.map((visit) => visit.pass));
  }

  async run(): Promise<void> {
    await this.#visitAll();
    if (this.#mayMiss && this.#stack.length === 0 && !this.#count.isPartial) await this.#walkAgain();
    if (this.#stack.length > 0) this.#count.isPartial = true;
  }

  /**
   * Counts directories that the first walk did not encounter. The result is partial if subdirectories might have been moved again during
   * the second walk.
   */
  async #walkAgain(): Promise<void> {
    this.#mayMiss = false;
    this.#listedAgain = new Set();
    if (this.#count.remembersDirectories && this.#open(this.#top, this.#stack) !== 'vanished') await this.#visitAll();
    else this.#mayMiss = true;
    if (this.#mayMiss) this.#count.isPartial = true;
  }

  async #visitAll(): Promise<void> {
    for (let visit = this.#stack.at(-1); visit !== undefined; visit = this.#stack.at(-1)) {
      if (visit.isPaused) this.#paused--;
      visit.isPaused = false;
      const children: DirectoryVisit[] = [];
      try {
        if (await this.#list(visit, children)) this.#leave(visit);
        else this.#pause(visit);
      } finally {
        this.#stack.push(...children);
      }
      if (this.#isLate) break;
    }
  }

  get #isLate(): boolean {
    return performance.now() >= this.#deadlineMs;
  }

  /** Adds the files of a completely listed directory to the total and closes the directory, which must be on top of the stack. */
  #leave(visit: DirectoryVisit): void {
    this.#stack.pop();
    this.#count.take(visit.pass);
    visit.close();
  }

  #pause(visit: DirectoryVisit): void {
    visit.isPaused = true;
    this.#paused++;
  }

  /**
   * Counts a directory's entries and opens its subdirectories. Returns false if the listing must be paused until those subdirectories have
   * been visited, or if the walk has timed out.
   */
  async #list(visit: DirectoryVisit, children: DirectoryVisit[]): Promise<boolean> {
    const room = Math.max(1, MAX_WAITING - (this.#stack.length - this.#paused));
    const hasRoom = () => children.length < room;
    do {
      const { files, isEnd } = visit.read((name) => this.#meet(visit, { name, children }), hasRoom);
      for (const name of visit.isCounted ? [] : files) {
        this.#countFile(visit, name);
        if (this.#budget.isSpent && !(await this.#mayContinue())) return false;
      }
      if (isEnd && this.#isDone(visit)) return true;
      if (this.#budget.isSpent && !(await this.#mayContinue())) return false;
    } while (hasRoom());
    return false;
  }

  /**
   * Opens a subdirectory and counts the directory itself. If too many listings are paused, drops the opened subdirectories and marks the
   * result as partial.
   */
  #meet(visit: DirectoryVisit, { name, children }: { name: Buffer; children: DirectoryVisit[] }): void {
    visit.pass.directories++;
    const found = this.#open(visit.pathOf(name), children);
    if (found === 'vanished') visit.pass.vanished++;
    if (found === 'new' && visit.missing > 0) visit.missing--;
    if (this.#paused < MAX_PAUSED) return;
    for (const child of children.splice(0)) child.close();
    this.#count.isPartial = true;
  }

  #open(path: Buffer, opened: DirectoryVisit[]): 'new' | 'known' | 'vanished' {
    const visit = openDirectory(path);
    if (visit === undefined) return 'vanished';
    if (this.#listedAgain === undefined) this.#mayMiss ||= visit.stat.ctimeMs >= this.#changedSinceMs;
    const isNew = this.#count.addDirectory(visit.stat);
    visit.isCounted = !isNew;
    const isListed = isNew || (this.#listedAgain && this.#count.mustListAgain(visit.stat, this.#listedAgain));
    if (isListed) opened.push(visit);
    else visit.close();
    return isNew ? 'new' : 'known';
  }

  #countFile(visit: DirectoryVisit, name: Buffer): void {
    const stat = visit.statOf(name);
    if (stat === undefined) visit.pass.vanishedFiles++;
    else this.#count.addFile(stat, visit.pass);
  }

  /**
   * Whether a completely listed directory is done: all its entries have been counted, or the missing ones will not be found. If this
   * returns false, the directory must be listed again.
   */
  #isDone(visit: DirectoryVisit): boolean {
    const { pass } = visit;
    const { hasMore, hasLost, stat } = visit.missedDirectories();
    this.#count.noteDirectory(stat);
    if (hasLost || (visit.isCounted && (pass.vanished > 0 || hasMore))) this.#mayMiss = true;
    if (visit.isCounted) return true;
    if (pass.number === 1) visit.missing = pass.vanished;
    if (visit.missing + pass.vanished + pass.vanishedFiles === 0 && !hasMore) return true;
    if (pass.number < MAX_PASSES && this.#count.remembersDirectories) {
      visit.listAgain();
      return false;
    }
    this.#count.isPartial = true;
    return true;
  }

  /** Yields to the event loop. Returns false if the walk has timed out. */
  async #mayContinue(): Promise<boolean> {
    await this.#options.onYield?.(() => this.measure());
    await this.#budget.renew(this.#options.signal);
    if (this.#isLate) this.#count.isPartial = true;
    return !this.#isLate;
  }
}
