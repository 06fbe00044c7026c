import { PodwrightError } from '@podwright/base';
import type { FieldSet, JsonObject } from '@podwright/kube-schema';
import { FieldSets } from './field-sets.ts';

/** An entry of `metadata.managedFields`. */
export type ManagedFieldsEntry = {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: JsonObject;
  subresource?: string;
};

/** Identifies a field manager. The same client with a different operation, version or subresource is a different manager. */
export type ManagerIdentity = {
  manager: string;
  operation: 'Apply' | 'Update';
  /** The API version that the manager used, whose field names the entry contains. */
  apiVersion: string;
  /** Name of the subresource that the manager wrote to; '' for the main resource. */
  subresource: string;
};

/** A field manager and the fields that it owns. */
export type Owner = ManagerIdentity & {
  fields: FieldSet;
  /** When the manager last changed its fields, with second precision. */
  time?: string;
};

/** An object's field managers, keyed by `identifierOf`. */
export type Owners = ReadonlyMap<string, Owner>;

/** Returns the key of a manager. Upstream sorts conflicts by it. The key of an applier does not depend on its API version. */
export function identifierOf({ manager, operation, apiVersion, subresource }: ManagerIdentity): string {
  const fields = { manager, operation, apiVersion: operation === 'Apply' ? '' : apiVersion, subresource };
  return JSON.stringify(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '')));
}

/** Decodes managed fields entries. Throws `invalid_argument` for entries that upstream rejects. */
export function decodeOwners(entries: readonly ManagedFieldsEntry[], sets = new FieldSets()): Map<string, Owner> {
  const owners = entries.map((entry, index) => decodeOwner(entry, index, sets));
  return new Map(owners.map((owner) => [identifierOf(owner), owner]));
}

function decodeOwner(entry: ManagedFieldsEntry, index: number, sets: FieldSets): Owner {
  const { manager = '', operation, apiVersion = '', fieldsType = '', fieldsV1 = {}, subresource = '', time } = entry;
  if (operation !== 'Apply' && operation !== 'Update') throw invalid('operation must be `Apply` or `Update`');
  if (apiVersion === '') throw invalid('apiVersion must not be empty');
  if (fieldsType === '') throw invalid(`missing fieldsType in managed fields entry ${index}`);
  if (fieldsType !== 'FieldsV1')
    throw invalid(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`);
  const fields = sets.parse(fieldsV1);
  return { manager, operation, apiVersion, subresource, fields, ...(time === undefined ? {} : { time }) };
}

const invalid = (message: string) => new PodwrightError('invalid_argument', message);

/** Encodes the owners in upstream's order: appliers first, then by time, manager, version and subresource. */
export function encodeOwners(owners: Owners, sets = new FieldSets()): ManagedFieldsEntry[] {
  return [...owners.values()].sort(compareOwners).map((owner) => encodeOwner(owner, sets));
}

function compareOwners(one: Owner, other: Owner): number {
  return (
    compare(one.operation, other.operation) ||
    compare(secondsOf(one), secondsOf(other)) ||
    compare(one.manager, other.manager) ||
    compare(one.apiVersion, other.apiVersion) ||
    compare(one.subresource, other.subresource)
  );
}

const compare = <T extends string | number>(one: T, other: T): number => (one < other ? -1 : one > other ? 1 : 0);

/** Returns the owner's time in Unix seconds, or 0 if it has none. */
export const secondsOf = ({ time }: Owner): number => (time === undefined ? 0 : Math.floor(Date.parse(time) / 1000));

function encodeOwner(owner: Owner, sets: FieldSets): ManagedFieldsEntry {
  const { manager, operation, apiVersion, subresource, fields, time } = owner;
  return {
    ...(manager === '' ? {} : { manager }),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: sets.format(fields),
    ...(subresource === '' ? {} : { subresource }),
  };
}
