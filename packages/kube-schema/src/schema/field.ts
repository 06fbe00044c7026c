/** Scalars of protobuf; `bytes` are base64 in JSON, `double` is a number. */
export type ScalarType = 'string' | 'bool' | 'int32' | 'int64' | 'double' | 'bytes';

/** Messages that are one value in JSON, each with a codec of its own (`protobuf/value-codecs.ts`). */
export type ValueType =
  | 'quantity'
  | 'time'
  | 'microTime'
  | 'duration'
  | 'intOrString'
  | 'rawExtension'
  | 'fieldsV1'
  | 'json'
  | 'schemaOrArray'
  | 'schemaOrBool'
  | 'schemaOrStringArray';

const SCALARS: readonly string[] = ['string', 'bool', 'int32', 'int64', 'double', 'bytes'] satisfies ScalarType[];

export const isScalarType = (type: string): type is ScalarType => SCALARS.includes(type);

/** Structs have their package in their name, as `core.v1.Pod`; scalars and values have no dot. */
export const isStructType = (type: string): boolean => type.includes('.');

/** How a strategic merge patch changes a field (https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch). */
export type PatchStrategy = {
  /** Whether a list is merged: by the `mergeKey` of its elements, or as a set of scalars if there is none. */
  merge: boolean;
  mergeKey?: string;
  retainKeys: boolean;
  replace: boolean;
};

/** A field of a struct in Kubernetes' API. */
export type Field = {
  /** In JSON; '' if the field is inlined. */
  name: string;
  /** In protobuf; 0 for `kind` and `apiVersion` of an object, which only JSON has. */
  number: number;
  /** The field's type, or that of the elements of its list or map: a scalar, a value, or the name of a struct. */
  type: string;
  container: 'none' | 'list' | 'map';
  /** Whether Go's field is a pointer: then its absence differs from the zero value. */
  isPointer: boolean;
  /** Whether Go leaves out the zero value in JSON. Structs that are no pointers are never left out. */
  omitEmpty: boolean;
  /** As `omitEmpty`, also for structs. */
  omitZero: boolean;
  /** Whether the struct's fields are fields of the struct around it in JSON; in protobuf they are a message. */
  isInlined: boolean;
  isRequired: boolean;
  /** How server-side apply merges a list; `mapKeys` are the fields that identify an element of a `map`. */
  listType: 'atomic' | 'set' | 'map';
  mapKeys: readonly string[];
  /** Whether server-side apply replaces a map or struct as a whole. */
  isAtomicMap: boolean;
  patch: PatchStrategy;
  /** The name of the whole field's type in errors of Go's JSON decoder, as `[]v1.Container`. */
  goType: string;
};

/** A struct of Kubernetes' API: a kind, or a part of one. */
export type StructType = {
  /** As `core.v1.Pod`. */
  name: string;
  /** The fields in protobuf, by ascending number. */
  fields: readonly Field[];
  byNumber: ReadonlyMap<number, Field>;
  /** The fields in JSON: with those of inlined structs instead of these, and `kind` and `apiVersion` first. */
  byName: ReadonlyMap<string, Field>;
  /** Whether it is an object with `kind` and `apiVersion`. */
  isObject: boolean;
  /** Whether it is a message in protobuf and a list in JSON, as `meta.v1.Verbs`; the list is the only field. */
  isList: boolean;
  /** Whether server-side apply replaces it as a whole. */
  isAtomic: boolean;
};
