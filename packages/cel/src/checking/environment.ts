import type { FunctionTable } from '../functions/overload.ts';
import type { CelType } from '../types/types.ts';
import * as types from '../types/types.ts';

/** The variables, functions and message types available to a CEL expression. */
export type Environment = {
  readonly functions: FunctionTable;
  /** The types of the variables, by name. */
  readonly variables: Readonly<Record<string, CelType>>;
  /** Returns the type of a message that expressions can create, such as `Object.spec`. Default: there are no messages. */
  readonly messages?: (name: string) => CelType | undefined;
};

/** The types that expressions can use as values, by name. */
export const TYPE_NAMES: ReadonlyMap<string, CelType> = new Map([
  ['bool', types.BOOL],
  ['int', types.INT],
  ['uint', types.UINT],
  ['double', types.DOUBLE],
  ['string', types.STRING],
  ['bytes', types.BYTES],
  ['list', types.listOf(types.DYN)],
  ['map', types.mapOf(types.DYN, types.DYN)],
  ['null_type', types.NULL],
  ['type', types.typeOfType(types.DYN)],
  ['optional_type', types.optionalOf(types.DYN)],
  ['google.protobuf.Timestamp', types.TIMESTAMP],
  ['google.protobuf.Duration', types.DURATION],
  ['net.IP', types.opaque('net.IP')],
  ['net.CIDR', types.opaque('net.CIDR')],
]);
