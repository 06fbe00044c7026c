import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Logger, makePrivateDirectory, PodwrightError, PRIVATE_DIRECTORY, wrapError } from '@podwright/base';
import { measureTree, Trash } from '@podwright/host';
import type { MetadataDatabase } from '@podwright/metadata';
import { type Mount, wrapFileError } from '@podwright/system';
import { filesIn, type SnapshotDirectories, type SnapshotLayout } from './snapshot-layout.ts';
import { type SnapshotRecord, SnapshotRecords } from './snapshot-records.ts';
import type { SnapshotInfo, SnapshotKind, Snapshotter, SnapshotUsage, UnpackTarget } from './snapshotter.ts';

const MAX_KEY_BYTES = 1024;

/** Returns the directory under a snapshotter's root that holds removed snapshots until they are deleted. */
export const trashIn = (root: string): string => join(root, 'trash');

/** `root` must be used only by this snapshotter. */
export type SnapshotterDependencies = {
  root: string;
  database: MetadataDatabase;
  layout: SnapshotLayout;
  logger: Logger;
};

/**
 * A snapshotter with one directory (`<root>/<number>/fs`) and one record per snapshot. A directory is filled in `<root>/new`, moved to its
 * final path, and only then recorded; on removal, it is moved to `<root>/trash` before its record is deleted. This lets the constructor
 * detect the leftovers of any crash.
 */
export class DirectorySnapshotter implements Snapshotter {
  readonly name: string;
  readonly directory: string;
  readonly #layout: SnapshotLayout;
  readonly #records: SnapshotRecords;
  readonly #trash: Trash;
  readonly #stop = new AbortController();
  /** The snapshots whose directory is still being filled: their keys, each with the number of its parent snapshot. */
  readonly #preparing = new Map<string, number | undefined>();
  #lastId: number;

  /** Opens the snapshots under `root` and reconciles records with directories. */
  constructor({ root, database, layout, logger }: SnapshotterDependencies) {
    this.name = layout.name;
    this.directory = root;
    this.#layout = layout;
    this.#records = new SnapshotRecords(database, layout.name);
    makePrivateDirectory(root);
    this.#trash = new Trash(trashIn(root), logger);
    this.#lastId = this.#reconcile(logger);
  }

  prepare(key: string, parent: string): Promise<Mount[]> {
    return this.#make('active', key, parent);
  }

  view(key: string, parent: string): Promise<Mount[]> {
    return this.#make('view', key, parent);
  }

