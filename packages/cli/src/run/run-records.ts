import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { PRIVATE_FILE } from '@podwright/base';
import { namesInSync } from '@podwright/host';
import { processStart } from '../client/process-start.ts';
import type { AppliedObject } from './run-session.ts';

/** The objects that a foreground `run` removes when it exits. `startedNode`: it also stops the node once no other pods are left. */
export type RunRecord = { objects: AppliedObject[]; startedNode: boolean };

type ObjectName = Pick<AppliedObject, 'kind' | 'namespace' | 'name'>;

/** The record of a `podwright run` process, and the path of the record's file. */
export type LeftoverRecord = RunRecord & { path: string };

/**
 * Each foreground `podwright run` has a file named `run-PID-STARTTIME.json` in the node's state directory. If the file outlives the
 * process, the process was killed before it could clean up. The state directory is volatile, so a reboot deletes the files.
 */
const FILE = /^run-(\d+)-(\d+)\.json$/;

/** Records the objects created by this process. Disposing the result deletes the record, unless `keep` has been aborted. */
export function recordRun(stateDirectory: string, { objects, startedNode }: RunRecord, keep?: AbortSignal): Disposable {
  const path = join(stateDirectory, `run-${process.pid}-${processStart(process.pid)}.json`);
  write(path, { objects: objects.filter(({ action }) => action === 'created'), startedNode });
  return { [Symbol.dispose]: () => keep?.aborted || rmSync(path, { force: true }) };
}

/** Returns the records of `podwright run` processes that were killed. Unreadable records are skipped. */
export function leftoverRecords(stateDirectory: string): LeftoverRecord[] {
  return allRecords(stateDirectory).filter(({ path }) => {
    const [, pid, start] = FILE.exec(basename(path))!;
    return processStart(Number(pid)) !== start;
  });
}

/** Returns the records of all `podwright run` processes, both killed and still running. */
export function allRecords(stateDirectory: string): LeftoverRecord[] {
  return namesInSync(stateDirectory).flatMap((name) => {
    if (!FILE.test(name)) return [];
    const path = join(stateDirectory, name);
    const record = readRecord(path);
    return record === undefined ? [] : [{ ...record, path }];
  });
}

/** Returns the UIDs of the pods created by foreground `podwright run` commands. */
export function uidsOfRuns(stateDirectory: string): Set<string> {
  return new Set(allRecords(stateDirectory).flatMap(({ objects }) => objects.flatMap(({ uid }) => uid ?? [])));
}

/**
 * The applied objects after adoption. `startedNode`: a `podwright run` process that was killed had started the node, so this one must stop
 * it.
 */
export type Adoption = { objects: AppliedObject[]; adopted: AppliedObject[]; startedNode: boolean };

/**
 * Adopts unchanged objects created by a `podwright run` process that was killed, by changing their action to `created`. If none of a
 * record's pods still exist, none of its objects are adopted: a ConfigMap has no UID, so it may have been replaced by another client's
 * ConfigMap with the same name.
 */
export function adoptLeftovers(applied: AppliedObject[], left: RunRecord[]): Adoption {
  const unchanged = new Set(applied.filter(({ action }) => action === 'unchanged').map(keyOf));
  const standing = left.filter(({ objects }) => objects.some((one) => hasUid(one) && unchanged.has(keyOf(one))));
  const keys = new Set(standing.flatMap(({ objects }) => objects.map(keyOf)));
  const isAdopted = (object: AppliedObject) => object.action === 'unchanged' && keys.has(keyOf(object));
  const adopted = applied.filter(isAdopted);
  return {
    objects: applied.map((object) => (isAdopted(object) ? { ...object, action: 'created' } : object)),
    adopted,
    startedNode: standing.some(({ startedNode }) => startedNode),
  };
}

/** Removes adopted objects from the records of `podwright run` processes that were killed. */
export function dropAdopted(left: LeftoverRecord[], adopted: AppliedObject[]): void {
  const keys = new Set(adopted.map(keyOf));
  drop(left, (object) => keys.has(keyOf(object)));
}

/**
 * Removes deleted objects from the records of `podwright run` processes that were killed. Objects are matched by name, because no object
 * with that name exists anymore.
 */
export function dropDeleted(stateDirectory: string, deleted: ObjectName[]): void {
  const names = new Set(deleted.map(nameOf));
  drop(leftoverRecords(stateDirectory), (object) => names.has(nameOf(object)));
}

/** Removes these objects from the records, and deletes records that have no pods left. */
function drop(left: LeftoverRecord[], isDropped: (object: AppliedObject) => boolean): void {
  for (const { path, objects, startedNode } of left) {
    const others = objects.filter((object) => !isDropped(object));
    if (!others.some(hasUid)) rmSync(path, { force: true });
    else if (others.length < objects.length) write(path, { objects: others, startedNode });
  }
}

const hasUid = ({ uid = '' }: AppliedObject): boolean => uid !== '';

const nameOf = ({ kind, namespace, name }: ObjectName): string => `${kind} ${namespace}/${name}`;

/** Returns a key that identifies an applied object. It includes the UID, so that a later pod with the same name does not match. */
const keyOf = ({ uid = '', ...object }: AppliedObject): string => `${nameOf(object)} ${uid}`;

function write(path: string, record: RunRecord): void {
  writeFileSync(path, JSON.stringify(record), { mode: PRIVATE_FILE });
}

function readRecord(path: string): RunRecord | undefined {
  try {
    const { objects, startedNode } = JSON.parse(readFileSync(path, 'utf8')) as RunRecord;
    return Array.isArray(objects) ? { objects, startedNode: startedNode === true } : undefined;
  } catch {
    return undefined;
  }
}
