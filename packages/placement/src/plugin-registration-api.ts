/** The registration protocol of plugins, generated from `proto/pluginregistration`. */
export * from './gen/pluginregistration/registration_pb.js';
