import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { apiServerPaths } from './api-server-paths.ts';
import type { ConfigFlags } from './config-flags.ts';
import type { ContainerRuntime } from './container-runtime.ts';
import type { FileSettings } from './file-schema.ts';
import { DEFAULT_FILE, DEFAULT_POD_LOGS, type NodePaths, nodePaths } from './node-paths.ts';
import { parseConfig } from './parse-config.ts';
import { readText } from './read-text.ts';

/** A node's complete settings. All paths are absolute. */
export type NodeConfig = Omit<FileSettings, 'api'> &
  NodePaths & {
    /** `enabled`: whether a standalone node has a Kubernetes API. Default: true if the node's objects are already stored in one. */
    api: FileSettings['api'] & { enabled: boolean };
    manifests: string;
    node_name: string;
    container_logs: string;
    container_runtime: ContainerRuntime;
    /** The configuration file, or the default path if no file exists. Relative paths of plugin packages are resolved against it. */
    file: string;
  };

/** Input for every command: the node's paths and settings, and the flags that make another podwright process select the same node. */
export type CommandContext = { config: NodePaths; settings: () => Promise<NodeConfig>; configArgs: string[] };

/**
 * The directory where log collectors look for symlinks to container logs. By default, it is used only by nodes that store their logs in
 * `/var/log/pods`.
 */
const HOST_CONTAINER_LOGS = '/var/log/containers';

/**
 * Reads the configuration file given by `--config`, or the default one if it exists, and applies the flags. Throws `invalid_argument`
 * naming the file, line, key and value of each problem, and what would be valid.
 */
export function loadConfig(flags: ConfigFlags): NodeConfig {
  const file = givenFile(flags);
  return configOfText(file === undefined ? '' : readText(file), { file, flags });
}

/** Returns the path given by `--config`, or the default path if that file exists. */
export function givenFile({ config }: ConfigFlags): string | undefined {
  return config !== undefined ? resolve(config) : existsSync(DEFAULT_FILE) ? DEFAULT_FILE : undefined;
}

/** Parses the text of a configuration file and applies the flags. */
export function configOfText(text: string, given: { file: string | undefined; flags: ConfigFlags }): NodeConfig {
  const { file = DEFAULT_FILE, flags } = given;
  const config = parseConfig(text, file, flags);
  const enabled = config.api.enabled ?? existsSync(apiServerPaths(config).ofNode);
  return {
    ...config,
    api: { ...config.api, enabled },
    manifests: config.manifests ?? join(config.root, 'manifests'),
    node_name: config.node_name ?? hostname().toLowerCase(),
    container_logs: config.container_logs ?? (config.pod_logs === DEFAULT_POD_LOGS ? HOST_CONTAINER_LOGS : ''),
    ...nodePaths(config),
    file,
  };
}
