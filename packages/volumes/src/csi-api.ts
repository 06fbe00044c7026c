/** The Node service of the Container Storage Interface, generated from `proto/csi`. */
export * from './gen/csi/v1/csi_pb.js';
