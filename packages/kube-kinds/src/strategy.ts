/** The rules of an API kind: what the server fills in, what it validates and what clients may change (apiserver, registry/rest). */
import type { ApiObject } from './api-object.ts';
import type { FieldError } from './field-error.ts';
import type { UserInfo } from './user-info.ts';

export type CreateContext = { user: UserInfo; nowMs: number };

/** The rules for writes to a subresource. They are called with complete objects of the main kind. */
export type SubresourceStrategy = {
  /** Returns the object to store: `object`, but with the fields that this subresource cannot change taken from `old`. */
  prepareForUpdate: (object: ApiObject, old: ApiObject) => ApiObject;
  validateUpdate?: (object: ApiObject, old: ApiObject) => readonly FieldError[];
  /** Fields that a write to this subresource cannot own, such as `[['spec'], ['metadata', 'labels']]`. Default for `status`: `spec`. */
  resetFields?: readonly (readonly string[])[];
  /** Returns warnings for the client. Default: none. */
  warnings?: (object: ApiObject, old: ApiObject) => readonly string[];
};

/**
 * The rules of one kind, in the version in which its objects are stored. Objects passed to these functions have been decoded and have the
 * kind's defaults and valid metadata; no function modifies them. The registry validates and maintains the metadata (names, labels,
 * finalizers, generation, immutable fields).
 */
export type Strategy = {
  /** Loads code that the other functions need for an object. Called before each write, after `applyDefaults`. */
  load?: (object: ApiObject) => Promise<void>;
  /** Applies upstream's defaults for the kind's version. Called for each decoded object, including before updates. */
  applyDefaults?: (object: ApiObject) => ApiObject;
  /**
   * Returns why upstream cannot convert a decoded object to its internal type, for example because an annotation is not a number. Such an
   * object is refused before all other rules. Default: every object can be converted.
   */
  conversionProblem?: (object: ApiObject) => string | undefined;
  /** Sets and removes fields of a new object. Default: removes `status` if the kind has a status subresource. */
  prepareForCreate?: (object: ApiObject, context: CreateContext) => ApiObject;
  /** Default: keeps the status of `old` if the kind has a status subresource. */
  prepareForUpdate?: (object: ApiObject, old: ApiObject) => ApiObject;
  validate?: (object: ApiObject) => readonly FieldError[];
  /** Returns all errors in an updated object. Upstream validates both the object itself and the change. */
  validateUpdate?: (object: ApiObject, old: ApiObject) => readonly FieldError[];
  /**
   * Evaluates the rules in CEL of a custom resource. They can take seconds, so other work runs meanwhile. Called after `validate` or
   * `validateUpdate`, also for updates of a subresource. `errors`: the errors so far. Returns these and the errors of the rules.
   */
  validateRules?: (
    errors: readonly FieldError[],
    object: ApiObject,
    old: ApiObject | undefined,
  ) => Promise<readonly FieldError[]>;
  /** Returns warnings for the client, as in upstream's WarningsOnCreate and WarningsOnUpdate. */
  warnings?: (object: ApiObject, old: ApiObject | undefined) => readonly string[];
  /** Returns what is wrong with a name, without mentioning the field. Default: the name must be a DNS subdomain. */
  nameProblems?: (name: string, isPrefix: boolean) => readonly string[];
  /** `status` and any other subresources whose writes change the object itself. Default: `status` if the kind has it. */
  subresources?: Readonly<Record<string, SubresourceStrategy>>;
  /**
   * The fields that field selectors may use besides metadata.name and metadata.namespace. Each function returns the field's value as text.
   */
  selectableFields?: Readonly<Record<string, (object: ApiObject) => string>>;
  /** Whether a PUT to a missing object creates it. Default: false. */
  allowCreateOnUpdate?: boolean;
  /** Whether a PUT without a resourceVersion is accepted. Default: true. */
  allowUnconditionalUpdate?: boolean;
  /** Whether `metadata.generation` is incremented by changes outside of metadata and status. Default: false. */
  hasGeneration?: boolean;
  /** Whether a new object has no generation; the first change sets it to 1. Default: false. */
  startsWithoutGeneration?: boolean;
  /** Whether changes to the status also increment the generation: it is not a subresource of a custom kind. Default: false. */
  countsStatus?: boolean;
  /** Whether changes to labels also increment the generation, as for EndpointSlices. Default: false. */
  countsLabels?: boolean;
  /** Whether changes to annotations also increment the generation, as for Deployments. Default: false. */
  countsAnnotations?: boolean;
  /** The `scale` subresource, if the kind has it. */
  scale?: ScaleStrategy;
  /** The propagation policy for a DELETE request that does not specify one. Default: `background`. */
  defaultDeletion?: 'orphan' | 'background';
  /** Changes an object when a client first requests its deletion; for example, changes a namespace's phase. Default: no change. */
  prepareForDelete?: (object: ApiObject) => ApiObject;
  /** Returns true if an object whose deletion was requested must remain even though its metadata has no finalizers. Default: false. */
  defersRemoval?: (object: ApiObject) => boolean;
  /** Returns the grace period in seconds after which the object is deleted, or `undefined` if it is deleted immediately. */
  gracePeriodSeconds?: (object: ApiObject, requested: number | undefined) => number | undefined;
  /** Fields that an apply or update of the main resource may not own. Default: `status` if it is a subresource. */
  resetFields?: readonly (readonly string[])[];
};

/** The `scale` subresource of a kind (autoscaling/v1, Scale). Writing it updates the object with a different number of replicas. */
export type ScaleStrategy = {
  /** By API version of the object, the path of its number of replicas; null if objects have no scale in that version. */
  replicasPaths: Readonly<Record<string, readonly string[] | null>>;
  scaleOf: (object: ApiObject) => ApiObject;
  /** Returns `object` with the number of replicas and the resource version of `scale`. */
  withScale: (object: ApiObject, scale: ApiObject) => ApiObject;
  /** Returns all errors of a scale sent by a client, except those of its metadata. */
  validate: (scale: ApiObject) => readonly FieldError[];
};

/** Strategies by group resource, such as `deployments.apps`. */
export type Strategies = Readonly<Record<string, Strategy>>;

/** Converts objects between another API version and the stored version. Both functions return new objects. */
export type Conversion = {
  toStored: (object: ApiObject) => ApiObject;
  fromStored: (object: ApiObject) => ApiObject;
  /**
   * Returns what is stored of a valid object that a client has written in this version. The object is in the stored version, but may have
   * fields that only this version declares. Default: all of it.
   */
  storable?: (object: ApiObject) => ApiObject;
  /**
   * Returns the errors that only this version of the API has, in an object that a client writes in it. The object is given in the stored
   * version; `old` is undefined for a new object.
   */
  validate?: (object: ApiObject, old: ApiObject | undefined) => readonly FieldError[];
  /** The names of fields in errors of objects that clients write in this version, if they are not those of the stored version. */
  errorFields?: Readonly<Record<string, string>>;
  /** Returns the problems with a new object's name. Set if this version has a different naming rule. */
  nameProblems?: (name: string, isPrefix: boolean) => readonly string[];
  /** The fields that field selectors support in this version, with their names in the stored version. Default: the same names. */
  selectableFields?: Readonly<Record<string, string>>;
};

/** Conversions by group resource and version, such as `events.events.k8s.io/v1`. */
export type Conversions = Readonly<Record<string, Conversion>>;
