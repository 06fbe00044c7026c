/** The Node Resource Interface (containerd/nri), for plugins and for container runtimes. */
export { Adaptation, type AdaptationOptions, type RuntimeDomain } from './adaptation.ts';
export { adjustSpec } from './adjust-spec.ts';
export { type DefaultValidatorSettings, REQUIRED_PLUGINS_ANNOTATION } from './default-validator.ts';
export type { ContainerSource, PodSource } from './event-source.ts';
export type { EventName } from './events.ts';
export * from './messages.ts';
export { NRI_VERSION } from './nri-version.ts';
export type { NriSpec, NriSpecResources } from './oci-spec.ts';
export { listenForPlugins } from './plugin-socket.ts';
export { type PluginDirectories, startInstalledPlugins } from './preinstalled-plugins.ts';
export { containerOfSpec, resourcesMessage } from './spec-messages.ts';
export { DEFAULT_SOCKET, type PluginHandlers, type PluginOptions, type RunningPlugin, runPlugin } from './stub.ts';
export { type AdjustableHost, unsupportedSettings } from './unsupported-settings.ts';
