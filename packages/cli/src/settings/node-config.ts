import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { ConfigFlags } from './config-flags.ts';
import type { ContainerRuntime } from './container-runtime.ts';
import type { FileSettings } from './file-schema.ts';
import { DEFAULT_FILE, DEFAULT_POD_LOGS, type NodePaths, nodePaths } from './node-paths.ts';
import { parseConfig } from './parse-config.ts';
import { readText } from './read-text.ts';

/** A node's settings, complete. All paths are absolute. */
export type NodeConfig = FileSettings &
  NodePaths & {
    manifests: string;
    node_name: string;
    container_logs: string;
    container_runtime: ContainerRuntime;
    /** The file that the settings are from, or where it would be: what they name relatively is relative to it. */
    file: string;
  };

/** What every command gets: where its node is, all settings, and the flags that select the same node for another process of ours. */
export type CommandContext = { config: NodePaths; settings: () => Promise<NodeConfig>; configArgs: string[] };

/** Where log collectors look for links to containers' logs. A node with logs elsewhere has none there unless told. */
const HOST_CONTAINER_LOGS = '/var/log/containers';

/**
 * Reads the configuration file (`--config`, else the default place if it is there) and lays the flags over it.
 * Errors (`invalid_argument`) name the file, the line, the key and the value, and say what would be right.
 */
export function loadConfig(flags: ConfigFlags): NodeConfig {
  const file = givenFile(flags);
  return configOfText(file === undefined ? '' : readText(file), { file, flags });
}

/** The file that the settings are in, if there is one: `--config`, or the default place. */
export function givenFile({ config }: ConfigFlags): string | undefined {
  return config !== undefined ? resolve(config) : existsSync(DEFAULT_FILE) ? DEFAULT_FILE : undefined;
}

/** The settings of a text under the flags. */
export function configOfText(text: string, given: { file: string | undefined; flags: ConfigFlags }): NodeConfig {
  const { file = DEFAULT_FILE, flags } = given;
  const config = parseConfig(text, file, flags);
  return {
    ...config,
    manifests: config.manifests ?? join(config.root, 'manifests'),
    node_name: config.node_name ?? hostname().toLowerCase(),
    container_logs: config.container_logs ?? (config.pod_logs === DEFAULT_POD_LOGS ? HOST_CONTAINER_LOGS : ''),
    ...nodePaths(config),
    file,
  };
}
