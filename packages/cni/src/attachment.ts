import { PodwrightError } from '@podwright/base';
import { isContainerId, isInterfaceName } from './names.ts';

/** A container's place in a network (spec section 3, "Attachment parameters"). */
export type Attachment = {
  containerId: string;
  /** Interface to make inside, such as `eth0`. */
  ifName: string;
  netnsPath: string;
  /** `CNI_ARGS`, in this order. */
  args: [string, string][];
  /** Values by capability; a plugin gets those whose capability its configuration names. */
  capabilityArgs: Record<string, unknown>;
};

/** Throws `invalid_argument` for ids and names that the specification forbids, before they become parts of paths. */
export function validateAttachment({ containerId, ifName, args }: Attachment): void {
  if (!isContainerId(containerId)) throw invalid(`${JSON.stringify(containerId)} cannot be a container id`);
  if (!isInterfaceName(ifName)) throw invalid(`${JSON.stringify(ifName)} cannot be an interface name`);
  const bad = args.find(([key, value]) => !/^[A-Za-z0-9_]+$/.test(key) || /[;\0]/.test(value));
  if (bad !== undefined) throw invalid(`${JSON.stringify(bad.join('='))} cannot be passed in CNI_ARGS`);
}

export const formatArgs = (args: [string, string][]): string => args.map(([key, value]) => `${key}=${value}`).join(';');

const invalid = (reason: string): PodwrightError => new PodwrightError('invalid_argument', `CNI attachment: ${reason}`);
