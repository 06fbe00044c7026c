import type { SELinuxOption } from '@podwright/cri';
import { checkSelinuxOptions, type SelinuxOptions } from '../../oci/selinux.ts';

/** The parts of a label that are asked for; none if all of them are empty. */
export function selinuxOf(options: SELinuxOption | undefined): { selinux?: SelinuxOptions } {
  if (options === undefined) return {};
  const { user, role, type, level } = options;
  const selinux = { user, role, type, level };
  checkSelinuxOptions(selinux);
  return Object.values(selinux).every((part) => part === '') ? {} : { selinux };
}
