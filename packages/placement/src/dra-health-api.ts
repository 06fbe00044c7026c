/** The health service of DRA drivers' devices, generated from `proto/dra-health`. */
export * from './gen/dra-health/v1alpha1/dra-health_pb.js';
