import { PodwrightError } from '@podwright/base';
import { isContainerId, isInterfaceName } from './names.ts';

/** A container's attachment to a network (spec section 3, "Attachment parameters"). */
export type Attachment = {
  containerId: string;
  /** Name of the interface to create in the container, such as `eth0`. */
  ifName: string;
  netnsPath: string;
  /** The entries of the plugin parameter `CNI_ARGS`, in order. */
  args: [string, string][];
  /** Capability arguments, by capability name. A plugin receives those for the capabilities that its configuration declares. */
  capabilityArgs: Record<string, unknown>;
};

/** Throws `invalid_argument` for IDs and names that the specification forbids. Must be called before they are used in paths. */
export function validateAttachment({ containerId, ifName, args }: Attachment): void {
  if (!isContainerId(containerId)) throw invalid(`${JSON.stringify(containerId)} is not a valid container id`);
  if (!isInterfaceName(ifName)) throw invalid(`${JSON.stringify(ifName)} is not a valid interface name`);
  const bad = args.find(([key, value]) => !/^[A-Za-z0-9_]+$/.test(key) || /[;\0]/.test(value));
  if (bad !== undefined) throw invalid(`${JSON.stringify(bad.join('='))} cannot be passed in CNI_ARGS`);
}

export const formatArgs = (args: [string, string][]): string => args.map(([key, value]) => `${key}=${value}`).join(';');

const invalid = (reason: string): PodwrightError => new PodwrightError('invalid_argument', `CNI attachment: ${reason}`);
