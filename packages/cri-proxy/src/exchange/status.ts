import { errorCode, errorMessage, statusNumber } from '@podwright/base';
import { decodeStatusMessage, errorCodeOfReset, type HeaderField, type RawEnd } from '@podwright/grpc';
import type { SeenEnd } from './observe.ts';

/** Returns the final gRPC status of a call. */
export function statusOfEnd({ end }: SeenEnd): { code: number; message: string } {
  if (end.kind !== 'error') return statusOf(end);
  return { code: statusNumber(errorCode(end.error)), message: errorMessage(end.error) };
}

/** Returns the gRPC status for the end of a call, mapped as in grpc-go. */
export function statusOf(end: RawEnd): { code: number; message: string } {
  if (end.kind === 'trailers') {
    const value = (name: string) => end.fields.find(([other]: HeaderField) => other === name)?.[1];
    return { code: Number(value('grpc-status') ?? 2), message: decodeStatusMessage(value('grpc-message') ?? '') };
  }
  if (end.kind === 'lost') return { code: 14, message: end.error.message };
  const message = end.code === 8 ? 'the call was cancelled' : `the call was reset, code ${end.code}`;
  return { code: statusNumber(errorCodeOfReset(end.code)), message };
}
