import { PodwrightError } from '@podwright/base';
import type { ContainerAdjustment } from '@podwright/nri';
import type { OciSpec } from '@podwright/oci';
import { readMounts } from '@podwright/system';
import { changedResources } from '../nri/changed-resources.ts';
import type { NriHooks } from '../nri/nri-hooks.ts';
import type { ContainerRecord, ContainerResources } from '../records/container-record.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { ContainerSpecs } from './container-specs.ts';
import { mergeResources } from './container-update.ts';
import { checkPropagation } from './resolve-mounts.ts';

type NewContainer = { record: ContainerRecord; sandbox: SandboxRecord };

/**
 * Applies the NRI plugins' adjustments to a new container's OCI spec and record. Throws `failed_precondition` if a setting is not supported
 * by this host; plugin errors are passed through.
 */
export async function adjustContainer(
  { nri, specs }: { nri: NriHooks; specs: ContainerSpecs },
  { record, sandbox }: NewContainer,
  spec: OciSpec,
): Promise<{ record: ContainerRecord; spec: OciSpec }> {
  const adjust = await nri.containerCreating(record, spec);
  if (adjust === undefined) return { record, spec };
  const unsupported = specs.unsupported(adjust, sandbox);
  if (unsupported.length > 0) {
    const problem = `adjust container ${record.config.name}: this host does not support ${unsupported.join(', ')}`;
    throw new PodwrightError('failed_precondition', problem);
  }
  const cgroupsPath = adjust.linux?.cgroupsPath ?? '';
  const adjusted = {
    ...record,
    ...(cgroupsPath === '' ? {} : { cgroupsPath }),
    config: { ...record.config, resources: adjustResources(record.config.resources, adjust) },
  };
  checkMounts(adjust);
  const { adjustSpec } = await import('../nri/messages.ts');
  const rdtClass = adjust.linux?.resources?.rdtClass?.value ?? '';
  // as in containerd, an RDT class is the name of a resctrl group; plugins can override it with `rdt`
  const intelRdt = rdtClass === '' ? {} : { intelRdt: { closID: rdtClass } };
  const withDevices = await specs.withCdiDevices(
    adjustSpec({ ...spec, linux: { ...spec.linux, ...intelRdt } }, adjust),
    adjust.cdiDevices.map(({ name }) => name),
  );
  return { record: adjusted, spec: specs.withLimits(withDevices, adjusted) };
}

/** Throws `failed_precondition` if an added mount's source lacks the propagation requested by the plugin, as in containerd. */
function checkMounts({ mounts }: ContainerAdjustment): void {
  for (const { source, options } of mounts) {
    const propagation = options.includes('rshared')
      ? 'bidirectional'
      : options.includes('rslave')
        ? 'host-to-container'
        : undefined;
    if (propagation !== undefined) checkPropagation({ hostPath: source, propagation }, source, readMounts());
  }
}

/** Merges the plugins' resources. As in containerd, a memory limit also sets the memory+swap limit unless a plugin sets that explicitly. */
function adjustResources(current: ContainerResources, { linux }: ContainerAdjustment): ContainerResources {
  if (linux?.resources === undefined) return current;
  const change = changedResources(linux.resources);
  const merged = mergeResources(current, change);
  const memorySwapLimitBytes =
    change.memoryLimitBytes === 0 ? merged.memorySwapLimitBytes : change.memorySwapLimitBytes;
  const oomScoreAdj = linux.oomScoreAdj === undefined ? current.oomScoreAdj : Number(linux.oomScoreAdj.value);
  return { ...merged, memorySwapLimitBytes, oomScoreAdj };
}
