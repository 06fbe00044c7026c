import { isUtf8 } from 'node:buffer';
import { type FSWatcher, watch } from 'node:fs';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  background,
  errorMessage,
  isErrno,
  KeyedLock,
  type Logger,
  PodwrightError,
  PRIVATE_DIRECTORY,
  pause,
  sleep,
  waitFor,
  withTimeout,
} from '@podwright/base';
import { ManifestError, namespacedName, type PlacedObject } from '@podwright/kube-api';
import { inodeOf, type ManifestFile, readManifestFile } from './manifest-file.ts';
import { type ManifestPlace, manifestPlace } from './manifest-place.ts';
import type { SourceSnapshot } from './pod-config.ts';
import type { SavedManifests } from './saved-manifests.ts';

const MAX_MANIFEST_FILES = 5000;

const MANIFEST_START_PATIENCE_MS = 1000;

/**
 * A file that contains errors might still be being written, so its errors are reported only once the file has not changed for this long.
 */
const MANIFEST_PATIENCE_MS = 300;

/** A file that changed this recently might still be being written, so it is read again later. */
const MANIFEST_QUIET_MS = 3;

/**
 * If objects are missing from a file or have changed, the file might be in the middle of an in-place rewrite. Its previous objects stay in
 * effect until the file has not changed for this long.
 */
const MANIFEST_REWRITE_QUIET_MS = 500;

/** Maximum number of a file's pods to name in a warning. */
const MAX_NAMED_PODS = 5;

export type ManifestDirectoryOptions = {
  path: string;
  logger: Logger;
  /** Interval between full rescans, in case an inotify event is lost (KubeletConfiguration `fileCheckFrequency`, 20 s). */
  resyncMs: number;
  /** Interval of rescans while the directory cannot be read or watched. */
  retryMs: number;
  /** Stores the last valid content of each file across restarts. If unset, a file that is invalid after a restart provides no pods. */
  saved?: SavedManifests;
  /** Called with the full content on startup and after each change. */
  onChange: (snapshot: SourceSnapshot) => void;
};

/** The state of one file. While its content has errors, `objects` come from its last valid content. */
type FileState = { stamp: string; objects: PlacedObject[]; errors: ManifestError[]; warnings: ManifestError[] };

/**
 * Provides the pods from a manifest directory or a single file. All files in the directory are read, except hidden and temporary ones;
 * subdirectories are ignored. inotify reports changes within milliseconds. A file is processed as a whole: if it has an error, its last
 * valid content stays in effect, even across a restart.
 */
export class ManifestDirectory {
  readonly #options: ManifestDirectoryOptions;
  /** The state of each file, by path. `#locks` and `#undecided` are also keyed by path. */
  readonly #files = new Map<string, FileState>();
  readonly #locks = new KeyedLock();
  /**
   * Files that another process might still be writing, each with its stamp and the time (monotonic milliseconds) when that stamp was first
   * seen.
   */
  readonly #undecided = new Map<string, { stamp: string; sinceMs: number }>();
  #place: ManifestPlace | undefined;
  #watcher: { directory: string; identity: string; close: () => void } | undefined;
  #watchProblem: string | undefined;
  /** Aborted when the directory itself is moved, removed or replaced. */
  #moved = new AbortController();
  #directoryError: ManifestError | undefined;
  #started = false;
  /** The manifests that the previous kubelet saved, by file path; `undefined` once the directory has been read. */
  #recalled: Map<string, PlacedObject[]> | undefined;

  constructor(options: ManifestDirectoryOptions) {
    this.#options = options;
  }

