/** The pod resources API, generated from `proto/podresources`. */
export * from './gen/podresources/v1/podresources_pb.js';
