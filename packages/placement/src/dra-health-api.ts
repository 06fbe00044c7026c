/** The service by which DRA drivers report device health, generated from `proto/dra-health`. */
export * from './gen/dra-health/v1alpha1/dra-health_pb.js';
