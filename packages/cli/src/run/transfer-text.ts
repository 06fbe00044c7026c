import type { ImageTransfer } from '@podwright/node-api';
import { formatBytes } from '../output/units.ts';

/** The progress of an image transfer, as reported by the node's API or over the CRI. */
export type Transfer = Omit<ImageTransfer, 'doneBytes' | 'totalBytes'> & {
  doneBytes: number | bigint;
  totalBytes: number | bigint;
};

/** Describes a transfer as `name downloading 12 MiB of 45 MiB (3 of 5 layers)`. */
export function describeTransfer(transfer: Transfer): string {
  const { reference, phase, doneBytes, totalBytes, layersDone, layersTotal, error } = transfer;
  if (phase === 'failed') return `${reference} failed: ${error}`;
  const bytes = totalBytes > 0 ? ` ${formatBytes(Number(doneBytes))} of ${formatBytes(Number(totalBytes))}` : '';
  return `${reference} ${phase}${bytes}${layersTotal > 0 ? ` (${layersDone} of ${layersTotal} layers)` : ''}`;
}
