/** The rules of an API kind: what the server sets, what it validates, and what clients may change (apiserver, registry/rest). */
import type { ApiObject } from './api-object.ts';
import type { FieldError } from './field-error.ts';
import type { UserInfo } from './user-info.ts';

export type CreateContext = { user: UserInfo; nowMs: number };

/** Rules for writes to a subresource. The arguments are complete objects of the main kind. */
export type SubresourceStrategy = {
  /** Returns the object to store: `object`, except that the fields not writable through this subresource are taken from `old`. */
  prepareForUpdate: (object: ApiObject, old: ApiObject) => ApiObject;
  validateUpdate?: (object: ApiObject, old: ApiObject) => readonly FieldError[];
  /** Fields that writers of this subresource do not own, such as `[['spec'], ['metadata', 'labels']]`. Default for `status`: `spec`. */
  resetFields?: readonly (readonly string[])[];
  /** Returns warnings for the client about a write to the subresource. Default: none. */
  warnings?: (object: ApiObject, old: ApiObject) => readonly string[];
};

/**
 * The rules of a kind, for objects in the stored version. The objects passed to these functions have been decoded, have their defaults and
 * valid metadata, and are never modified. Metadata (names, labels, finalizers, generation, immutable fields) is validated and maintained by
 * the registry.
 */
export type Strategy = {
  /** Loads code that the other functions need for an object. Called before each write, after `applyDefaults`. */
  load?: (object: ApiObject) => Promise<void>;
  /** Applies upstream's defaults for the kind's version. Called for each decoded object, also for updates. */
  applyDefaults?: (object: ApiObject) => ApiObject;
  /**
   * Returns why upstream cannot convert a decoded object to its internal type, for example because an annotation is not a number. Such an
   * object is rejected before applying any other rules. Default: every object can be converted.
   */
  conversionProblem?: (object: ApiObject) => string | undefined;
  /** Sets and removes fields in a new object. Default: removes `status` if the kind has a status subresource. */
  prepareForCreate?: (object: ApiObject, context: CreateContext) => ApiObject;
  /** Sets and removes fields in an updated object. Default: keeps the status of `old` if the kind has a status subresource. */
  prepareForUpdate?: (object: ApiObject, old: ApiObject) => ApiObject;
  validate?: (object: ApiObject) => readonly FieldError[];
  /** Returns all errors of an updated object. Upstream validates both the object and the change. */
  validateUpdate?: (object: ApiObject, old: ApiObject) => readonly FieldError[];
  /**
   * Evaluates the CEL rules of a custom resource. Asynchronous because it can take seconds. Called after `validate` or `validateUpdate`,
   * also for subresource updates. `errors` are the errors found so far; the result contains these and the errors of the CEL rules.
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
  /** `status` and other subresources that modify the object when written. Default: `status` if the kind has it. */
  subresources?: Readonly<Record<string, SubresourceStrategy>>;
  /**
   * Fields supported in field selectors, in addition to metadata.name and metadata.namespace. Each function returns the field's value as
   * text.
   */
  selectableFields?: Readonly<Record<string, (object: ApiObject) => string>>;
  /** Whether a PUT creates the object if it does not exist. Default: false. */
  allowCreateOnUpdate?: boolean;
  /** Whether a PUT without a resourceVersion is accepted. Default: true. */
  allowUnconditionalUpdate?: boolean;
  /** Whether `metadata.generation` is incremented by changes other than to metadata and status. Default: false. */
  hasGeneration?: boolean;
  /** Whether new objects have no generation. The first change sets it to 1. Default: false. */
  startsWithoutGeneration?: boolean;
  /** Whether status changes also increment the generation, as in custom resources without a status subresource. Default: false. */
  countsStatus?: boolean;
  /** Whether label changes also increment the generation, as for EndpointSlices. Default: false. */
  countsLabels?: boolean;
  /** Whether annotation changes also increment the generation, as for Deployments. Default: false. */
  countsAnnotations?: boolean;
  /** The `scale` subresource, if the kind has it. */
  scale?: ScaleStrategy;
  /** Propagation policy of DELETE requests that do not specify one. Default: `background`. */
  defaultDeletion?: 'orphan' | 'background';
  /** Modifies an object when its deletion is first requested, such as the phase of a namespace. Default: no change. */
  prepareForDelete?: (object: ApiObject) => ApiObject;
  /** Returns true if an object must be kept after a deletion request even though its metadata has no finalizers. Default: false. */
  defersRemoval?: (object: ApiObject) => boolean;
  /** Returns the grace period for deleting the object, in seconds, or `undefined` to delete it immediately. */
  gracePeriodSeconds?: (object: ApiObject, requested: number | undefined) => number | undefined;
  /** Fields that appliers and writers of the main resource do not own. Default: `status` if it is a subresource. */
  resetFields?: readonly (readonly string[])[];
};

/** The `scale` subresource of a kind (autoscaling/v1, Scale). Writing it updates the object's number of replicas. */
export type ScaleStrategy = {
  /** Path of the object's number of replicas, by API version; null for versions without the `scale` subresource. */
  replicasPaths: Readonly<Record<string, readonly string[] | null>>;
  scaleOf: (object: ApiObject) => ApiObject;
  /** Returns `object` with the number of replicas and the resource version of the given Scale. */
  withScale: (object: ApiObject, scale: ApiObject) => ApiObject;
  /** Returns all errors of a Scale sent by a client, except those in its metadata. */
  validate: (scale: ApiObject) => readonly FieldError[];
};

/** Strategies by group resource, such as `deployments.apps`. */
export type Strategies = Readonly<Record<string, Strategy>>;

/** Converts objects between another API version and the stored one. Both functions return new objects. */
export type Conversion = {
  toStored: (object: ApiObject) => ApiObject;
  fromStored: (object: ApiObject) => ApiObject;
  /**
   * Returns the object to store when a client has written a valid object in this API version. The argument is in the stored version, but
   * may contain fields declared only in this version. Default: the same object.
   */
  storable?: (object: ApiObject) => ApiObject;
  /**
   * Returns the errors specific to this API version in an object written by a client. The object is in the stored version; `old` is
   * `undefined` for a new object.
   */
  validate?: (object: ApiObject, old: ApiObject | undefined) => readonly FieldError[];
  /** Field names to use in errors for objects written in this version, if different from the stored version. */
  errorFields?: Readonly<Record<string, string>>;
  /** Returns what is wrong with a new object's name. Set if this API version has its own naming rule. */
  nameProblems?: (name: string, isPrefix: boolean) => readonly string[];
  /** Fields supported in field selectors in this version, with their names in the stored version. Default: the same names. */
  selectableFields?: Readonly<Record<string, string>>;
};

/** Conversions by group resource and version, such as `events.events.k8s.io/v1`. */
export type Conversions = Readonly<Record<string, Conversion>>;
