import { delimiter } from 'node:path';
import { type Attachment, formatArgs } from './attachment.ts';
import type { JsonObject } from './json.ts';
import type { NetworkList, PluginConfig } from './network-list.ts';
import type { CniCommand } from './plugin-error.ts';

/** Fields added to a plugin's configuration for one request. */
export type RequestExtras = {
  prevResult?: JsonObject;
  capabilityArgs?: Record<string, unknown>;
  /** For GC, the attachments that are still in use. */
  validAttachments?: { containerID: string; ifname: string }[];
};

/** Builds the configuration that a plugin receives on stdin (spec section 3, "Deriving request configuration"). */
export function buildRequest(list: NetworkList, plugin: PluginConfig, extras: RequestExtras = {}): JsonObject {
  const written = Object.entries(plugin.config).filter(([key]) => !isReserved(key));
  const request: JsonObject = Object.fromEntries(written);
  request.cniVersion = list.cniVersion;
  request.name = list.name;
  const given = plugin.capabilities.filter((capability) => extras.capabilityArgs?.[capability] !== undefined);
  if (given.length > 0)
    request.runtimeConfig = Object.fromEntries(given.map((name) => [name, extras.capabilityArgs?.[name]]));
  if (extras.prevResult !== undefined) request.prevResult = extras.prevResult;
  if (extras.validAttachments !== undefined) {
    request['cni.dev/valid-attachments'] = extras.validAttachments;
    request['cni.dev/attachments'] = extras.validAttachments; // the name that libcni's plugins read first
  }
  return request;
}

const isReserved = (key: string): boolean =>
  key === 'capabilities' || key === 'prevResult' || key.startsWith('cni.dev/');

/** Builds a plugin's environment (spec section 2, "Parameters"). */
export function buildEnvironment(
  command: CniCommand,
  directories: string[],
  attachment?: Attachment,
): Record<string, string> {
  const environment: Record<string, string> = { CNI_COMMAND: command, CNI_PATH: directories.join(delimiter) };
  if (attachment === undefined) return environment;
  return {
    ...environment,
    CNI_CONTAINERID: attachment.containerId,
    CNI_NETNS: attachment.netnsPath,
    CNI_IFNAME: attachment.ifName,
    CNI_ARGS: formatArgs(attachment.args),
  };
}
