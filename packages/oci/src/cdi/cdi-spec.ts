import { PodwrightError } from '@podwright/base';
import { parse } from 'yaml';
import * as z from 'zod';
import { isDeviceName, parseKind } from './device-name.ts';

/** Supported versions of the CDI specification, oldest first. Earlier versions have different fields. */
const VERSIONS = ['0.3.0', '0.4.0', '0.5.0', '0.6.0', '0.7.0', '0.8.0', '1.0.0', '1.1.0'];

/** Maximum size of a specification file. Larger files are rejected. */
export const MAX_SPEC_BYTES = 4 << 20;
/** Maximum number of YAML aliases, which can expand a small file without bound. Real-world specifications hardly use any. */
const MAX_ALIASES = 100;
const MAX_ENTRIES = 10_000;

const path = z.string().min(1).max(4096);
const id = z.int().min(0).max(0xffffffff);
const environment = z
  .array(z.string().regex(/^[^=\0]+=/, 'is not NAME=value'))
  .max(MAX_ENTRIES)
  .optional();
const annotations = z.record(z.string(), z.string()).optional();

const deviceNode = z.strictObject({
  path,
  hostPath: path.optional(),
  type: z.enum(['', 'b', 'c', 'u', 'p']).optional(),
  major: z.int().min(0).max(0xffffffff).optional(),
  minor: z.int().min(0).max(0xffffffff).optional(),
  fileMode: z.int().min(0).max(0o7777).optional(),
  permissions: z
    .string()
    .regex(/^([rwm]{0,3}|none)$/, 'is not of r, w, m')
    .optional(),
  uid: id.optional(),
  gid: id.optional(),
});

const mount = z.strictObject({
  hostPath: path,
  containerPath: path,
  options: z.array(z.string()).max(100).optional(),
  type: z.string().optional(),
});

const hook = z.strictObject({
  hookName: z.enum(['prestart', 'createRuntime', 'createContainer', 'startContainer', 'poststart', 'poststop']),
  path,
  args: z.array(z.string()).max(MAX_ENTRIES).optional(),
  env: environment,
  timeout: z.int().min(0).optional(),
});

const intelRdt = z.strictObject({
  closID: z
    .string()
    .max(4095)
    .regex(/^(\/|(?!\.{1,2}$)[^/\n]*)$/, 'is not a file name')
    .optional(),
  l3CacheSchema: z.string().optional(),
  memBwSchema: z.string().optional(),
  schemata: z.array(z.string()).max(100).optional(),
  enableMonitoring: z.boolean().optional(),
});

const containerEdits = z.strictObject({
  env: environment,
  deviceNodes: z.array(deviceNode).max(MAX_ENTRIES).optional(),
  hooks: z.array(hook).max(1000).optional(),
  mounts: z.array(mount).max(MAX_ENTRIES).optional(),
  intelRdt: intelRdt.optional(),
  additionalGids: z.array(id).max(1000).optional(),
});

const device = z.strictObject({
  name: z.string().refine(isDeviceName, 'is not a device name'),
  annotations,
  containerEdits,
});

const cdiSpec = z.strictObject({
  cdiVersion: z.string().refine((text) => VERSIONS.includes(text), `is not one of ${VERSIONS.join(', ')}`),
  kind: z.string().refine((text) => parseKind(text) !== undefined, 'is not vendor/class'),
  annotations,
  devices: z.array(device).min(1, 'is empty').max(MAX_ENTRIES),
  containerEdits: containerEdits.optional(),
});

/** Changes to a container's OCI specification for a device (CDI, SPEC.md: containerEdits). */
export type CdiEdits = z.infer<typeof containerEdits>;
export type CdiDeviceNode = z.infer<typeof deviceNode>;
/** A CDI specification: devices of one kind, and the edits common to all of them. */
export type CdiSpec = z.infer<typeof cdiSpec>;

/**
 * Decodes a CDI specification in JSON or YAML. Unknown fields, and fields newer than the declared version, are rejected: a device with only
 * part of its edits is worse than no device. Throws `invalid_argument`, naming the file and the field.
 */
export function decodeCdiSpec(text: string, file: string): CdiSpec {
  const refuse = (reason: string, cause?: unknown): never => {
    throw new PodwrightError('invalid_argument', `read CDI specification ${file}: ${reason}`, { cause });
  };
  const result = cdiSpec.safeParse(parseText(text, refuse));
  if (!result.success) {
    const [issue] = result.error.issues;
    return refuse(`${issue?.path.join('.') || 'it'}: ${issue?.message}`, result.error);
  }
  const spec = result.data;
  const minimum = minimumVersion(spec);
  if (VERSIONS.indexOf(minimum) > VERSIONS.indexOf(spec.cdiVersion.replace(/^v/, ''))) {
    return refuse(`it uses fields of version ${minimum}, but declares version ${spec.cdiVersion}`);
  }
  const names = spec.devices.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? spec : refuse(`device ${twice} is defined twice`);
}

/** Parses YAML, of which JSON is a subset. */
function parseText(text: string, refuse: (reason: string, cause: unknown) => never): unknown {
  try {
    return parse(text, { maxAliasCount: MAX_ALIASES, prettyErrors: false });
  } catch (error) {
    return refuse('it is neither JSON nor YAML', error);
  }
}

/** The CDI versions that added fields, newest first, each with a function that returns whether a specification uses the added fields. */
const ADDITIONS: { version: string; used: (spec: CdiSpec, edits: CdiEdits[]) => boolean }[] = [
  {
    version: '1.1.0',
    used: (_, edits) => edits.some(({ intelRdt }) => intelRdt?.schemata !== undefined || intelRdt?.enableMonitoring),
  },
  {
    version: '0.7.0',
    used: (_, edits) => edits.some(({ intelRdt, additionalGids = [] }) => intelRdt || additionalGids.length > 0),
  },
  {
    version: '0.6.0',
    used: (spec) =>
      [spec, ...spec.devices].some(({ annotations = {} }) => Object.keys(annotations).length > 0) ||
      (spec.kind.split('/')[1]?.includes('.') ?? false),
  },
  {
    version: '0.5.0',
    used: (spec, edits) =>
      spec.devices.some(({ name }) => /^\d/.test(name)) ||
      edits.some(({ deviceNodes = [] }) => deviceNodes.some(({ hostPath }) => hostPath !== undefined)),
  },
  {
    version: '0.4.0',
    used: (_, edits) => edits.some(({ mounts = [] }) => mounts.some(({ type = '' }) => type !== '')),
  },
];

/** Returns the oldest CDI version that defines every field used by the specification. */
function minimumVersion(spec: CdiSpec): string {
  const edits = [spec.containerEdits ?? {}, ...spec.devices.map(({ containerEdits }) => containerEdits)];
  return ADDITIONS.find(({ used }) => used(spec, edits))?.version ?? VERSIONS[0]!;
}
