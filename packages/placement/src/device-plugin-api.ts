/** The device plugin API, generated from `proto/deviceplugin`. */
export * from './gen/deviceplugin/v1beta1/deviceplugin_pb.js';
