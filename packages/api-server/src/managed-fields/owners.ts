import { PodwrightError } from '@podwright/base';
import { type FieldSet, formatFieldsV1, type JsonObject, parseFieldsV1 } from '@podwright/kube-schema';

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

/** The identity of a manager. The same program with another operation, version or subresource is another manager. */
export type ManagerIdentity = {
  manager: string;
  operation: 'Apply' | 'Update';
  /** The version of the fields. */
  apiVersion: string;
  /** '' for the main resource. */
  subresource: string;
};

/** A manager with the fields that it owns. */
export type Owner = ManagerIdentity & {
  fields: FieldSet;
  /** The time of its last change, in whole seconds. */
  time?: string;
};

/** The managers of an object by `identifierOf`. */
export type Owners = ReadonlyMap<string, Owner>;

/** A key for a manager. Upstream orders conflicts by this text. An apply with another version remains the same manager. */
export function identifierOf({ manager, operation, apiVersion, subresource }: ManagerIdentity): string {
  const fields = { manager, operation, apiVersion: operation === 'Apply' ? '' : apiVersion, subresource };
  return JSON.stringify(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '')));
}

/** Decodes entries. Throws `invalid_argument` for entries that upstream rejects. */
export function decodeOwners(entries: readonly ManagedFieldsEntry[]): Map<string, Owner> {
  const owners = entries.map(decodeOwner);
  return new Map(owners.map((owner) => [identifierOf(owner), owner]));
}

function decodeOwner(entry: ManagedFieldsEntry, index: number): Owner {
  const { manager = '', operation, apiVersion = '', fieldsType = '', fieldsV1 = {}, subresource = '', time } = entry;
  if (operation !== 'Apply' && operation !== 'Update') throw invalid('operation must be `Apply` or `Update`');
  if (apiVersion === '') throw invalid('apiVersion must not be empty');
  if (fieldsType === '') throw invalid(`missing fieldsType in managed fields entry ${index}`);
  if (fieldsType !== 'FieldsV1')
    throw invalid(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`);
  const fields = parseFieldsV1(fieldsV1);
  return { manager, operation, apiVersion, subresource, fields, ...(time === undefined ? {} : { time }) };
}

const invalid = (message: string) => new PodwrightError('invalid_argument', message);

/** Encodes owners in upstream's order: appliers first, then by time, manager, version and subresource. */
export function encodeOwners(owners: Owners): ManagedFieldsEntry[] {
  return [...owners.values()].sort(compareOwners).map(encodeOwner);
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

/** 0 for a manager without a time. */
export const secondsOf = ({ time }: Owner): number => (time === undefined ? 0 : Math.floor(Date.parse(time) / 1000));

function encodeOwner({ manager, operation, apiVersion, subresource, fields, time }: Owner): ManagedFieldsEntry {
  return {
    ...(manager === '' ? {} : { manager }),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: formatFieldsV1(fields),
    ...(subresource === '' ? {} : { subresource }),
  };
}
