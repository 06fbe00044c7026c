import type { KubeletOptions } from '@podwright/kubelet';
import type { System } from '@podwright/system';

/** Returns the system calls that a node's kubelet uses to mount and unmount tmpfs volumes. */
export const tmpfsCalls = (system: System): KubeletOptions['tmpfs'] => ({
  mount: (target, data) => system.mount(target, { source: 'tmpfs', type: 'tmpfs', flags: 0, data }),
  detach: (target) => system.unmount(target, { detach: true }),
});
