import type { Attachment } from './attachment.ts';
import type { NetworkList, PluginConfig } from './network-list.ts';

/**
 * The plugins of a network that an attachment is added with, and later checked and deleted. `portmap` without ports to
 * map passes on the result of the plugin before it, and has nothing to take back: leaving it out saves a program with
 * each ADD, and its search through the rules of iptables with each DEL.
 */
export function chainOf({ plugins }: NetworkList, { capabilityArgs }: Attachment): PluginConfig[] {
  const { portMappings } = capabilityArgs;
  const hasPorts = Array.isArray(portMappings) && portMappings.length > 0;
  return plugins.filter(
    ({ type, config }, index) => index === 0 || type !== 'portmap' || hasPorts || config.runtimeConfig !== undefined,
  );
}
