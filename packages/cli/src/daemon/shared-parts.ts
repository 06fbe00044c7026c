import type { Registry } from '@podwright/base';
import type { Heap } from './heap.ts';

/** Parts of a daemon's process that its kubelet and its runtime share. */
export type SharedParts = Pick<Heap, 'countBuffer'> & { metrics: Registry };
