/** The node side of dynamic resource allocation, generated from `proto/dra`. */
export * from './gen/dra/v1/dra_pb.js';
