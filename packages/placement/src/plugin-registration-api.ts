/** The plugin registration API, generated from `proto/pluginregistration`. */
export * from './gen/pluginregistration/registration_pb.js';
