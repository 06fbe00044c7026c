/** Protobuf scalars. In JSON, `bytes` are base64 and `double` is a number. */
export type ScalarType = 'string' | 'bool' | 'int32' | 'int64' | 'double' | 'bytes';

/** Messages that are a single value in JSON, each with its own codec (`protobuf/value-codecs.ts`). */
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

/** Struct names include their package, such as `core.v1.Pod`; names of scalars and value types have no dot. */
export const isStructType = (type: string): boolean => type.includes('.');

/**
 * How strategic merge patches change a field (https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch).
 */
export type PatchStrategy = {
  /** Whether a list is merged: by the `mergeKey` of its elements, or as a set of scalars if there is no merge key. */
  merge: boolean;
  mergeKey?: string;
  retainKeys: boolean;
  replace: boolean;
};

/** A field of a struct in Kubernetes' API. */
export type Field = {
  /** The field's name in JSON; '' if the field is inlined. */
  name: string;
  /** The field number in protobuf; 0 for an object's `kind` and `apiVersion`, which exist only in JSON. */
  number: number;
  /** The type of the field, or of the elements of its list or map: a scalar, a value type, or the name of a struct. */
  type: string;
  container: 'none' | 'list' | 'map';
  /** Whether the field is a pointer in Go, so that absence differs from the zero value. */
  isPointer: boolean;
  /** Whether Go omits the zero value in JSON. Structs that are not pointers are never omitted. */
  omitEmpty: boolean;
  /** Like `omitEmpty`, but applies to structs as well. */
  omitZero: boolean;
  /** Whether, in JSON, the struct's fields are fields of the enclosing struct. In protobuf, the struct is a message. */
  isInlined: boolean;
  isRequired: boolean;
  /** How server-side apply merges a list. For `map`, `mapKeys` are the fields that identify an element. */
  listType: 'atomic' | 'set' | 'map';
  mapKeys: readonly string[];
  /** Whether server-side apply replaces a map or struct as a whole. */
  isAtomicMap: boolean;
  /** Whether server-side apply merges the struct although its type is atomic, as in a PersistentVolume's `claimRef`. */
  isGranular: boolean;
  patch: PatchStrategy;
  /** The name of the whole field's type in errors of Go's JSON decoder, such as `[]v1.Container`. */
  goType: string;
};

/** A struct of Kubernetes' API: a kind, or a part of one. */
export type StructType = {
  /** The name with its package, such as `core.v1.Pod`. */
  name: string;
  /** The fields in protobuf, in ascending order of number. */
  fields: readonly Field[];
  byNumber: ReadonlyMap<number, Field>;
  /** The fields in JSON: `kind` and `apiVersion` first, and the fields of inlined structs in place of these structs. */
  byName: ReadonlyMap<string, Field>;
  /** Whether it is an object with `kind` and `apiVersion`. */
  isObject: boolean;
  /** Whether it is a message in protobuf and a list in JSON, such as `meta.v1.Verbs`. The list is its only field. */
  isList: boolean;
  /** Whether server-side apply replaces it as a whole. */
  isAtomic: boolean;
};
