/** All messages, enums and services of `runtime.v1` and of Podwright's own `podwright.v1`, generated from `proto/`. */

export { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
export * from './gen/podwright/v1/images_pb.js';
export * from './gen/podwright/v1/traces_pb.js';
export * from './gen/runtime/v1/container_messages_pb.js';
export * from './gen/runtime/v1/container_pb.js';
export * from './gen/runtime/v1/events_pb.js';
export * from './gen/runtime/v1/image_messages_pb.js';
export * from './gen/runtime/v1/image_pb.js';
export * from './gen/runtime/v1/metrics_pb.js';
export * from './gen/runtime/v1/pod_messages_pb.js';
export * from './gen/runtime/v1/runtime_messages_pb.js';
export * from './gen/runtime/v1/runtime_pb.js';
export * from './gen/runtime/v1/sandbox_pb.js';
export * from './gen/runtime/v1/security_pb.js';
export * from './gen/runtime/v1/services_pb.js';
export * from './gen/runtime/v1/stats_pb.js';
