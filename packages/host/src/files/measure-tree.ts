import { lstatSync, type Stats } from 'node:fs';
import { EventLoopBudget } from '@podwright/base';
import { type DirectoryVisit, openDirectory } from './directory-visit.ts';
import { firstPass, TreeCount, type TreeMeasure } from './tree-count.ts';

/**
 * Maximum number of open directories that wait to be visited. At this number, the listing of a directory is paused until its
 * children have been visited.
 */
const MAX_WAITING = 256;
/** Maximum number of directories with a paused listing, each with two descriptors. Only trees that branch at every level need more. */
const MAX_PAUSED = 1200;
/** How often to list a directory whose entries are moved while they are counted. */
const MAX_PASSES = 3;

export type MeasureTreeOptions = {
  signal: AbortSignal;
  /** Maximum duration of the walk. Once it has passed, the result is the count so far, marked as partial. */
  timeoutMs?: number;
  /** Called when the walk yields to the event loop, every few milliseconds; the walk continues when the promise resolves. */
  onYield?: (countSoFar: () => TreeMeasure) => Promise<void>;
};

/**
 * Measures a tree as `du` does: counts allocated blocks, counts hard links once, and leaves out other file systems. It yields to
 * the event loop regularly, however deep the tree is and however many entries a directory has, as a container may create millions.
 *
 * The owner of the tree may try to hide files from the measurement. Each directory is therefore opened as soon as it is listed,
 * relative to the descriptor of its parent, so that neither its depth nor a later rename hides it. A directory is listed again if
 * entries vanish between listing and counting, or if it has more subdirectories than were listed. The measure is partial if that
 * does not find them, if the tree branches at each of more than a thousand levels, or if the walk times out. A file that is moved
 * between two directories may still be missed without the measure being partial. Throws if `directory` does not exist, or if
 * `signal` aborts.
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
  /** The directories to visit, the next one at the end. A directory with a paused listing is below its children. */
  readonly #stack: DirectoryVisit[] = [];
  #paused = 0;

  constructor(directory: string, options: MeasureTreeOptions) {
    this.#options = options;
    this.#deadlineMs = performance.now() + (options.timeoutMs ?? Number.POSITIVE_INFINITY);
    const stat = lstatSync(directory);
    this.#count = new TreeCount(stat);
    if (!stat.isDirectory()) this.#countTop(stat);
    else if (this.#open(Buffer.from(directory), this.#stack) === 'vanished') this.#count.isPartial = true;
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
    if (this.#stack.length > 0) this.#count.isPartial = true;
  }

  get #isLate(): boolean {
    return performance.now() >= this.#deadlineMs;
  }

  /** Adds the count of a directory to the total and closes the directory, which must be the last one on the stack. */
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
   * Counts the entries of a directory and opens its subdirectories. Returns false if it must be paused until these have been
   * visited, or if the walk has timed out.
   */
  async #list(visit: DirectoryVisit, children: DirectoryVisit[]): Promise<boolean> {
    const room = Math.max(1, MAX_WAITING - (this.#stack.length - this.#paused));
    const hasRoom = () => children.length < room;
    do {
      const { files, isEnd } = visit.read((name) => this.#meet(visit, { name, children }), hasRoom);
      for (const name of files) {
        this.#countFile(visit, name);
        if (this.#budget.isSpent && !(await this.#mayContinue())) return false;
      }
      if (isEnd && this.#isCounted(visit)) return true;
      if (this.#budget.isSpent && !(await this.#mayContinue())) return false;
    } while (hasRoom());
    return false;
  }

  /**
   * Opens a subdirectory, which counts it. If too many listings are paused, drops the opened subdirectories and marks the measure
   * as partial.
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
    const isNew = this.#count.addDirectory(visit.stat);
    if (isNew) opened.push(visit);
    else visit.close();
    return isNew ? 'new' : 'known';
  }

  #countFile(visit: DirectoryVisit, name: Buffer): void {
    const stat = visit.statOf(name);
    if (stat === undefined) visit.pass.vanishedFiles++;
    else this.#count.addFile(stat, visit.pass);
  }

  /**
   * Whether a completely listed directory is done, because all its entries are counted or will not be found. If it returns false,
   * the directory is to be listed again.
   */
  #isCounted(visit: DirectoryVisit): boolean {
    const { pass } = visit;
    if (pass.number === 1) visit.missing = pass.vanished;
    if (visit.missing + pass.vanished + pass.vanishedFiles === 0 && !visit.hidesDirectories()) return true;
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
