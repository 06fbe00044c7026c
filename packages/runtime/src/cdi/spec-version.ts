import type { CdiEdits, CdiSpec } from './cdi-spec.ts';

/** Versions of the specification that are understood, the oldest first. Earlier ones have other fields. */
export const versions = ['0.3.0', '0.4.0', '0.5.0', '0.6.0', '0.7.0', '0.8.0', '1.0.0', '1.1.0'];

/** What a version added, the newest first: whether a specification makes use of it. */
const additions: { version: string; used: (spec: CdiSpec, edits: CdiEdits[]) => boolean }[] = [
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

/** The oldest version that has everything that the specification uses. */
export function minimumVersion(spec: CdiSpec): string {
  const edits = [spec.containerEdits ?? {}, ...spec.devices.map(({ containerEdits }) => containerEdits)];
  return additions.find(({ used }) => used(spec, edits))?.version ?? versions[0]!;
}
