/** The dynamic resource allocation API that drivers serve for the kubelet, generated from `proto/dra`. */
export * from './gen/dra/v1/dra_pb.js';
