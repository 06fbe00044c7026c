export type { AddAnnotation, Admission, AdmissionAttributes, Reinvocation } from './admission-contract.ts';
export { FOREGROUND, ORPHAN } from './metadata/reference-rules.ts';
export { generateName, withSystemFields } from './metadata/system-fields.ts';
export type { Allocate, Allocation } from './registry/allocation.ts';
export { APPLY, applyPatch, patchObject } from './registry/apply-patch.ts';
export type { ScaleWrite } from './registry/change-scale.ts';
export { claimStrategies } from './registry/claim-strategies.ts';
export { checkedType, DecodeError, namedBy, namedKind } from './registry/declared-kind.ts';
export type { DeleteOptions } from './registry/delete-options.ts';
export { deletionAnswer } from './registry/deletion-answer.ts';
export { parseMetadataSelector } from './registry/field-selector.ts';
export { type LabelRequirement, matchesLabels } from './registry/label-requirements.ts';
export { parseLabelSelector } from './registry/label-selector.ts';
export type { PatchRequest } from './registry/patched-object.ts';
export { Registries } from './registry/registries.ts';
export { ResourceRegistry } from './registry/resource-registry.ts';
export { STORE_INDEXES } from './registry/selection.ts';
export { untilDurable } from './registry/store-answers.ts';
export { storedResource, storeResource } from './registry/stored-resource.ts';
export type { Written } from './registry/update-object.ts';
export type { RequestContext } from './request-context.ts';
export {
  endpointSlicesOf,
  NoEndpoint,
  type ServiceEndpoint,
  type ServicePlace,
  serviceEndpoint,
} from './service-endpoint.ts';
export {
  ApiError,
  badRequest,
  conflict,
  type FailureStatus,
  forbidden,
  groupResource,
  internalError,
  invalid,
  methodNotAllowed,
  noRepresentation,
  notAcceptable,
  notFound,
  pageNotFound,
  type StatusCause,
  tooLarge,
  tooManyRequests,
  unauthorized,
  unroutedMediaType,
  unsupportedMediaType,
} from './status/api-error.ts';
export { MemoryStore } from './store/memory-store.ts';
export type { IndexValue, ObjectKey, ObjectStore, StoreEvent, StoreOptions, Write } from './store/object-store.ts';
export type { Durability } from './store/sqlite-file.ts';
export { openSqliteStore, type SqliteStore } from './store/sqlite-store.ts';
export { ExpiredRevision, SlowWatcher } from './store/store-errors.ts';
export { itemParts, StoredObject } from './store/stored-object.ts';
export { parseTime, timestamp } from './timestamp.ts';
