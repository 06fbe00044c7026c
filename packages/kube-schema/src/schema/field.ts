import type { CustomType } from './custom-schema.ts';

/** Protobuf scalar types. In JSON, `bytes` is a base64 string and `double` is a number. */
export type ScalarType = 'string' | 'bool' | 'int32' | 'int64' | 'double' | 'bytes';

/** Messages that are represented by a single value in JSON, each with its own codec (`protobuf/value-codecs.ts`). */
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

/** Struct names are fully qualified, such as `core.v1.Pod`; the names of scalars and value types contain no dot. */
export const isStructType = (type: string): boolean => type.includes('.');

/**
 * How strategic merge patches modify a field (https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch).
 */
export type PatchStrategy = {
  /** Whether a list is merged. Elements are matched by `mergeKey`; without a merge key, the list is merged as a set of scalars. */
  merge: boolean;
  mergeKey?: string;
  retainKeys: boolean;
  replace: boolean;
};

/** A struct field in the Kubernetes API. */
export type Field = {
  /** The field's JSON name; '' if the field is inlined. */
  name: string;
  /** The protobuf field number; 0 for an object's `kind` and `apiVersion`, which exist only in JSON. */
  number: number;
  /** The type of the field or, for a list or map, of its elements: a scalar, a value type, or a struct name. */
  type: string;
  container: 'none' | 'list' | 'map';
  /** Whether the field is a pointer in Go, so an absent field differs from the zero value. */
  isPointer: boolean;
  /** Whether Go omits the zero value in JSON. Structs are omitted only if they are pointers. */
  omitEmpty: boolean;
  /** Like `omitEmpty`, but also omits structs that have their zero value (Go's `omitzero`). */
  omitZero: boolean;
  /** Whether the struct's fields are inlined into the enclosing struct in JSON. In protobuf, the struct is a nested message. */
  isInlined: boolean;
  isRequired: boolean;
  /** How server-side apply merges a list. For `map`, `mapKeys` are the fields that identify a list element. */
  listType: 'atomic' | 'set' | 'map';
  mapKeys: readonly string[];
  /** Whether server-side apply replaces a map or struct as a whole. */
  isAtomicMap: boolean;
  /** Whether server-side apply merges the struct although its type is atomic, as in a PersistentVolume's `claimRef`. */
  isGranular: boolean;
  patch: PatchStrategy;
  /** The Go type of the whole field, as shown in errors of Go's JSON decoder, such as `[]v1.Container`. */
  goType: string;
};

/** A struct in the Kubernetes API: a kind, or a type used within one. */
export type StructType = {
  /** The fully qualified name, such as `core.v1.Pod`. */
  name: string;
  /** The protobuf fields, in ascending order of field number. */
  fields: readonly Field[];
  byNumber: ReadonlyMap<number, Field>;
  /** The JSON fields: `kind` and `apiVersion` first; an inlined struct is replaced by its fields. */
  byName: ReadonlyMap<string, Field>;
  /** Whether the struct is an API object with `kind` and `apiVersion`. */
  isObject: boolean;
  /** Whether the struct is a message in protobuf but a list in JSON, such as `meta.v1.Verbs`. The list is then its only field. */
  isList: boolean;
  /** Whether server-side apply replaces the struct as a whole. */
  isAtomic: boolean;
  /** Set for custom kinds. `fields` then contains only the fields common to all objects. */
  custom?: CustomType;
};
