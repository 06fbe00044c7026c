import { PodwrightError, wrapError } from '@podwright/base';
import { quantityValue } from '@podwright/kube-api';
import * as z from 'zod';
import type { SystemReserved } from '../options/system-reserved.ts';
import { field, sets } from './field.ts';
import { bool, type FieldType, path } from './field-types.ts';
import { kubeletKey, tomlPath } from './toml-key.ts';

/** Resources reserved for the host. The kubelet chooses the amounts that are unset. */
type Reserved = { memory?: string; pid?: number };

const reservedSchema = z.strictObject({ memory: z.string().min(1).optional(), pid: z.int().min(0).optional() });

/**
 * The type of the row `ownSystemReserved`, which can only be set in Podwright's own configuration file: a table with amounts of memory and
 * PIDs.
 */
const reserved: FieldType<Reserved> = {
  name: 'amounts',
  decode: (value) => value as Reserved,
  fromFlag: (flag) => flag,
  isZero: () => false,
};

/** Keys of Podwright's configuration file without an equivalent field or flag in upstream's kubelet, or with a different meaning. */
export const KEY_ONLY_FIELDS = {
  netRawDefault: field(bool, undefined, {
    about: 'give containers the capability NET_RAW unless they drop it',
    key: kubeletKey('net_raw_default', z.boolean()),
    effect: sets('netRawDefault', (isGiven, before) => isGiven ?? before),
  }),
  devicePluginDir: field(path, '', {
    about: 'directory of the sockets of device plugins',
    key: kubeletKey('device_plugin_dir', tomlPath),
    effect: sets('devicePluginDir', (directory, before) => directory || before),
  }),
  ownSystemReserved: field(reserved, undefined, {
    about: 'resources reserved for the host: memory, pid',
    key: kubeletKey('system_reserved', reservedSchema.prefault({})),
    effect: sets('systemReserved', withReserved),
  }),
};

function withReserved(given: Reserved | undefined, before: SystemReserved): SystemReserved {
  const { memory, pid } = given ?? {};
  return {
    ...before,
    memoryBytes: memory === undefined ? before.memoryBytes : reservedMemory(memory),
    pids: pid ?? before.pids,
  };
}

/** Parses a memory quantity. Throws `invalid_argument` if it is invalid or negative. */
function reservedMemory(quantity: string): number {
  const what = 'read kubelet.system_reserved.memory';
  try {
    const bytes = Number(quantityValue(quantity));
    if (bytes >= 0) return bytes;
  } catch (error) {
    throw wrapError(what, error);
  }
  throw new PodwrightError('invalid_argument', `${what}: "${quantity}" is negative`);
}
