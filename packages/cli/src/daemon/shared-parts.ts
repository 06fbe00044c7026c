import type { Registry } from '@podwright/base';
import type { Heap } from './heap.ts';

/** Components that the kubelet and the container runtime in a daemon's process share. */
export type SharedParts = Pick<Heap, 'countBuffer'> & { metrics: Registry };
