import type { Registry } from '@podwright/base';
import type { Heap } from './heap.ts';

/** Components shared by the kubelet and the container runtime in a daemon's process. */
export type SharedParts = Pick<Heap, 'countBuffer'> & { metrics: Registry };
