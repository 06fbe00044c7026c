export type { FieldSet } from './apply/field-set.ts';
export { formatFieldsV1, parseFieldsV1 } from './apply/fields-v1.ts';
export { mergeConfiguration } from './apply/merge-configuration.ts';
export { formatElements, type PathElement } from './apply/path-element.ts';
export { type Applied, type ApplyConflict, FieldUpdater, type Manager, type Managers } from './apply/updater.ts';
export { type DecodedJson, type DecodeJsonOptions, decodeJson, strictDecodingMessage } from './decoding/decode-json.ts';
export type { JsonPath } from './decoding/problems.ts';
export { withDeclaredFields } from './decoding/prune.ts';
export { wrongStructures } from './decoding/wrong-structures.ts';
export type { JsonObject } from './json.ts';
export { formatGoValue } from './patches/go-value.ts';
export { jsonPatch } from './patches/json-patch.ts';
export { mergePatch } from './patches/merge-patch.ts';
export { strategicMerge } from './patches/strategic-merge.ts';
export { encodeListItem, listFrame } from './protobuf/encode-list.ts';
export type { DecodeLimits } from './protobuf/limits.ts';
export {
  type DefaultKind,
  decodeObject,
  encodeObject,
  isProtobufObject,
  PROTOBUF_MEDIA_TYPE,
} from './protobuf/object-codec.ts';
export { encodeWatchEvent, type WatchEvent, WatchFrames } from './protobuf/watch-frames.ts';
export type { CustomColumn, CustomSchema, CustomType } from './schema/custom-schema.ts';
export type { Field, PatchStrategy, ScalarType, StructType, ValueType } from './schema/field.ts';
export {
  apiVersionOf,
  type GroupVersionKind,
  listKind,
  parseApiVersion,
  type Resource,
  type Subresource,
} from './schema/resource.ts';
export { type CustomKind, Schema } from './schema/schema.ts';
export { compareVersions } from './schema/version-order.ts';
