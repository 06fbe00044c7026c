/** The kubelet's side of the dynamic resource allocation API, generated from `proto/dra`. */
export * from './gen/dra/v1/dra_pb.js';
