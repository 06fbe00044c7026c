import { PodwrightError, wrapError } from '@podwright/base';
import { isJsonObject, type JsonObject, parseJsonObject } from './json.ts';
import { MAX_PLUGINS } from './limits.ts';
import { isNetworkName, isPluginType } from './names.ts';
import { CURRENT_VERSION, isVersion, OLDEST_VERSION, selectVersion } from './versions.ts';

/** One plugin of a network: its configuration as written, and the fields that the protocol uses. */
export type PluginConfig = {
  type: string;
  /** The capabilities declared by the configuration. */
  capabilities: string[];
  /** The plugin type in `ipam.type`, if the plugin delegates address management. */
  ipamType?: string;
  config: JsonObject;
};

/** A network configuration (spec section 1), as plain data that can be represented in JSON. */
export type NetworkList = {
  name: string;
  /** The CNI version to use: the newest supported one in `cniVersions`. */
  cniVersion: string;
  cniVersions: string[];
  disableCheck: boolean;
  disableGC: boolean;
  loadOnlyInlinedPlugins: boolean;
  plugins: PluginConfig[];
};

/** A network without plugins. Running DEL with it only removes a damaged record. */
export const FORGET: NetworkList = {
  name: 'none',
  cniVersion: '1.0.0',
  cniVersions: ['1.0.0'],
  disableCheck: true,
  disableGC: true,
  loadOnlyInlinedPlugins: true,
  plugins: [],
};

/** Parses a `.conflist`. `plugins` may be missing, because the plugins may be in a subdirectory. Throws `invalid_argument`. */
export function parseNetworkList(text: string): NetworkList {
  const raw = parseJsonObject(text, 'the network list');
  const loadOnlyInlinedPlugins = readFlag(raw, 'loadOnlyInlinedPlugins');
  if (raw.plugins === undefined && raw.type !== undefined)
    throw invalid("there is 'type' but no 'plugins': a single plugin belongs in a .conf file");
  if (raw.plugins === undefined && loadOnlyInlinedPlugins)
    throw invalid("'loadOnlyInlinedPlugins' is true but there are no 'plugins'");
  return {
    ...readVersions(raw),
    name: readName(raw),
    disableCheck: readFlag(raw, 'disableCheck'),
    disableGC: readFlag(raw, 'disableGC'),
    loadOnlyInlinedPlugins,
    plugins: raw.plugins === undefined ? [] : readPlugins(raw.plugins),
  };
}

/**
 * Parses a `.conf` or `.json` file, which configures a single plugin and contains the network's name, as a list with one plugin. Throws
 * `invalid_argument`.
 */
export function parseSinglePlugin(text: string): NetworkList {
  const raw = parseJsonObject(text, 'the network configuration');
  if (raw.type === undefined && raw.plugins !== undefined)
    throw invalid("there are 'plugins' but no 'type': a network list belongs in a .conflist file");
  const plugin = readPlugin(raw);
  const flags = { disableCheck: false, disableGC: false, loadOnlyInlinedPlugins: true };
  return { ...readVersions(raw), name: readName(raw), ...flags, plugins: [plugin] };
}

/** Parses the configuration of one plugin, from a list or from the network's subdirectory. Throws `invalid_argument`. */
export function parsePlugin(text: string): PluginConfig {
  return readPlugin(parseJsonObject(text, 'the plugin configuration'));
}

function readPlugins(value: unknown): PluginConfig[] {
  if (!Array.isArray(value)) throw invalid("'plugins' is not a list");
  if (value.length === 0) throw invalid("'plugins' is empty");
  if (value.length > MAX_PLUGINS) throw invalid(`'plugins' has more than ${MAX_PLUGINS} entries`);
  return value.map((entry: unknown, index) => {
    try {
      if (!isJsonObject(entry)) throw invalid('it is not an object');
      return readPlugin(entry);
    } catch (error) {
      throw wrapError(`plugins[${index}]`, error);
    }
  });
}

function readPlugin(raw: JsonObject): PluginConfig {
  const { type, capabilities, ipam } = raw;
  if (type === undefined || type === '') throw invalid("'type' is missing");
  if (typeof type !== 'string' || !isPluginType(type)) throw invalid(`'type' is not a file name: ${show(type)}`);
  if (capabilities !== undefined && !isJsonObject(capabilities)) throw invalid("'capabilities' is not an object");
  const taken = Object.entries(capabilities ?? {}).filter(([, supported]) => supported === true);
  const ipamType = isJsonObject(ipam) && typeof ipam.type === 'string' && ipam.type !== '' ? ipam.type : undefined;
  if (ipamType !== undefined && !isPluginType(ipamType)) throw invalid(`'ipam.type' is not a file name: ${ipamType}`);
  return { type, capabilities: taken.map(([name]) => name), ipamType, config: raw };
}

function readName(raw: JsonObject): string {
  if (raw.name === undefined || raw.name === '') throw invalid("'name' is missing");
  if (typeof raw.name !== 'string' || !isNetworkName(raw.name))
    throw invalid(`'name' may have letters, digits, '_', '.' and '-' only: ${show(raw.name)}`);
  return raw.name;
}

function readVersions(raw: JsonObject): { cniVersion: string; cniVersions: string[] } {
  const several = raw.cniVersions ?? [];
  if (!Array.isArray(several)) throw invalid("'cniVersions' is not a list");
  const candidates: unknown[] = [...several, ...(raw.cniVersion === undefined ? [] : [raw.cniVersion])];
  const versions = candidates.filter((version) => version !== '').map(readVersion);
  if (versions.length === 0) versions.push(OLDEST_VERSION);
  const cniVersion = selectVersion(versions);
  if (cniVersion === undefined)
    throw invalid(`'cniVersion' ${versions.join(', ')} is newer than ${CURRENT_VERSION}, the newest supported version`);
  return { cniVersion, cniVersions: [...new Set(versions)] };
}

function readVersion(version: unknown): string {
  if (typeof version !== 'string' || !isVersion(version))
    throw invalid(`'cniVersion' is not a version: ${show(version)}`);
  return version;
}

/** Reads a flag, which is a boolean in 1.x and was a string ("true" or "false") before. */
function readFlag(raw: JsonObject, key: string): boolean {
  const value = raw[key];
  if (value === undefined || value === false) return false;
  if (value === true) return true;
  if (typeof value === 'string' && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  throw invalid(`'${key}' is neither true nor false: ${show(value)}`);
}

const show = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 200);
const invalid = (message: string): PodwrightError => new PodwrightError('invalid_argument', message);