  /**
   * Reads the directory, reports its content, and follows changes until the signal aborts. Nothing is reported until the directory has been
   * read once; otherwise running pods from it would look deleted.
   */
  async start(signal: AbortSignal): Promise<void> {
    this.#recalled = await this.#options.saved?.read();
    await this.#scan(signal);
    for (let logged = ''; this.#directoryError !== undefined; ) {
      const error = String(this.#directoryError);
      if (error !== logged) this.#options.logger.warn({ path: this.#options.path }, error);
      logged = error;
      await sleep(this.#options.retryMs, signal);
      await this.#scan(signal);
    }
    using limited = withTimeout(signal, MANIFEST_START_PATIENCE_MS, 'wait for manifests that are being written');
    // wait for files that might still be being written, because the first report is treated as complete: running pods missing from it are
    // killed
    await waitFor(() => this.#undecided.size === 0 || undefined, { intervalMs: 5, signal: limited }).catch(
      () => undefined,
    );
    this.#started = true;
    this.#publish();
    signal.addEventListener('abort', () => this.#watcher?.close(), { once: true });
    background(this.#options.logger, 'the manifest directory is no longer read again', this.#resync(signal));
  }

  async #resync(signal: AbortSignal): Promise<void> {
    const { resyncMs, retryMs } = this.#options;
    while (!signal.aborted) {
      const isFollowed = this.#directoryError === undefined && this.#watcher !== undefined;
      const waitMs = isFollowed ? resyncMs : Math.min(resyncMs, retryMs);
      await pause(waitMs, AbortSignal.any([signal, this.#moved.signal]));
      this.#moved = new AbortController();
      if (!signal.aborted) await this.#scan(signal);
    }
  }

  async #scan(signal: AbortSignal): Promise<void> {
    try {
      const place = await this.#locate();
      this.#watch(place, signal);
      const paths = await pathsIn(place);
      await this.#recall(paths);
      this.#setDirectoryError(undefined);
      await Promise.all([...new Set([...paths, ...this.#files.keys()])].map((path) => this.#check(path, signal)));
    } catch (error) {
      this.#setDirectoryError(`read the manifest directory: ${errorMessage(error)}`);
    }
  }

  /** Starts from the saved content of the files that still exist. Each file is then read as if it had changed. */
  async #recall(paths: string[]): Promise<void> {
    const [recalled, existing] = [this.#recalled ?? new Map<string, PlacedObject[]>(), new Set(paths)];
    this.#recalled = undefined;
    for (const [path, objects] of recalled) {
      if (existing.has(path)) this.#files.set(path, { stamp: '', objects, errors: [], warnings: [] });
      else await this.#options.saved?.remove(path);
    }
  }

  /** Locates the manifests. On startup, a missing directory is created. */
  async #locate(): Promise<ManifestPlace> {
    const { path } = this.#options;
    const wasFile = this.#place?.only !== undefined;
    this.#place = await manifestPlace(path, wasFile).catch(async (error: unknown) => {
      if (this.#started || !isErrno(error, 'ENOENT')) throw error;
      await mkdir(path, { recursive: true, mode: PRIVATE_DIRECTORY });
      return await manifestPlace(path);
    });
    return this.#place;
  }

  /** Watches the directory. Replaces the watch if the directory has been replaced. */
  #watch({ directory, identity }: ManifestPlace, signal: AbortSignal): void {
    if (signal.aborted || (this.#watcher?.identity === identity && this.#watcher.directory === directory)) return;
    const { path, retryMs, logger } = this.#options;
    this.#watcher?.close();
    try {
      const watcher: FSWatcher = watch(directory, (event, name) => {
        // rescan if the event carries the directory's own name, which means that it is about the directory itself; a directory that
        // replaces it may have the same inode
        if (name === null || name === basename(directory)) this.#rescan();
        else if (this.#isWanted(name)) {
          const check = this.#check(join(directory, name), signal, { moved: event === 'rename' });
          background(logger, 'a changed manifest could not be read', check);
        }
      });
      const close = () => {
        watcher.close();
        this.#watcher = undefined;
      };
      watcher.on('error', () => this.#rescan());
      this.#watcher = { directory, identity, close };
      if (this.#watchProblem !== undefined) logger.info({ path }, 'the manifest directory is watched again');
      this.#watchProblem = undefined;
    } catch (error) {
      const problem = errorMessage(error);
      if (this.#watchProblem !== problem)
        logger.warn({ path, retryMs, error: problem }, 'cannot watch the manifest directory, polling it instead');
      this.#watchProblem = problem;
    }
  }

  #isWanted(name: string): boolean {
    const only = this.#place?.only;
    return only === undefined ? isManifestName(name) : name === only;
  }

  #rescan(): void {
    this.#watcher?.close();
    this.#moved.abort();
  }

  /** Rereads one file. `moved`: inotify has just reported that its name appeared or disappeared. */
  #check(path: string, signal: AbortSignal, { moved = false } = {}): Promise<void> {
    return this.#locks.run(path, async () => {
      if (signal.aborted) return;
      try {
        const file = await readManifestFile(path, this.#files.get(path)?.stamp);
        if (file === 'unchanged') return;
        if (file === undefined && path.includes('\ufffd') && (await isNotUtf8(path)))
          throw new PodwrightError('invalid_argument', 'its name is not UTF-8: rename it');
        // forget the file only if its directory exists: a missing directory does not mean that its files were deleted
        if (file === undefined && (moved || (await isDirectory(dirname(path))))) await this.#forget(path);
        else if (file !== undefined) await this.#consider(path, file, signal);
      } catch (error) {
        // the directory was replaced by something that is not a directory; the next scan finds out what
        if (isErrno(error, 'ENOTDIR')) return;
        await this.#take(path, { stamp: '', errors: [problem(path, error)], warnings: [] });
      }
    });
  }

  async #consider(path: string, file: ManifestFile, signal: AbortSignal): Promise<void> {
    const { errors, objects, leftOut } = file.manifest;
    const warnings = [...leftOut, ...file.manifest.warnings];
    const quietMs = mayBeRewritten(this.#files.get(path), file) ? MANIFEST_REWRITE_QUIET_MS : MANIFEST_QUIET_MS;
    const waitMs = errors.length > 0 ? MANIFEST_PATIENCE_MS : quietMs;
    const before = this.#undecided.get(path);
    const unchangedMs = before?.stamp === file.stamp ? performance.now() - before.sinceMs : 0;
    const settled =
      Math.max(unchangedMs, Date.now() - file.modifiedAtMs) >= waitMs || (file.movedHere && errors.length === 0);
    if (settled) return await this.#take(path, { stamp: file.stamp, errors, warnings, objects });
    if (before?.stamp !== file.stamp) this.#undecided.set(path, { stamp: file.stamp, sinceMs: performance.now() });
    sleep(waitMs + 1, signal).then(
      () => this.#check(path, signal),
      () => undefined,
    );
  }

  async #take(path: string, state: Omit<FileState, 'objects'> & { objects?: PlacedObject[] }): Promise<void> {
    this.#undecided.delete(path);
    const lastGood = this.#files.get(path)?.objects;
    const isValid = state.errors.length === 0;
    const objects = (isValid ? state.objects : lastGood) ?? [];
    // if the directory was replaced by a single file, the directory's files no longer exist
    const replaced = this.#place?.only !== undefined && isValid ? [...this.#files.keys()] : [];
    for (const one of replaced) this.#files.delete(one);
    this.#files.set(path, { ...state, objects });
    this.#publish();
    const { saved } = this.#options;
    // publish new pods without waiting for their manifests to be written to disk: the write finishes long before the first container starts
    if (isValid) await saved?.save(path, objects);
    for (const one of replaced) if (one !== path) await saved?.remove(one);
  }

  async #forget(path: string): Promise<void> {
    this.#undecided.delete(path);
    if (!this.#files.delete(path)) return;
    this.#publish();
    await this.#options.saved?.remove(path);
  }

  #setDirectoryError(message: string | undefined): void {
    if (this.#directoryError?.message === message) return;
    const place = { file: this.#options.path, line: 1, column: 1 };
    this.#directoryError = message === undefined ? undefined : new ManifestError(place, message);
    this.#publish();
  }

  #publish(): void {
    if (!this.#started) return;
    const files = [...this.#files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, state]) => state);
    const directory = this.#directoryError === undefined ? [] : [this.#directoryError];
    this.#options.onChange({
      objects: files.flatMap(({ objects }) => objects),
      errors: [...directory, ...files.flatMap(({ errors, objects }) => [...errors, ...unchangedPods(errors, objects)])],
      warnings: files.flatMap(({ warnings }) => warnings),
    });
  }
}

/**
 * Whether another process might still be rewriting the file in place: the file has the same inode as before, and some of its objects would
 * be removed or changed.
 */
function mayBeRewritten(known: FileState | undefined, { stamp, manifest }: ManifestFile): boolean {
  if (known === undefined || (known.stamp !== '' && inodeOf(known.stamp) !== inodeOf(stamp))) return false;
  const now = new Set(manifest.objects.map(({ object }) => JSON.stringify(object)));
  return !known.objects.every(({ object }) => now.has(JSON.stringify(object)));
}

/** Returns a message naming the pods that an invalid file still provides. */
function unchangedPods([error]: ManifestError[], objects: PlacedObject[]): ManifestError[] {
  const pods = objects.flatMap(({ object }) => (object.kind === 'Pod' ? [namespacedName(object)] : []));
  if (error === undefined || pods.length === 0) return [];
  const named = pods.slice(0, MAX_NAMED_PODS).join(', ');
  const more = pods.length > MAX_NAMED_PODS ? ` and ${pods.length - MAX_NAMED_PODS} more` : '';
  const [subject, stay, end] = pods.length === 1 ? ['pod', 'stays', 'ends'] : ['pods', 'stay', 'end'];
  const message = `${subject} ${named}${more} ${stay} unchanged until the file is valid, and ${end} if the file is removed`;
  return [new ManifestError({ file: error.file, line: 1, column: 1 }, message)];
}

async function isDirectory(path: string): Promise<boolean> {
  return await stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

/** Whether `path` is Node.js's lossy decoding of a name that is not UTF-8; such a file cannot be opened. */
async function isNotUtf8(path: string): Promise<boolean> {
  const names = await readdir(dirname(path), 'buffer');
  return names.some((name) => !isUtf8(name) && name.toString() === basename(path));
}

function problem(path: string, error: unknown): ManifestError {
  return new ManifestError({ file: path, line: 1, column: 1 }, `read the file: ${errorMessage(error)}`);
}

/** Returns the paths of all manifests, including that of a single file that does not exist. */
async function pathsIn({ directory, only }: ManifestPlace): Promise<string[]> {
  if (only !== undefined) return [join(directory, only)];
  const names = (await readdir(directory)).filter(isManifestName);
  if (names.length > MAX_MANIFEST_FILES)
    throw new Error(`holds ${names.length} files, at most ${MAX_MANIFEST_FILES} are read`);
  return names.map((name) => join(directory, name));
}

/**
 * Whether a file with this name is read as a manifest. Hidden files, editors' backups, and temporary files of programs that write
 * atomically are not.
 */
function isManifestName(name: string): boolean {
  return !name.startsWith('.') && !/(~|\.tmp|\.swp|\.bak|\.part)$/.test(name);
}
