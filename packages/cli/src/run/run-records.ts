import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { namesInSync, PRIVATE_FILE } from '@podwright/base';
import { processStart } from '../client/process-start.ts';
import type { AppliedObject } from './run-session.ts';

/** What a `run` in front will remove at its end. `startedNode`: also the node, if no other pods are there then. */
export type RunRecord = { objects: AppliedObject[]; startedNode: boolean };

type ObjectName = Pick<AppliedObject, 'kind' | 'namespace' | 'name'>;

/** A record and its file. */
export type LeftRecord = RunRecord & { path: string };

/**
 * Each `run` in front has a file in the node's state directory, named by its process. A file whose process is gone is of one that was
 * killed and could remove nothing. A reboot takes the files along, as it does the processes.
 */
const FILE = /^run-(\d+)-(\d+)\.json$/;

/** Writes down what this process has made of these objects; disposing of it takes that back, unless `left` has aborted. */
export function recordRun(stateDirectory: string, { objects, startedNode }: RunRecord, left?: AbortSignal): Disposable {
  const path = join(stateDirectory, `run-${process.pid}-${processStart(process.pid)}.json`);
  write(path, { objects: objects.filter(({ action }) => action === 'created'), startedNode });
  return { [Symbol.dispose]: () => left?.aborted || rmSync(path, { force: true }) };
}

/** What killed runs have left; what is not readable as a record is nobody's. */
export function leftRecords(stateDirectory: string): LeftRecord[] {
  return allRecords(stateDirectory).filter(({ path }) => {
    const [, pid, start] = FILE.exec(basename(path))!;
    return processStart(Number(pid)) !== start;
  });
}

/** Those of runs that go on as well. */
export function allRecords(stateDirectory: string): LeftRecord[] {
  return namesInSync(stateDirectory).flatMap((name) => {
    if (!FILE.test(name)) return [];
    const path = join(stateDirectory, name);
    const record = readRecord(path);
    return record === undefined ? [] : [{ ...record, path }];
  });
}

/** UIDs of the pods that runs in front have made. */
export function uidsOfRuns(stateDirectory: string): Set<string> {
  return new Set(allRecords(stateDirectory).flatMap(({ objects }) => objects.flatMap(({ uid }) => uid ?? [])));
}

/** What a run finds as killed ones have left it: its own from now on, with the node that one of them had started. */
export type TakenOver = { objects: AppliedObject[]; taken: AppliedObject[]; startedNode: boolean };

/**
 * The objects of an apply as if those of these records that stand unchanged had been made by it: who made them is gone. Of a record
 * whose pods do not stand nothing is taken: a ConfigMap has no UID, so one of its name may have been made anew by somebody else.
 */
export function takeOver(applied: AppliedObject[], left: RunRecord[]): TakenOver {
  const unchanged = new Set(applied.filter(({ action }) => action === 'unchanged').map(keyOf));
  const standing = left.filter(({ objects }) => objects.some((one) => hasUid(one) && unchanged.has(keyOf(one))));
  const keys = new Set(standing.flatMap(({ objects }) => objects.map(keyOf)));
  const isTaken = (object: AppliedObject) => object.action === 'unchanged' && keys.has(keyOf(object));
  const taken = applied.filter(isTaken);
  return {
    objects: applied.map((object) => (isTaken(object) ? { ...object, action: 'created' } : object)),
    taken,
    startedNode: standing.some(({ startedNode }) => startedNode),
  };
}

/** Takes objects that have been taken over out of the records of killed runs. */
export function forgetTaken(left: LeftRecord[], taken: AppliedObject[]): void {
  const keys = new Set(taken.map(keyOf));
  forget(left, (object) => keys.has(keyOf(object)));
}

/** Takes objects that have been deleted out of the records of killed runs: whatever their UIDs were, none of these names stands. */
export function forgetDeleted(stateDirectory: string, deleted: ObjectName[]): void {
  const names = new Set(deleted.map(nameOf));
  forget(leftRecords(stateDirectory), (object) => names.has(nameOf(object)));
}

/** Records without pods then go. */
function forget(left: LeftRecord[], isForgotten: (object: AppliedObject) => boolean): void {
  for (const { path, objects, startedNode } of left) {
    const others = objects.filter((object) => !isForgotten(object));
    if (!others.some(hasUid)) rmSync(path, { force: true });
    else if (others.length < objects.length) write(path, { objects: others, startedNode });
  }
}

const hasUid = ({ uid = '' }: AppliedObject): boolean => uid !== '';

const nameOf = ({ kind, namespace, name }: ObjectName): string => `${kind} ${namespace}/${name}`;

/** A pod that another one of its name has replaced is not what was made. */
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