  async commit(name: string, key: string): Promise<void> {
    checkKey(name);
    const record = this.#record(key);
    if (record.kind !== 'active') throw wrongKind('commit', record);
    this.#checkFree(name);
    this.#records.commit(record.id, name);
    rmSync(join(this.#directory(record.id), 'work'), { recursive: true, force: true });
  }

  async mounts(key: string): Promise<Mount[]> {
    const record = this.#record(key);
    if (record.kind === 'committed') throw wrongKind('mount', record);
    return this.#layout.mounts(this.#directories(record));
  }

  async stat(key: string): Promise<SnapshotInfo> {
    return toInfo(this.#record(key));
  }

  async usage(key: string): Promise<SnapshotUsage> {
    const record = this.#record(key);
    if (record.kind === 'view') return { sizeBytes: 0, inodes: 0 };
    const known = record.kind === 'committed' ? this.#records.usage(record.id) : undefined;
    if (known !== undefined) return known;
    const { signal } = this.#stop;
    const { usage } = await measureTree(filesIn(this.#directory(record.id)), { signal }).catch((error: unknown) => {
      throw wrapFileError(`measure snapshot ${key}`, error);
    });
    if (record.kind === 'committed') this.#records.setUsage(record.id, usage); // cached, because committed snapshots never change
    return usage;
  }

  async remove(key: string): Promise<void> {
    const record = this.#record(key);
    const children = this.#records.children(record.id).map((child) => child.key);
    for (const [child, parentId] of this.#preparing) if (parentId === record.id) children.push(child);
    if (children.length > 0) {
      throw new PodwrightError(
        'failed_precondition',
        `remove snapshot ${key}: ${children[0]} is built on it; remove that first`,
      );
    }
    this.#trash.throwAway(this.#directory(record.id));
    this.#records.delete(record.id);
  }

  async list(): Promise<SnapshotInfo[]> {
    return this.#records.list().map(toInfo);
  }

  async layerDirectory(key: string): Promise<string> {
    return filesIn(this.#directory(this.#record(key).id));
  }

  async unpackTarget(key: string): Promise<UnpackTarget> {
    const record = this.#record(key);
    if (record.kind !== 'active') throw wrongKind('unpack into', record);
    const { directory, parents } = this.#directories(record);
    const { isLayered } = this.#layout;
    return {
      directory: filesIn(directory),
      overlayWhiteouts: isLayered,
      parentDirectories: isLayered ? parents.map(filesIn) : [],
    };
  }

  /** Resolves once everything removed so far has been deleted from disk. */
  async settle(): Promise<void> {
    await this.#trash.empty();
  }

  async close(): Promise<void> {
    this.#stop.abort(new PodwrightError('cancelled', 'the snapshotter was closed'));
    await this.#trash.close();
  }

  async #make(kind: SnapshotKind, key: string, parent: string): Promise<Mount[]> {
    checkKey(key);
    this.#checkFree(key);
    const parentRecord = parent === '' ? undefined : this.#record(parent);
    if (parentRecord !== undefined && parentRecord.kind !== 'committed') throw wrongKind('build on', parentRecord);
    this.#preparing.set(key, parentRecord?.id);
    const id = ++this.#lastId;
    const filling = join(this.directory, 'new', String(id));
    try {
      mkdirSync(filling, { recursive: true, mode: PRIVATE_DIRECTORY });
      await this.#layout.create({ kind, directory: filling, parents: this.#parents(parentRecord) });
      renameSync(filling, this.#directory(id));
      this.#records.insert({ id, key, kind, parent, createdAtMs: Date.now() }, parentRecord?.id);
    } catch (error) {
      this.#discard(id);
      throw wrapError(`prepare snapshot ${key}`, wrapFileError('create its directory', error));
    } finally {
      this.#preparing.delete(key);
    }
    return this.mounts(key);
  }

  #discard(id: number): void {
    for (const path of [join(this.directory, 'new', String(id)), this.#directory(id)]) {
      if (existsSync(path)) this.#trash.throwAway(path);
    }
  }

  #record(key: string): SnapshotRecord {
    const record = this.#records.find(key);
    if (record === undefined) throw new PodwrightError('not_found', `snapshot ${key} does not exist`);
    return record;
  }

  #checkFree(key: string): void {
    if (this.#records.find(key) === undefined && !this.#preparing.has(key)) return;
    throw new PodwrightError('already_exists', `snapshot ${key} already exists`);
  }

  #directories(record: SnapshotRecord): SnapshotDirectories {
    const parents = this.#records.ancestors(record.id).map((id) => this.#directory(id));
    return { kind: record.kind, directory: this.#directory(record.id), parents };
  }

  #parents(record: SnapshotRecord | undefined): string[] {
    if (record === undefined) return [];
    return [record.id, ...this.#records.ancestors(record.id)].map((id) => this.#directory(id));
  }

  #directory(id: number): string {
    return join(this.directory, String(id));
  }

  /** Removes directories without a record and records without a directory. Returns the highest number used so far. */
  #reconcile(logger: Logger): number {
    const names = readdirSync(this.directory).filter((name) => name !== 'trash');
    const records = this.#records.list();
    const recorded = new Set(records.map(({ id }) => String(id)));
    const stray = names.filter((name) => !recorded.has(name));
    for (const name of stray) this.#trash.throwAway(join(this.directory, name));
    const present = new Set(names);
    const incomplete = records.filter(({ id }) => !present.has(String(id)));
    for (const record of incomplete) this.#dropRecord(record, logger);
    if (stray.length > 0) logger.info({ directories: stray.length }, 'removed the leftovers of unfinished snapshots');
    const numbers = names.map(Number).filter(Number.isSafeInteger);
    return Math.max(this.#records.lastId(), ...numbers, 0);
  }

  /** Deletes the record of a snapshot whose directory is missing, and those of its descendants, which are useless without it. */
  #dropRecord(record: SnapshotRecord, logger: Logger): void {
    for (const child of this.#records.children(record.id)) this.#dropRecord(child, logger);
    if (this.#records.find(record.key)?.id !== record.id) return;
    logger.warn({ key: record.key }, 'the files of a snapshot are missing, removing its record');
    this.#records.delete(record.id);
    if (existsSync(this.#directory(record.id))) this.#trash.throwAway(this.#directory(record.id));
  }
}

function toInfo({ key, kind, parent, createdAtMs }: SnapshotRecord): SnapshotInfo {
  return { key, kind, parent, createdAtMs };
}

function checkKey(key: string): void {
  if (key === '' || Buffer.byteLength(key) > MAX_KEY_BYTES) {
    throw new PodwrightError(
      'invalid_argument',
      `the snapshot key ${JSON.stringify(key.slice(0, 80))} is empty or too long`,
    );
  }
}

function wrongKind(what: string, { key, kind }: SnapshotRecord): PodwrightError {
  return new PodwrightError('failed_precondition', `${what} snapshot ${key}: it is ${kind}`);
}
