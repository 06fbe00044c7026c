/** The text of objects being edited by a user, and the changes made to it. */
import { PodwrightError } from '@podwright/base';
import { readYamlDocuments } from '@podwright/kube-api';
import type { ApiObject } from '../api-port.ts';
import { type Target, targetName } from '../target.ts';
import { mergePatchBetween } from './merge-patch-between.ts';

/**
 * An edited object, and the merge patch that applies the user's edits to the target; `patch` is undefined if the object was not changed.
 */
export type Edit = { target: Target; after: ApiObject; patch: object | undefined };

/** Returns the value for the user to edit: one object, or a `List` of several, without `managedFields`. */
export function editableValue(targets: readonly Target[]): object {
  const items = targets.map(({ object }) => withoutManagers(object));
  return items.length === 1 ? items[0]! : { apiVersion: 'v1', items, kind: 'List', metadata: {} };
}

/**
 * Reads edited YAML or JSON. Throws `invalid_argument` if it cannot be parsed, contains other objects, or changes a field that identifies
 * an object. Objects that the user removed from a list are left unchanged.
 */
export function readEdits(text: string, targets: readonly Target[]): Edit[] {
  const { documents, problems } = readYamlDocuments(text, 1);
  const [problem] = problems;
  if (problem !== undefined) throw refusal(`line ${problem.line}, column ${problem.column}: ${problem.message}`);
  const [document, ...more] = documents;
  if (document === undefined || more.length > 0) throw refusal('the text has no object, or several documents');
  const duplicate = document.duplicates[0];
  if (duplicate !== undefined) throw refusal(`line ${duplicate.line}: duplicate field ${duplicate.path.join('.')}`);
  const { items } = (document.value ?? {}) as { items?: unknown };
  const isList = targets.length > 1;
  const objects = isList ? items : [document.value];
  if (!Array.isArray(objects)) throw refusal('the text is not a list of the objects');
  return objects.map((object: unknown) => editOf(object as Partial<ApiObject> | null, targets));
}

function editOf(object: Partial<ApiObject> | null, targets: readonly Target[]): Edit {
  const uid = object?.metadata?.uid;
  const target = targets.length === 1 ? targets[0]! : targets.find((one) => one.object.metadata.uid === uid);
  if (target === undefined)
    throw refusal(`the list has an object with metadata.uid ${JSON.stringify(uid)}, which is not being edited`);
  const before = withoutManagers(target.object);
  const changed = identityOf(before).find(([, value], index) => identityOf(object)[index]![1] !== value);
  if (changed !== undefined) throw refusal(`${targetName(target)}: ${changed[0]} must stay ${changed[1]}`);
  const after = object as ApiObject;
  return { target, after, patch: mergePatchBetween(before, after) };
}

/** Returns the fields that the user must not edit, with their values. */
const identityOf = (object: Partial<ApiObject> | null): [string, unknown][] => [
  ['apiVersion', object?.apiVersion],
  ['kind', object?.kind],
  ['metadata.name', object?.metadata?.name],
  ['metadata.namespace', object?.metadata?.namespace],
];

function withoutManagers(object: ApiObject): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata as ApiObject['metadata'] & { managedFields?: unknown };
  return { ...object, metadata };
}

const refusal = (message: string): PodwrightError => new PodwrightError('invalid_argument', message);
