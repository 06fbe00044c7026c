/** All messages, enums and services of NRI, generated from `proto/`. */

export { create, type MessageInitShape } from '@bufbuild/protobuf';
export * from './gen/nri/v1alpha1/adjustment_pb.js';
export * from './gen/nri/v1alpha1/container_pb.js';
export * from './gen/nri/v1alpha1/owners_pb.js';
export * from './gen/nri/v1alpha1/services_pb.js';
