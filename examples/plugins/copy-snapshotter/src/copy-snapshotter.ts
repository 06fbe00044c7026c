import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type {
  ErrorCode,
  Mount,
  SnapshotInfo,
  Snapshotter,
  SnapshotUsage,
  UnpackTarget,
} from '@podwright/runtime/plugin';
import { type SnapshotRecord, SnapshotRecords } from './snapshot-records.ts';

export type CopySnapshotterOptions = { name: string; root: string; reflink: 'auto' | 'always' | 'never' };

const run = promisify(execFile);

/** An error for Podwright, which distinguishes errors by their `code`. */
const failure = (code: ErrorCode, message: string): Error => Object.assign(new Error(message), { code });

/**
 * Each snapshot is a full copy of its parent, in `<root>/<number>/fs`. A copy is made in `<root>/new-<number>`, renamed and then
 * recorded; a record is removed before its directory. So a directory without a record is the leftover of a crash.
 */
export class CopySnapshotter implements Snapshotter {
  readonly name: string;
  readonly directory: string;
  readonly #options: CopySnapshotterOptions;
  readonly #records: SnapshotRecords;
  /** Keys of snapshots that are being created, with the key of their parent. */
  readonly #making = new Map<string, string>();
  #lastNumber: number;

  constructor(options: CopySnapshotterOptions) {
    this.name = options.name;
    this.directory = options.root;
    this.#options = options;
    mkdirSync(options.root, { recursive: true, mode: 0o700 });
    this.#records = new SnapshotRecords(join(options.root, 'records.json'));
    this.#lastNumber = this.#reconcile();
  }

  prepare(key: string, parent: string): Promise<Mount[]> {
    return this.#make({ key, parent, kind: 'active' });
  }

  view(key: string, parent: string): Promise<Mount[]> {
    return this.#make({ key, parent, kind: 'view' });
  }

  async commit(name: string, key: string): Promise<void> {
    const record = this.#get(key, 'active');
    this.#checkFree(name);
    this.#records.put({ ...record, key: name, kind: 'committed' }, key);
  }

  async mounts(key: string): Promise<Mount[]> {
    const record = this.#get(key, 'active', 'view');
    const shown = record.kind === 'view' && record.parent !== '' ? this.#get(record.parent) : record;
    const options = [record.kind === 'view' ? 'ro' : 'rw', 'rbind'];
    return [{ type: 'bind', source: this.#files(shown), options }];
  }

  async stat(key: string): Promise<SnapshotInfo> {
    return toInfo(this.#get(key));
  }

  async usage(key: string): Promise<SnapshotUsage> {
    const record = this.#get(key);
    if (record.kind === 'view') return { sizeBytes: 0, inodes: 0 };
    const measure = async (option: string) => {
      const { stdout } = await run('du', ['--summarize', option, this.#files(record)]);
      return Number.parseInt(stdout, 10);
    };
    const [sizeBytes, inodes] = await Promise.all([measure('--block-size=1'), measure('--inodes')]);
    return { sizeBytes, inodes };
  }

  async remove(key: string): Promise<void> {
    const record = this.#get(key);
    const parents = [...this.#records.list().map(({ parent }) => parent), ...this.#making.values()];
    if (parents.includes(key))
      throw failure('failed_precondition', `remove snapshot ${key}: other snapshots are based on it`);
    this.#records.delete(key);
    await rm(this.#directory(record.number), { recursive: true, force: true });
  }

  async list(): Promise<SnapshotInfo[]> {
    return this.#records.list().map(toInfo);
  }

  async layerDirectory(key: string): Promise<string> {
    return this.#files(this.#get(key));
  }

  async unpackTarget(key: string): Promise<UnpackTarget> {
    return { directory: this.#files(this.#get(key, 'active')), overlayWhiteouts: false, parentDirectories: [] };
  }

  async close(): Promise<void> {}

  async #make(info: Omit<SnapshotInfo, 'createdAtMs'>): Promise<Mount[]> {
    const { key, parent, kind } = info;
    this.#checkFree(key);
    const below = parent === '' ? undefined : this.#get(parent, 'committed');
    const number = ++this.#lastNumber;
    const filling = join(this.#options.root, `new-${number}`);
    this.#making.set(key, parent);
    try {
      mkdirSync(filling, { mode: 0o700 });
      if (below === undefined || kind === 'view') mkdirSync(join(filling, 'fs'), { mode: 0o755 });
      else await this.#copy(this.#files(below), join(filling, 'fs'));
      renameSync(filling, this.#directory(number));
      this.#records.put({ ...info, number, createdAtMs: Date.now() });
    } catch (error) {
      await rm(filling, { recursive: true, force: true });
      throw error;
    } finally {
      this.#making.delete(key);
    }
    return this.mounts(key);
  }

  /** Copies with owners, modes, times, extended attributes, hard links, devices and holes. */
  async #copy(from: string, to: string): Promise<void> {
    await run('cp', ['--archive', `--reflink=${this.#options.reflink}`, '--sparse=auto', from, to]);
  }

  #get(key: string, ...kinds: SnapshotInfo['kind'][]): SnapshotRecord {
    const record = this.#records.find(key);
    if (record === undefined) throw failure('not_found', `snapshot ${key} does not exist`);
    if (kinds.length === 0 || kinds.includes(record.kind)) return record;
    throw failure('failed_precondition', `snapshot ${key} is ${record.kind}, not ${kinds.join(' or ')}`);
  }

  #checkFree(key: string): void {
    if (key === '') throw failure('invalid_argument', 'a snapshot needs a key');
    if (this.#records.find(key) === undefined && !this.#making.has(key)) return;
    throw failure('already_exists', `snapshot ${key} already exists`);
  }

  #directory(number: number): string {
    return join(this.#options.root, String(number));
  }

  #files({ number }: SnapshotRecord): string {
    return join(this.#directory(number), 'fs');
  }

  /** Removes snapshot directories without a record and records without a directory. Returns the highest number in use. */
  #reconcile(): number {
    const directories = readdirSync(this.#options.root).filter((name) => /^(new-)?\d+$/.test(name));
    const recorded = new Set(this.#records.list().map(({ number }) => String(number)));
    for (const name of directories.filter((directory) => !recorded.has(directory)))
      rmSync(join(this.#options.root, name), { recursive: true, force: true });
    for (const { key, number } of this.#records.list())
      if (!directories.includes(String(number))) this.#records.delete(key);
    return Math.max(0, ...[...recorded].map(Number));
  }
}

function toInfo({ key, kind, parent, createdAtMs }: SnapshotRecord): SnapshotInfo {
  return { key, kind, parent, createdAtMs };
}
